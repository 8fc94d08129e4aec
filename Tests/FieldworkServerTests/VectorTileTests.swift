import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import FieldworkTiles
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import FieldworkServer

@Suite("Vector tile face", .fewAtATime)
struct VectorTileTests {
    /// The tile in whose north-western quarter the trees stand: they begin at the origin and go north and east.
    private static let tile = "16/32767/32768"

    private static func decoded(_ answer: TestClient.Answer) throws -> VectorTileReader {
        let isGzip = answer.header("Content-Encoding") == "gzip"
        return try VectorTileReader(
            isGzip ? try GzipReader.expanded(answer.body, maximum: 10_000_000) : answer.body)
    }

    /// Where a tree of the store stands, in metres. Ids don't tell: a load numbers its rows along their places.
    private static func place(ofTree name: String?) throws -> (x: Double, y: Double) {
        let number = try #require(name.flatMap { Int($0.dropFirst("Tree ".count)) }) - 1
        return (Double(number % 100) * 10, Double(number / 100) * 10)
    }

    @Test("The root says what esri-leaflet-vector looks for")
    func root() async throws {
        try await TemporaryStore.serve(trees: 5) { server, _ in
            let json = try await server.client.get("Trees/VectorTileServer", ["f": "json"]).json
            #expect(json["defaultStyles"] == "resources/styles")
            #expect(json["tiles"] == ["tile/{z}/{y}/{x}.pbf"])
            #expect(json["tileInfo"]?["spatialReference"]?["latestWkid"] == 3857)
            #expect(json["tileInfo"]?["rows"] == 512)
            #expect(json["tileInfo"]?["lods"]?.arrayValue?.count == 17)
            #expect(json["tileInfo"]?["lods"]?.arrayValue?[1]["scale"]?.doubleValue == 295_828_763.7957775 / 2)
            #expect(json["fullExtent"]?["xmax"]?.doubleValue == 40)
            #expect(json["exportTilesAllowed"] == false)
        }
    }

    @Test("A tile holds the features of its area, with their ids and what they are drawn by")
    func tile() async throws {
        try await TemporaryStore.serve(trees: 250) { server, _ in
            let answer = try await server.client.get(
                "Trees/VectorTileServer/tile/\(Self.tile).pbf", headers: [("Accept-Encoding", "gzip")])
            #expect(answer.status == 200)
            #expect(answer.header("Content-Encoding") == "gzip")
            #expect(answer.header("Content-Type") == "application/x-protobuf")
            let layer = try #require(try Self.decoded(answer).layers.first)
            #expect(layer.name == "Trees")
            let side = 2 * WebMercator.halfSide / 65_536
            // With those of the margin.
            let reach = Int((side * 1.125 / 10).rounded(.up))
            #expect(layer.features.count == 2 * min(reach, 100) + min(reach, 50))
            let first = try #require(layer.features.first { $0.id == 1 })
            #expect(first.attributes["Name"] == .text("Tree 1"))
            #expect(first.attributes["GlobalID"] == nil)
            for feature in layer.features {
                let (x, y) = try Self.place(ofTree: feature.attributes["Name"]?.textValue)
                let place = try #require(feature.parts.first?.first)
                #expect(abs(Double(place.x) - x / side * 4_096) <= 1)
                #expect(abs(Double(place.y) - (4_096 - y / side * 4_096)) <= 1)
            }
        }
    }

    @Test("The same tile answers under x before y, and expanded for who takes no compression")
    func addresses() async throws {
        try await TemporaryStore.serve(trees: 20) { server, _ in
            let rows = try await server.client.get("Trees/VectorTileServer/tile/\(Self.tile).pbf")
            let columns = try await server.client.get("Trees/VectorTileServer/xyz/16/32768/32767.pbf")
            #expect(rows.header("Content-Encoding") == nil)
            #expect(rows.body == columns.body)
            #expect(try !Self.decoded(rows).layers.isEmpty)
        }
    }

    @Test("A tile without features is not found, and one outside of the grid neither")
    func empty() async throws {
        try await TemporaryStore.serve(trees: 20) { server, _ in
            let far = try await server.client.get("Trees/VectorTileServer/tile/16/100/100.pbf")
            #expect(far.status == 404)
            #expect(far.body.isEmpty)
            let outside = try await server.client.get("Trees/VectorTileServer/tile/3/8/0.pbf")
            #expect(outside.errorCode == 404)
        }
    }

    @Test("A client that has a tile is answered without it, until an edit changes that tile")
    func tags() async throws {
        try await TemporaryStore.serve(trees: 20) { server, store in
            func get(_ tile: String, _ tag: String? = nil) async throws -> TestClient.Answer {
                try await server.client.get(
                    "Trees/VectorTileServer/tile/\(tile).pbf",
                    headers: [("Accept-Encoding", "gzip")] + (tag.map { [("If-None-Match", $0)] } ?? []))
            }
            let elsewhere = "10/600/600"
            let tag = try #require(try await get(Self.tile).header("ETag"))
            let empty = try #require(try await get(elsewhere).header("ETag"))
            #expect(try await get(Self.tile, tag).status == 304)
            #expect(try await get(elsewhere, empty).status == 304)
            let edit = FeatureEdit(
                objectID: 1, attributes: [("Name", .text("Moved"))],
                geometry: .geometry(Point(x: 15, y: 5, spatialReference: .webMercator)))
            let batch = EditBatch(
                layers: [LayerEdits(layerID: 0, updates: [edit])], moment: TemporaryStore.moment)
            _ = try await store.apply(batch, to: TreesService.name)
            let changed = try await get(Self.tile, tag)
            #expect(changed.status == 200)
            let feature = try #require(try Self.decoded(changed).layers[0].features.first { $0.id == 1 })
            #expect(feature.attributes["Name"] == .text("Moved"))
            #expect(try await get(elsewhere, empty).status == 304, "the edit made another tile new")
            #expect(try await get(Self.tile, changed.header("ETag")).status == 304)
        }
    }

    @Test("The tile that a feature leaves is new, and so is the one that it comes to")
    func movedFar() async throws {
        try await TemporaryStore.serve(trees: 1) { server, store in
            func get(_ tile: String) async throws -> TestClient.Answer {
                try await server.client.get("Trees/VectorTileServer/tile/\(tile).pbf")
            }
            #expect(try await get(Self.tile).status == 200)
            #expect(try await get("16/32000/33000").status == 404)
            let target = try #require(TileAddress(level: 16, column: 33_000, row: 32_000))
            let edit = FeatureEdit(
                objectID: 1,
                geometry: .geometry(
                    Point(x: target.xMin + 100, y: target.yMax - 100, spatialReference: .webMercator)))
            _ = try await store.apply(
                EditBatch(
                    layers: [LayerEdits(layerID: 0, updates: [edit])], moment: TemporaryStore.moment),
                to: TreesService.name)
            #expect(try await get(Self.tile).status == 404)
            #expect(try await get("16/32000/33000").status == 200)
        }
    }

    @Test("GDAL reads a tile and finds the features where they are", .enabled(if: Tool.isInstalled("ogr2ogr")))
    func gdal() async throws {
        try await TemporaryStore.serve(trees: 250) { server, _ in
            let answer = try await server.client.get("Trees/VectorTileServer/tile/\(Self.tile).pbf")
            let folder = FileManager.default.temporaryDirectory.appending(path: "fieldwork-mvt-\(UUID().uuidString)")
            let column = folder.appending(path: "16/32768")
            try FileManager.default.createDirectory(at: column, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let file = column.appending(path: "32767.pbf")
            try Data(answer.body).write(to: file)
            let output = try await Tool.run(
                "ogr2ogr",
                ["-f", "GeoJSON", "-t_srs", "EPSG:3857", "/vsistdout/", "MVT:\(file.path)", "-oo", "CLIP=NO", "Trees"])
            #expect(output.status == 0, "\(output.standardError)")
            let json = try JSONParser.parse([UInt8](output.standardOutput))
            let features = try #require(json["features"]?.arrayValue)
            let written = try Self.decoded(answer).layers[0].features.count
            #expect(features.count == written)
            let unit = 2 * WebMercator.halfSide / 65_536 / 4_096
            for feature in features {
                let (x, y) = try Self.place(ofTree: feature["properties"]?["Name"]?.stringValue)
                let coordinates = try #require(feature["geometry"]?["coordinates"]?.arrayValue)
                let place = coordinates.compactMap { $0.doubleValue }
                guard place.count == 2 else {
                    Issue.record("a point has \(place.count) coordinates")
                    continue
                }
                #expect(abs(place[0] - x) <= unit)
                #expect(abs(place[1] - y) <= unit)
            }
        }
    }

    @Test("The style is there for the vendor's clients and, with whole addresses, for everybody")
    func style() async throws {
        try await TemporaryStore.serve(trees: 5) { server, _ in
            let root = try await server.client.get("Trees/VectorTileServer/resources/styles/root.json").json
            #expect(root["version"] == 8)
            #expect(root["sources"]?["esri"]?["url"] == "../../")
            #expect(root["sprite"] == "../sprites/sprite")
            #expect(root["layers"]?.arrayValue?.first?["source-layer"] == "Trees")
            let own = try await server.client.get("Trees/VectorTileServer/resources/styles/maplibre.json").json
            let tiles = try #require(own["sources"]?["esri"]?["tiles"]?.arrayValue?.first?.stringValue)
            #expect(tiles.hasPrefix("http://127.0.0.1:"))
            let address = tiles.replacing("{z}/{y}/{x}", with: Self.tile).split(separator: "/").dropFirst(2)
            #expect(try await server.client.get("/" + address.joined(separator: "/")).status == 200)
            let described = try await server.client.get("Trees/VectorTileServer/tilejson.json").json
            #expect(described["tilejson"] == "3.0.0")
            #expect(described["vector_layers"]?.arrayValue?.first?["id"] == "Trees")
            #expect(described["tiles"]?.arrayValue?.first?.stringValue == tiles)
        }
    }

    @Test("Sprites, glyphs and the map of tiles answer")
    func resources() async throws {
        try await TemporaryStore.serve(trees: 5) { server, _ in
            let base = "Trees/VectorTileServer"
            #expect(try await server.client.get("\(base)/resources/sprites/sprite.json").json.objectValue != nil)
            let png = try await server.client.get("\(base)/resources/sprites/sprite@2x.png")
            #expect(Array(png.body.prefix(4)) == [0x89, 0x50, 0x4E, 0x47])
            #expect(try await server.client.get("\(base)/resources/sprites/other.json").errorCode == 404)
            let glyphs = try await server.client.get("\(base)/resources/fonts/Noto%20Sans%20Regular/0-255.pbf")
            #expect(glyphs.status == 200)
            #expect(glyphs.body.count > 20_000)
            for range in ["1-256", "9223372036854775807-5", "-256--1", "65536-65791", "a-b", "0"] {
                let refused = try await server.client.get("\(base)/resources/fonts/Noto%20Sans%20Regular/\(range).pbf")
                #expect(refused.errorCode == 404, "\(range)")
            }
            let block = try await server.client.get("\(base)/tilemap/16/32766/32767/2/2", ["f": "json"]).json
            #expect(block["data"] == [0, 0, 1, 1])
            let large = try await server.client.get(
                "\(base)/tilemap/16/0/0/\(FieldworkServer.Limits.tileBlockSide + 1)/1", ["f": "json"])
            #expect(large.errorCode == 400)
        }
    }

    @Test("A tile asked for by many at once is made once, and cut off when its client has left")
    func coalesced() async throws {
        let keeper = TileKeeper(maximum: 10_000)
        let key = TileKeeper.Key(scope: "s", name: "1")
        let made = Counter()
        try await withThrowingTaskGroup(of: [UInt8].self) { group in
            for index in 0..<20 {
                group.addTask {
                    do {
                        return try await keeper.bytes(key) {
                            let count = made.next()
                            try await Task.sleep(for: .milliseconds(20))
                            // The first of them fails: its client has left.
                            if count == 1 { throw CancellationError() }
                            return [1, 2, 3]
                        }
                    } catch is CancellationError {
                        return [UInt8(index)]
                    }
                }
            }
            var right = 0
            for try await bytes in group where bytes == [1, 2, 3] { right += 1 }
            #expect(right == 19)
        }
        #expect(made.value == 2)
    }

    @Test("What is kept stays within its limit, and what was used last stays longest")
    func bounded() async throws {
        let keeper = TileKeeper(maximum: 20_000)
        func get(_ number: Int) async throws -> Int {
            let made = Counter()
            _ = try await keeper.bytes(.init(scope: "s", name: "\(number)")) {
                _ = made.next()
                return [UInt8](repeating: 0, count: 1_000)
            }
            return made.value
        }
        for number in 0..<200 {
            _ = try await get(number)
            // Used again and again, it is never the oldest.
            #expect(try await get(0) == 0)
            #expect(await keeper.byteCount <= 20_000)
        }
        #expect(try await get(1) == 1)
        #expect(try await get(199) == 0)
    }
}

/// Counts from tasks of a test.
private final class Counter: Sendable {
    private let count = Mutex(0)

    var value: Int { count.withLock { $0 } }

    func next() -> Int {
        count.withLock {
            $0 += 1
            return $0
        }
    }
}
