import FieldworkGeometry
import FieldworkPortal
import FieldworkREST
import FieldworkStore
import FieldworkTiles
import Foundation
import TestSupport
import Testing

@testable import FieldworkServer

@Suite("Basemaps", .fewAtATime)
struct BasemapTests {
    private static let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 1, 2, 3]

    private static func vectorTile() throws -> [UInt8] {
        var layer = VectorLayer(name: "roads")
        layer.add(id: 1, kind: .point, commands: [9, 50, 34])
        var tile: [UInt8] = []
        layer.append(to: &tile)
        return try GzipStream.compressed(tile)
    }

    /// A server over an empty trees service, with a basemap of each kind.
    /// - Parameter lifetime: how long the server uses what it knows of services.
    private static func serve(
        lifetime: Duration = .zero, _ test: (TestServer, BasemapFolder, GeoPackageStore) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "fieldwork-basemaps-\(UUID().uuidString)")
        let basemaps = BasemapFolder(data: folder)
        try FileManager.default.createDirectory(at: basemaps.url, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let tile = try #require(TileAddress(level: 2, column: 1, row: 3))
        let vector = try MBTilesWriter(path: basemaps.file("City").path, format: .vector)
        try vector.add(try vectorTile(), at: tile)
        try vector.finish(
            TileSetDescription(
                name: "The city", attribution: "© City", format: .vector, levels: 2...2, vectorLayers: [["id": "roads"]]
            ))
        let images = try MBTilesWriter(path: basemaps.file("Air").path, format: .png)
        try images.add(png, at: tile)
        try images.finish(TileSetDescription(name: "Air", format: .png, levels: 2...2))
        var configuration = ServerConfiguration(port: 0, definitionLifetime: lifetime)
        configuration.dataFolder = folder
        try await TemporaryStore.serve(configuration: configuration) { server, store in
            try await test(server, basemaps, store)
        }
    }

    private static func serve(_ test: (TestServer, BasemapFolder) async throws -> Void) async throws {
        try await serve { server, basemaps, _ in try await test(server, basemaps) }
    }

    @Test("A service hides a basemap of its name, at the latest when the server looks again")
    func hidden() async throws {
        try await Self.serve(lifetime: .seconds(3_600)) { server, basemaps, store in
            func name(_ service: String) async throws -> JSONValue? {
                try await server.client.get("\(service)/VectorTileServer", ["f": "json"]).json["name"]
            }
            try basemaps.add(basemaps.file("City"), as: TreesService.name.path, replaces: false)
            #expect(try await name("City") == "The city")
            #expect(try await name(TreesService.name.path) != "The city", "the service was there first")

            let tile = "Harbour/VectorTileServer/xyz/2/1/3.pbf"
            #expect(try await server.client.get("Harbour/FeatureServer", ["f": "json"]).errorCode == 404)
            try basemaps.add(basemaps.file("City"), as: "Harbour", replaces: false)
            #expect(try await server.client.get(tile).status == 200)
            var service = TreesService.definition
            service.name = ServiceName(name: "Harbour")
            try await store.createService(service)
            #expect(try await server.client.get(tile).status == 200, "nothing was looked up for a tile")
            #expect(try await server.client.get("Harbour/FeatureServer", ["f": "json"]).json["layers"] != nil)
            #expect(try await name("Harbour") != "The city", "the service is known now")
        }
    }

    @Test("The catalogue lists basemaps by what they are, and those that are added while the server runs")
    func catalogue() async throws {
        try await Self.serve { server, basemaps in
            func names() async throws -> [JSONValue] {
                try await server.client.get("", ["f": "json"]).json["services"]?.arrayValue ?? []
            }
            let before = try await names()
            #expect(before.contains(["name": "City", "type": "VectorTileServer"]))
            #expect(before.contains(["name": "Air", "type": "MapServer"]))
            #expect(!before.contains(["name": "City", "type": "FeatureServer"]))
            try basemaps.add(basemaps.file("City"), as: "Second", replaces: false)
            #expect(try await names().contains(["name": "Second", "type": "VectorTileServer"]))
            #expect(try basemaps.remove("Second"))
            #expect(try await server.client.get("Second/VectorTileServer", ["f": "json"]).errorCode == 404)
        }
    }

    @Test("The version of tiles is another one for other tiles, and the same for the same file in another place")
    func version() async throws {
        try await Self.serve { server, basemaps in
            func version(_ name: String, _ face: String) async throws -> String {
                let told = try await server.client.get("\(name)/\(face)", ["f": "json"]).json["tilesVersion"]
                return try #require(told?.stringValue)
            }
            let (city, air) = (try await version("City", "VectorTileServer"), try await version("Air", "MapServer"))
            #expect(city != air)
            let file = basemaps.file("City")
            let changed = try #require(
                try FileManager.default.attributesOfItem(atPath: file.path)[.modificationDate] as? Date)
            // As a backup that is put back: other files, of the same time.
            let copy = file.deletingLastPathComponent().appending(path: "copy.part")
            try FileManager.default.copyItem(at: file, to: copy)
            try FileManager.default.setAttributes([.modificationDate: changed], ofItemAtPath: copy.path)
            try FileManager.default.removeItem(at: file)
            try FileManager.default.moveItem(at: copy, to: file)
            #expect(try await version("City", "VectorTileServer") == city)

            let tiles = try MBTilesWriter(path: file.path + ".new", format: .vector)
            try tiles.add(try Self.vectorTile(), at: try #require(TileAddress(level: 2, column: 0, row: 0)))
            try tiles.finish(TileSetDescription(name: "The city", format: .vector, levels: 2...2))
            try basemaps.add(URL(filePath: file.path + ".new"), as: "City", replaces: true)
            #expect(try await version("City", "VectorTileServer") != city)
        }
    }

    @Test("Vector tiles of a package are given as they are, with a style that draws them")
    func vector() async throws {
        try await Self.serve { server, _ in
            let root = try await server.client.get("city/VectorTileServer", ["f": "json"]).json
            #expect(root["name"] == "The city")
            #expect(root["copyrightText"] == "© City")
            #expect(root["minLOD"] == 2)
            let tile = try await server.client.get(
                "City/VectorTileServer/tile/2/3/1.pbf", headers: [("Accept-Encoding", "gzip")])
            let packed = try Self.vectorTile()
            #expect(tile.body == packed)
            let tag = try #require(tile.header("ETag"))
            let again = try await server.client.get(
                "City/VectorTileServer/tile/2/3/1.pbf", headers: [("Accept-Encoding", "gzip"), ("If-None-Match", tag)])
            #expect(again.status == 304)
            let plain = try await server.client.get("City/VectorTileServer/xyz/2/1/3.pbf")
            #expect(try VectorTileReader(plain.body).layers.first?.name == "roads")
            #expect(try await server.client.get("City/VectorTileServer/tile/2/1/3.pbf").status == 404)
            let style = try await server.client.get("City/VectorTileServer/resources/styles/root.json").json
            let layers = try #require(style["layers"]?.arrayValue)
            #expect(layers.contains { $0["source-layer"] == "roads" })
            #expect(try await server.client.get("City/VectorTileServer/resources/sprites/sprite.json").status == 200)
            let described = try await server.client.get("City/VectorTileServer/tilejson.json").json
            #expect(described["vector_layers"]?.arrayValue?.first?["id"] == "roads")
            let block = try await server.client.get("City/VectorTileServer/tilemap/2/3/0/2/1", ["f": "json"]).json
            #expect(block["data"] == [0, 1])
        }
    }

    @Test("Images of a package are a cached map service, and nothing else is asked of it")
    func images() async throws {
        try await Self.serve { server, _ in
            let root = try await server.client.get("Air/MapServer", ["f": "json"]).json
            #expect(root["singleFusedMapCache"] == true)
            #expect(root["tileInfo"]?["rows"] == 256)
            let resolution = try #require(root["tileInfo"]?["lods"]?.arrayValue?.first?["resolution"]?.doubleValue)
            #expect(abs(resolution - 40_075_016.685574 / 1_024) < 1e-6)
            let tile = try await server.client.get("Air/MapServer/tile/2/3/1")
            #expect(tile.body == Self.png)
            #expect(tile.header("Content-Type") == "image/png")
            #expect(try await server.client.get("Air/MapServer/tile/2/0/0").status == 404)
            #expect(try await server.client.get("Air/MapServer/legend", ["f": "json"]).errorCode == 400)
            #expect(try await server.client.get("Air/VectorTileServer", ["f": "json"]).errorCode == 404)
            #expect(try await server.client.get("Air/FeatureServer", ["f": "json"]).errorCode == 404)
        }
    }

    @Test("A file that is no package is not served, and harms no other")
    func broken() async throws {
        try await Self.serve { server, basemaps in
            try Data("nothing".utf8).write(to: basemaps.file("Broken"))
            #expect(try await server.client.get("Broken/MapServer", ["f": "json"]).errorCode == 500)
            let names = try await server.client.get("", ["f": "json"]).json["services"]?.arrayValue ?? []
            #expect(!names.contains { $0["name"] == "Broken" })
            #expect(names.contains(["name": "Air", "type": "MapServer"]))
        }
    }

    @Test("A basemap is read by whom its item is shared with, and by nobody else")
    func sharing() async throws {
        let author = Author(name: "test", address: "")
        try await PeopleServer.with { people in
            let images = try MBTilesWriter(path: people.basemaps.file("Air").path, format: .png)
            let tile = try #require(TileAddress(level: 2, column: 1, row: 3))
            try images.add(Self.png, at: tile)
            try images.finish(TileSetDescription(name: "Air", format: .png, levels: 2...2))
            let paths = ["Air/MapServer", "Air/MapServer/tile/2/3/1", "Air/MapServer/tilemap/2/0/0/2/2"]
            func codes(_ name: String?) async throws -> [Int?] {
                var codes: [Int?] = []
                for path in paths { codes.append(try await people.get(path, as: name).errorCode) }
                return codes
            }
            func isListed(_ name: String?) async throws -> Bool {
                let services = try await people.get("", as: name).json["services"]?.arrayValue ?? []
                return services.contains { $0["name"] == "Air" }
            }
            #expect(try await codes(nil) == [499, 499, 499])
            #expect(try await codes("viewer") == [nil, nil, nil], "shared with the organisation")
            let item = try #require(try await people.portal.item(ofService: "Air", as: .tiles))
            _ = try await people.portal.share(
                item.id, everyone: false, organisation: false, addingGroups: [], onlyGroups: true, for: .everybody,
                by: author)
            #expect(try await codes("viewer") == [403, 403, 403])
            #expect(try await codes("administrator") == [nil, nil, nil])
            let (seen, administered) = (try await isListed("viewer"), try await isListed("administrator"))
            #expect(!seen && administered)
            _ = try await people.portal.share(
                item.id, everyone: true, organisation: true, addingGroups: [], onlyGroups: true, for: .everybody,
                by: author)
            #expect(try await codes(nil) == [nil, nil, nil])
        }
    }
}
