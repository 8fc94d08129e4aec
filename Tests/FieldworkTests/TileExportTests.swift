import FieldworkGeometry
import FieldworkREST
import FieldworkServer
import Foundation
import TestSupport
import Testing

@testable import Fieldwork

@Suite("Tiles that are taken along", .fewAtATime)
struct TileExportTests {
    private static let there = TileKey(level: 2, row: 3, column: 1)
    /// Holds the tile, and none of its neighbours.
    private static let area = Envelope(
        xMin: -10_000_000, yMin: -19_000_000, xMax: -1_000_000, yMax: -11_000_000, spatialReference: .webMercator)

    private static func files(_ folder: URL) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    }

    /// A folder for what comes to the device.
    private static func device(_ server: BasemapServer) throws -> URL {
        let device = server.folder.appending(path: "device")
        try FileManager.default.createDirectory(at: device, withIntermediateDirectories: true)
        return device
    }

    @Test("Vector tiles come along with what draws them, and are drawn when the server is gone")
    func vectorTiles() async throws {
        try await BasemapServer.with { server in
            let device = try Self.device(server)
            let file = device.appending(path: "city.vtpk")
            let task = ExportVectorTilesTask(
                url: try server.url("City/VectorTileServer/resources/styles/root.json"))
            let parameters = try await task.makeDefaultExportVectorTilesParameters(areaOfInterest: Self.area)
            #expect(task.exportTilesAllowed && task.maxExportTilesCount > 0)
            #expect(parameters.maxLevel == 2)
            let job = task.makeExportVectorTilesJob(parameters: parameters, downloadFileURL: file)
            job.start()
            let cache = try await job.output.vectorTileCache
            #expect(job.progress.completedUnitCount == 100 && !job.serverJobID.isEmpty)
            try await server.running.stop()
            let layer = ArcGISVectorTiledLayer(vectorTileCache: cache)
            try await layer.load()
            #expect(layer.attribution == "© City" && layer.name == "The city")
            #expect(try await layer.tile(at: Self.there) == Data(BasemapServer.vectorTile()))
            let style = try JSONParser.parse(#require(try await layer.style()))
            #expect(style["layers"]?.arrayValue?.contains { $0["source-layer"] == "roads" } == true)
            #expect(try await layer.resource("sprites/sprite.json") != nil)
            #expect(try Self.files(device) == ["city.vtpk"])
        }
    }

    @Test("Images come along, with their size told before")
    func images() async throws {
        try await BasemapServer.with { server in
            let device = try Self.device(server)
            let task = ExportTileCacheTask(url: try server.url("Air/MapServer"))
            let parameters = try await task.makeDefaultExportTileCacheParameters(
                areaOfInterest: Self.area, minScale: 0, maxScale: 0)
            #expect(parameters.levelIDs == [2])
            let size = task.makeEstimateTileCacheSizeJob(parameters: parameters)
            size.start()
            let estimate = try await size.output
            #expect(estimate.tileCount == 1)
            let job = task.makeExportTileCacheJob(
                parameters: parameters, downloadFileURL: device.appending(path: "air.tpkx"))
            job.start()
            let layer = ArcGISTiledLayer(tileCache: try await job.output)
            try await layer.load()
            #expect(try await layer.tile(at: Self.there) == Data(BasemapServer.png))
            let bytes = try Data(contentsOf: device.appending(path: "air.tpkx")).count
            #expect(
                abs(Double(estimate.fileSize) - Double(bytes)) < 0.15 * Double(bytes), "\(estimate.fileSize) \(bytes)")
        }
    }

    @Test("A job that another process began goes on where it was, and asks the service for nothing twice")
    func resumed() async throws {
        try await BasemapServer.with { server in
            let device = try Self.device(server)
            let file = device.appending(path: "city.vtpk")
            let task = ExportVectorTilesTask(url: try server.url("City/VectorTileServer"))
            let parameters = try await task.makeDefaultExportVectorTilesParameters(areaOfInterest: Self.area)
            let first = task.makeExportVectorTilesJob(parameters: parameters, downloadFileURL: file)
            let state = first.toJSON()
            first.start()
            _ = try await first.output
            let bytes = try Data(contentsOf: file)
            // As if the process had been killed before the package had its name.
            let client = TileExportClient(root: task.url, client: HTTPServiceClient())
            let address = task.url.appending(path: "exportTiles/jobs/\(first.serverJobID)")
            let source = try await client.file(of: address)
            try FileManager.default.removeItem(at: file)
            var note = try #require(try JSONParser.parse(state).objectValue)
            note["jobURL"] = .string(address.absoluteString)
            note["fileURL"] = .string(source.absoluteString)
            try Data(JSONValue.object(note).text.utf8).write(to: URL(filePath: "\(file.path).job"))
            try bytes.prefix(1_000).write(to: URL(filePath: "\(file.path).download"))
            let again = try #require(try Job.fromJSON(state) as? ExportVectorTilesJob)
            #expect(again.status == .paused && again.serverJobID == first.serverJobID)
            again.start()
            _ = try await again.output
            #expect(try Data(contentsOf: file) == bytes)
            #expect(try Self.files(device) == ["city.vtpk"])
        }
    }

    @Test("A cancelled job leaves nothing, and one for a place that is taken says so")
    func cancelled() async throws {
        try await BasemapServer.with { server in
            let device = try Self.device(server)
            let file = device.appending(path: "city.vtpk")
            let task = ExportVectorTilesTask(url: try server.url("City/VectorTileServer"))
            let parameters = try await task.makeDefaultExportVectorTilesParameters(areaOfInterest: Self.area)
            let job = task.makeExportVectorTilesJob(parameters: parameters, downloadFileURL: file)
            job.start()
            if await job.cancel() { #expect(try Self.files(device).isEmpty) }
            try Data("mine".utf8).write(to: file)
            let other = task.makeExportVectorTilesJob(parameters: parameters, downloadFileURL: file)
            other.start()
            await #expect(throws: CommonError.self) { _ = try await other.output }
            #expect(try Data(contentsOf: file) == Data("mine".utf8))
        }
    }

    @Test("An area without tiles, and a service that gives none, are refused with the reason")
    func refused() async throws {
        try await BasemapServer.with { server in
            let device = try Self.device(server)
            let task = ExportVectorTilesTask(url: try server.url("City/VectorTileServer"))
            let parameters = try await task.makeDefaultExportVectorTilesParameters(
                areaOfInterest: Envelope(
                    xMin: 11_000_000, yMin: 11_000_000, xMax: 12_000_000, yMax: 12_000_000,
                    spatialReference: .webMercator))
            let job = task.makeExportVectorTilesJob(
                parameters: parameters, downloadFileURL: device.appending(path: "none.vtpk"))
            job.start()
            do {
                _ = try await job.output
                Issue.record("A package without a tile was made.")
            } catch let error as Fieldwork.ServiceError {
                #expect(error.details.contains("no tiles in the area"), "\(error.details)")
            }
            #expect(TileExportAbility(["exportTilesAllowed": false]).isAllowed == false)
            #expect(throws: CommonError.self) {
                try TileExportAbility(["exportTilesAllowed": false]).require(task.url)
            }
        }
    }

    @Test("Levels follow from scales: for images a level is drawn at half the size")
    func levels() {
        let vector = TileExportAbility(["minLOD": 0, "maxLOD": 16, "tileInfo": ["rows": 512]])
        #expect(vector.levels(minScale: 0, maxScale: 0) == Array(0...16))
        #expect(vector.levels(minScale: 0, maxScale: 295_828_763.7957775 / 1_024).last == 10)
        #expect(vector.levels(minScale: 295_828_763.7957775 / 16, maxScale: 0).first == 4)
        #expect(vector.levels(minScale: 2_000, maxScale: 1_000) == [16])
        let images = TileExportAbility(["minLOD": 0, "maxLOD": 18, "tileInfo": ["rows": 256]])
        #expect(images.levels(minScale: 0, maxScale: 591_657_527.591555 / 1_024).last == 10)
    }
}
