import FieldworkREST
import Foundation
import TestSupport
import Testing

@testable import FieldworkTiles

/// Basemaps of OpenStreetMap extracts.
@Suite("Basemaps of extracts", .fewAtATime)
struct OSMBasemapTests {
    struct Made {
        var package: any TilePackage
        var summary: BasemapMaker.Summary
        var report: OSMBasemap.Report

        func layers(_ level: Int, _ column: Int, _ row: Int) throws -> [String: [VectorTileReader.Feature]] {
            guard let address = TileAddress(level: level, column: column, row: row),
                let bytes = try package.tile(address)
            else { return [:] }
            let tile = try VectorTileReader(GzipReader.expanded(bytes, maximum: 8 << 20))
            return Dictionary(uniqueKeysWithValues: tile.layers.map { ($0.name, $0.features) })
        }

        /// All features of a layer at a level, whatever their tile.
        func features(_ layer: String, level: Int) throws -> [VectorTileReader.Feature] {
            let box = try #require(package.description.box)
            let tiles = box.tiles(level: level)
            return try tiles.columns.flatMap { column in
                try tiles.rows.flatMap { row in try layers(level, column, row)[layer] ?? [] }
            }
        }
    }

    private static func made(_ bytes: [UInt8], levels: ClosedRange<Int> = 8...14) throws -> Made {
        let folder = FileManager.default.temporaryDirectory.appending(path: "osm-basemap-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (source, target) = (folder.appending(path: "a.osm.pbf"), folder.appending(path: "a.mbtiles"))
        try Data(bytes).write(to: source)
        var maker = BasemapMaker(
            BasemapMaker.Options(
                name: "A", levels: levels, schema: BasemapSchema.mark, box: try OSMBasemap.box(of: source)),
            at: target, layers: BasemapSchema.Layer.allCases.map(\.rawValue), directed: BasemapSchema.directed)
        let report = try OSMBasemap.read(source, into: &maker)
        let summary = try maker.finish()
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 2, "no file of parts is left")
        return Made(package: try TilePackages.open(target.path), summary: summary, report: report)
    }

    private static func area(_ parts: [[SIMD2<Int32>]]) -> Double { parts.reduce(0) { $0 + ringArea($1) } }

    @Test("An extract becomes roads, areas with holes, buildings, places in several languages, numbers and the sea")
    func village() throws {
        let made = try Self.made(TinyExtract.village.bytes)
        #expect(made.package.description.schema == BasemapSchema.mark)
        let road = try #require(made.features("road", level: 14).first)
        #expect(road.attributes["class"] == .text("primary") && road.attributes["name"] == .text("Long Street"))
        #expect(road.attributes["ref"] == .text("B 1"))
        let place = try #require(made.features("place", level: 12).first)
        #expect(place.attributes["name"] == .text("Haven") && place.attributes["name:de"] == .text("Hafen"))
        #expect(place.attributes["name:xx"] == nil, "languages that nobody asks for are left out")
        let parks = try made.features("landuse", level: 14)
        let park = try #require(parks.first { $0.parts.count == 2 }, "a shell and its hole: \(parks)")
        #expect(park.attributes["class"] == .text("park"))
        #expect(Self.area([park.parts[0]]) > 0 && Self.area([park.parts[1]]) < 0)
        #expect(try made.features("poi", level: 14).contains { $0.attributes["name"] == .text("Green") })
        #expect(try made.features("building", level: 14).count == 1)
        let number = try #require(made.features("housenumber", level: 14).first)
        #expect(number.attributes["number"] == .text("7"))
        #expect(try made.features("housenumber", level: 13).isEmpty)
        #expect(try made.features("building", level: 12).isEmpty)
    }

    @Test("The sea is what lies to the right of the coast, within the extract")
    func sea() throws {
        let made = try Self.made(TinyExtract.village.bytes)
        #expect(!made.report.hasOpenCoast)
        let sea = try made.features("water", level: 14).filter { $0.attributes["class"] == .text("sea") }
        try #require(!sea.isEmpty)
        // A quarter of the box: 0.005 of 0.02 degrees, of 14 × 512 pixels or so of its height.
        let box = try #require(made.package.description.box)
        let unit = 2 * WebMercator.halfSide / Double(1 << 14) / 4_096
        let all = (box.xMax - box.xMin) * (box.yMax - box.yMin) / unit / unit
        let share = sea.reduce(0) { $0 + Self.area($1.parts) } / all
        // Tiles overlap by their margins, so that it is a little more.
        #expect(share > 0.25 && share < 0.29, "\(share)")
    }

    @Test("Nodes and ways that an extract lacks are counted, and what is there is drawn")
    func missing() throws {
        let made = try Self.made(TinyExtract.village.bytes)
        #expect(made.report.missingNodes == 2 && made.report.openAreas == 1)
        #expect(try made.features("waterway", level: 14).isEmpty, "one node is no line")
        #expect(try made.features("land", level: 14).isEmpty, "half of a ring is no area")
    }

    @Test("A coast that ends within the extract makes no sea, and is told")
    func openCoast() throws {
        var extract = TinyExtract.village
        extract.node(61, 10.002, 50.0181)
        extract.node(62, 10.003, 50.0182)
        extract.way(161, [61, 62], ["natural": "coastline"])
        let made = try Self.made(extract.bytes)
        #expect(made.report.hasOpenCoast)
        #expect(try made.features("water", level: 14).isEmpty)
    }

    @Test("An island in the midst of the sea is a hole of it, also when no other coast is there")
    func island() throws {
        var extract = TinyExtract()
        extract.bounds = [10, 50, 10.02, 50.02]
        for (id, x, y) in [(1, 10.008, 50.008), (2, 10.012, 50.008), (3, 10.012, 50.012), (4, 10.008, 50.012)] {
            extract.node(Int64(id), x, y)
        }
        // Land to the left: against the clock.
        extract.way(1, [1, 2, 3], ["natural": "coastline"])
        extract.way(2, [3, 4, 1], ["natural": "coastline"])
        let made = try Self.made(extract.bytes, levels: 10...10)
        let sea = try #require(made.features("water", level: 10).first)
        #expect(sea.parts.count == 2)
    }

    @Test("A file that breaks off is refused, and leaves no package")
    func broken() throws {
        let bytes = TinyExtract.village.bytes
        for count in [bytes.count - 7, bytes.count / 2, 30] {
            #expect(throws: (any Error).self) { try Self.made(Array(bytes.prefix(count))) }
        }
    }

    @Test("A street that ways cut into pieces is one line in a tile")
    func joined() throws {
        var extract = TinyExtract()
        extract.bounds = [10, 50, 10.01, 50.01]
        for index in 0..<6 {
            extract.node(Int64(index + 1), 10.001 + 0.001 * Double(index), 50.002 + 0.0001 * Double(index * index))
        }
        // One piece runs the other way.
        for (id, nodes) in [(1, [1, 2]), (2, [3, 2]), (3, [3, 4, 5]), (4, [5, 6])] {
            extract.way(Int64(id), nodes.map(Int64.init), ["highway": "residential", "name": "Bent Lane"])
        }
        let made = try Self.made(extract.bytes, levels: 14...14)
        let roads = try made.features("road", level: 14)
        #expect(roads.count == 1 && roads[0].parts.count == 1 && roads[0].parts[0].count == 6, "\(roads)")
    }
}
