import FieldworkGeometry
import FieldworkREST
import FieldworkTiles
import Foundation
import TestSupport
import Testing

@testable import FieldworkServer

@Suite("Parts of basemaps", .fewAtATime)
struct TileExportTests {
    private static let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 1, 2, 3]

    private static func vectorTile() throws -> [UInt8] {
        var layer = VectorLayer(name: "roads")
        layer.add(id: 1, kind: .point, commands: [9, 50, 34])
        var tile: [UInt8] = []
        layer.append(to: &tile)
        return try GzipStream.compressed(tile)
    }

    /// A server with vector tiles and images of the levels 0 to 3 everywhere, and of one tile of level 20.
    private static func serve(_ test: (TestServer) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "fieldwork-parts-\(UUID().uuidString)")
        let basemaps = BasemapFolder(data: folder)
        try FileManager.default.createDirectory(at: basemaps.url, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let plane = PlaneBox(
            xMin: -WebMercator.halfSide, yMin: -WebMercator.halfSide, xMax: WebMercator.halfSide,
            yMax: WebMercator.halfSide)
        for (name, format) in [("City", TileSetDescription.Format.vector), ("Air", .png)] {
            let writer = try MBTilesWriter(path: basemaps.file(name).path, format: format)
            for level in 0...3 {
                try TileCoverage(box: plane).forEach(level: level) { tile in
                    try writer.add(format == .vector ? vectorTile() : png, at: tile)
                    return true
                }
            }
            let deep = try #require(TileAddress(level: 20, column: 5, row: 6))
            try writer.add(format == .vector ? vectorTile() : png, at: deep)
            try writer.finish(
                TileSetDescription(
                    name: name, attribution: "© \(name)", format: format, levels: 0...20,
                    vectorLayers: [["id": "roads"]]))
        }
        var configuration = ServerConfiguration(port: 0, definitionLifetime: .zero)
        configuration.dataFolder = folder
        try await TemporaryStore.serve(configuration: configuration) { server, _ in try await test(server) }
    }

    /// Waits for the end of a job.
    private static func finished(_ job: String, _ server: TestServer) async throws -> JSONValue {
        for _ in 0..<600 {
            let state = try await server.client.get(job, ["f": "json"]).json
            guard ["esriJobWaiting", "esriJobExecuting", "esriJobSubmitted"].contains(state["jobStatus"]) else {
                return state
            }
            try await Task.sleep(for: .milliseconds(20))
        }
        Issue.record("The job did not come to an end.")
        return [:]
    }

    private static func post(
        _ path: String, _ parameters: [String: String], _ server: TestServer
    ) async throws -> TestClient.Answer {
        let form = (parameters.sorted { $0.key < $1.key }.map { ($0.key, $0.value) } + [("f", "json")])
            .map { "\(TestClient.escape($0.0))=\(TestClient.escape($0.1))" }
        return try await server.client.send(
            "POST", path, headers: [("Content-Type", "application/x-www-form-urlencoded")],
            body: Array(form.joined(separator: "&").utf8))
    }

    private static func begin(
        _ path: String, _ parameters: [String: String], _ server: TestServer
    ) async throws -> String {
        let answer = try await post(path, parameters, server).json
        return try #require(answer["jobId"]?.stringValue, "\(answer)")
    }

    @Test(
        "A part is made by a job, listed and fetched as a package, in pieces as well",
        arguments: [("City/VectorTileServer", "vtpk", 5), ("Air/MapServer", "tpkx", 5)])
    func export(service: String, ending: String, count: Int) async throws {
        try await Self.serve { server in
            let root = try await server.client.get(service, ["f": "json"]).json
            #expect(root["exportTilesAllowed"] == true)
            #expect(root["maxExportTilesCount"] == JSONValue(Limits.exportedTiles))
            let job = try await Self.begin(
                "\(service)/exportTiles",
                ["exportExtent": "-20000000,10,-10,20000000", "levels": "0-2", "tilePackage": "true"], server)
            let state = try await Self.finished("\(service)/exportTiles/jobs/\(job)", server)
            #expect(state["jobStatus"] == "esriJobSucceeded", "\(state)")
            #expect(state["results"]?["out_service_url"]?["paramUrl"] == "results/out_service_url")
            let result = try await server.client.get(
                "\(service)/jobs/\(job)/results/out_service_url", ["f": "json"]
            ).json
            let folder = try #require(result["value"]?.stringValue)
            #expect(folder.hasSuffix("\(service)/jobs/\(job)/files"), "\(folder)")
            let files = try await server.client.get("\(service)/jobs/\(job)/files", ["f": "json"]).json
            let file = try #require(files["files"]?.arrayValue?.first)
            #expect(file["name"] == .string("\(service.prefix { $0 != "/" }).\(ending)"))
            let name = try #require(file["url"]?.stringValue?.split(separator: "/").last)
            let whole = try await server.client.get("\(service)/exportfiles/\(name)")
            #expect(whole.header("Content-Type") == "application/zip")
            let part = try await server.client.get(
                "\(service)/exportfiles/\(name)", headers: [("Range", "bytes=100-199")])
            #expect(part.status == 206 && part.body == Array(whole.body[100..<200]))
            let target = FileManager.default.temporaryDirectory.appending(path: "part-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: target) }
            try Data(whole.body).write(to: target)
            let package = try TilePackages.open(target.path)
            #expect(package.description.levels == 0...2)
            #expect(try package.has(#require(TileAddress(level: 2, column: 1, row: 1))))
            #expect(try !package.has(#require(TileAddress(level: 2, column: 3, row: 1))))
            #expect(try !package.has(#require(TileAddress(level: 3, column: 0, row: 0))))
        }
    }

    @Test("The size of a part is told before, within fifteen hundredths of the package's")
    func estimate() async throws {
        try await Self.serve { server in
            let parameters = ["exportExtent": "DEFAULT", "levels": "0-3"]
            let job = try await Self.begin("Air/MapServer/estimateExportTilesSize", parameters, server)
            _ = try await Self.finished("Air/MapServer/jobs/\(job)", server)
            let result = try await server.client.get(
                "Air/MapServer/estimateExportTilesSize/jobs/\(job)/results/out_service_url", ["f": "json"]
            ).json
            #expect(result["value"]?["totalTilesToExport"] == 85)
            let size = try #require(result["value"]?["totalSize"]?.doubleValue)
            let made = try await Self.begin("Air/MapServer/exportTiles", parameters, server)
            _ = try await Self.finished("Air/MapServer/jobs/\(made)", server)
            let files = try await server.client.get("Air/MapServer/jobs/\(made)/files", ["f": "json"]).json
            let url = try #require(files["files"]?.arrayValue?.first?["url"]?.stringValue)
            let name = try #require(url.split(separator: "/").last)
            let bytes = try await server.client.get("Air/MapServer/exportfiles/\(name)").body.count
            #expect(abs(size - Double(bytes)) < 0.15 * Double(bytes), "\(size) \(bytes)")
        }
    }

    @Test("A request that is repeated under its id begins no second job, and another's id is refused")
    func repeated() async throws {
        try await Self.serve { server in
            let id = UUID().uuidString
            let parameters = ["exportExtent": "DEFAULT", "levels": "0", "requestId": id]
            let one = try await Self.begin("City/VectorTileServer/exportTiles", parameters, server)
            let other = try await Self.begin("City/VectorTileServer/exportTiles", parameters, server)
            #expect(one == other)
            let foreign = try await Self.post("Air/MapServer/exportTiles", parameters, server)
            #expect(foreign.errorCode == 400)
            #expect(try await server.client.get("Air/MapServer/jobs/\(one)", ["f": "json"]).errorCode == 404)
        }
    }

    @Test(
        "What can't be made is refused at once, with the reason",
        arguments: [
            (["levels": "0-3-4"], "'levels'"), (["levels": "-1"], "'levels'"), (["levels": "0-99"], "'levels'"),
            (["levels": "0-20"], "more than 100000 tiles"), (["exportExtent": "1,2"], "'exportExtent'"),
            (["exportBy": "scale"], "'exportBy'"),
            (["storageFormatType": "esriMapCacheStorageModeExploded"], "Compact"),
            (["tilePackage": "false"], "'tilePackage'"),
            (["polygon": #"{"x":1,"y":2}"#, "levels": "0"], "'polygon'"),
            (["polygon": #"{"rings":[]}"#, "levels": "0"], "'polygon'"),
        ] as [([String: String], String)])
    func refused(parameters: [String: String], reason: String) async throws {
        try await Self.serve { server in
            let answer = try await Self.post("City/VectorTileServer/exportTiles", parameters, server)
            #expect(answer.errorCode == 400)
            #expect(String(decoding: answer.body, as: UTF8.self).contains(reason))
        }
    }

    @Test("As many tiles as are allowed can be asked for, and one more can't")
    func limit() throws {
        let coverage = TileCoverage(
            box: PlaneBox(
                xMin: -WebMercator.halfSide, yMin: -WebMercator.halfSide, xMax: WebMercator.halfSide,
                yMax: WebMercator.halfSide))
        #expect(coverage.count(levels: 0...7, most: 21_845) == 21_845)
        #expect(coverage.count(levels: 0...7, most: 21_844) == nil)
    }

    @Test("Polygons take what meets them alone, also as the first of a set of features")
    func polygon() async throws {
        try await Self.serve { server in
            let ring = "[[-20000000,0.5],[-10,20000000],[-10,0.5],[-20000000,0.5]]"
            for (service, name, text) in [
                ("City/VectorTileServer", "polygon", "{\"rings\":[\(ring)]}"),
                ("Air/MapServer", "areaOfInterest", "{\"features\":[{\"geometry\":{\"rings\":[\(ring)]}}]}"),
            ] {
                let job = try await Self.begin(
                    "\(service)/estimateExportTilesSize", [name: text, "levels": "2"], server)
                _ = try await Self.finished("\(service)/jobs/\(job)", server)
                let result = try await server.client.get(
                    "\(service)/jobs/\(job)/results/out_service_url", ["f": "json"]
                ).json
                // A triangle in a square of four tiles misses the one in its empty corner.
                #expect(result["value"]?["totalTilesToExport"] == 3, "\(service) \(result)")
            }
        }
    }

    @Test("Features are not taken along as tiles, and a job without a result says so")
    func features() async throws {
        try await Self.serve { server in
            let answer = try await Self.post("Trees/VectorTileServer/exportTiles", [:], server)
            #expect(answer.errorCode == 400)
            #expect(String(decoding: answer.body, as: UTF8.self).contains("createReplica"))
            let job = try await Self.begin(
                "City/VectorTileServer/exportTiles", ["exportExtent": "0,0,1,1", "levels": "15"], server)
            let state = try await Self.finished("City/VectorTileServer/jobs/\(job)", server)
            #expect(state["jobStatus"] == "esriJobFailed")
            let said = (state["messages"]?.arrayValue ?? []).compactMap { $0["description"]?.stringValue }
            #expect(said.contains { $0.contains("no tiles") }, "\(said)")
            #expect(
                try await server.client.get("City/VectorTileServer/jobs/\(job)/files", ["f": "json"]).errorCode == 404)
        }
    }
}
