import FieldworkREST
import Foundation
import TestSupport
import Testing

@testable import FieldworkTiles

/// Features that are cut into tiles.
@Suite("Making basemaps", .fewAtATime)
struct BasemapMakerTests {
    /// Tiles of some features, by address.
    private static func tiles(
        _ features: [MapFeature], levels: ClosedRange<Int>, memory: Int? = nil
    ) throws -> [TileAddress: [VectorTileReader.Layer]] {
        let target = FileManager.default.temporaryDirectory.appending(path: "made-\(UUID().uuidString).mbtiles")
        defer { try? FileManager.default.removeItem(at: target) }
        var maker = BasemapMaker(BasemapMaker.Options(name: "A", levels: levels), at: target)
        for feature in features { try maker.add(feature) }
        let summary = try maker.finish()
        let package = try TilePackages.open(target.path)
        let box = try #require(package.description.box)
        var found: [TileAddress: [VectorTileReader.Layer]] = [:]
        for level in levels {
            // What reaches into a margin is drawn in the tile beyond, too.
            let range = box.grown(by: 2 * WebMercator.halfSide / Double(1 << level) / 60).tiles(level: level)
            for column in range.columns {
                for row in range.rows {
                    guard let address = TileAddress(level: level, column: column, row: row),
                        let bytes = try package.tile(address)
                    else { continue }
                    #expect(bytes.count <= Limits.tileBytes)
                    found[address] = try VectorTileReader(GzipReader.expanded(bytes, maximum: 32 << 20)).layers
                }
            }
        }
        #expect(found.count == summary.tiles)
        return found
    }

    private static func ring(_ places: [(Double, Double)]) -> MapFeature.Shape {
        let closed = places + places.prefix(1)
        return .area(
            TileShape(xs: closed.map(\.0), ys: closed.map(\.1), parts: [0..<closed.count], areShells: [true]))
    }

    @Test("An area over many tiles fills each of them as far as it reaches, with its margin")
    func area() throws {
        // A diamond over 9 × 9 tiles of level 10.
        let side = 2 * WebMercator.halfSide / 1_024
        let (x, y, reach) = (0.5 * side, 0.5 * side, 4.2 * side)
        let diamond = Self.ring([(x - reach, y), (x, y - reach), (x + reach, y), (x, y + reach)])
        let found = try Self.tiles([MapFeature(layer: "a", tags: [], shape: diamond)], levels: 10...10)
        // What lies in a tile, by counting places within the diamond.
        for (address, layers) in found {
            let part = layers[0].features.flatMap(\.parts).reduce(0) { $0 + ringArea($1) }
            let (left, top) = (address.xMin - side / 128, address.yMax + side / 128)
            let (steps, width) = (200, side * (1 + 1.0 / 64))
            var inside = 0
            for column in 0..<steps {
                for row in 0..<steps {
                    let px = left + (Double(column) + 0.5) / Double(steps) * width
                    let py = top - (Double(row) + 0.5) / Double(steps) * width
                    if abs(px - x) + abs(py - y) < reach { inside += 1 }
                }
            }
            let expected = Double(inside) / Double(steps * steps) * pow(4_096 + 64, 2)
            #expect(abs(part - expected) < 0.01 * 4_096 * 4_096, "\(address): \(part) for \(expected)")
        }
        #expect(found.count >= 41, "\(found.count)")
    }

    @Test("Neighbouring tiles have a line at the same place of their common edge")
    func edges() throws {
        let side = 2 * WebMercator.halfSide / 4_096
        var (xs, ys): ([Double], [Double]) = ([], [])
        for index in 0...400 {
            xs.append(Double(index) * side / 40)
            ys.append(side * (3 + 2 * sin(Double(index) / 9)))
        }
        let line = MapFeature.Shape.line(TileShape(xs: xs, ys: ys, parts: [0..<xs.count]))
        let found = try Self.tiles([MapFeature(layer: "a", tags: [], shape: line)], levels: 11...12)
        /// Where lines cross a column of a tile.
        func crossings(_ address: TileAddress, at column: Double) -> [Double] {
            (found[address] ?? []).flatMap(\.features).flatMap(\.parts).flatMap { part in
                zip(part, part.dropFirst()).compactMap { from, to -> Double? in
                    let (a, b) = (Double(from.x), Double(to.x))
                    guard (a < column) != (b < column) else { return nil }
                    return Double(from.y) + (column - a) / (b - a) * (Double(to.y) - Double(from.y))
                }
            }.filter { $0 > 0 && $0 < 4_096 }.sorted()
        }
        var compared = 0
        for address in found.keys {
            guard let right = TileAddress(level: address.level, column: address.column + 1, row: address.row),
                found[right] != nil
            else { continue }
            let (here, there) = (crossings(address, at: 4_096), crossings(right, at: 0))
            #expect(here.count == there.count, "\(address)")
            for (one, other) in zip(here, there) { #expect(abs(one - other) <= 1.5, "\(address): \(one), \(other)") }
            compared += here.count
        }
        #expect(compared >= 10, "\(compared)")
    }

    @Test("What goes through a file in sorted runs comes out as from memory")
    func spill() throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "spill-\(UUID().uuidString)")
        func records(memory: Int) throws -> [String] {
            var spill = TileSpill(file: url, memory: memory)
            var state: UInt64 = 7
            for index in 0..<5_000 {
                state = state &* 6_364_136_223_846_793_005 &+ 1
                let bytes = [UInt8](repeating: UInt8(index % 251), count: index % 40)
                try spill.add(tile: state >> 40 % 50, rank: state >> 50 % 7) { $0 += bytes }
            }
            var found: [String] = []
            try spill.forEach { found.append("\($0.tile) \($0.rank) \($0.bytes.count) \($0.bytes.first ?? 0)") }
            return found
        }
        let inMemory = try records(memory: 1 << 30)
        #expect(inMemory.count == 5_000)
        let inFile = try records(memory: 20_000)
        #expect(inFile == inMemory)
        #expect(!FileManager.default.fileExists(atPath: url.path), "the file is gone")
    }

    @Test("A tile that would be too large loses what comes last in its layer, and stays within its limit")
    func thinning() throws {
        let side = 2 * WebMercator.halfSide / 64
        var state: UInt64 = 3
        func random() -> Double {
            state = state &* 6_364_136_223_846_793_005 &+ 1
            return Double(state >> 33) / Double(1 << 31)
        }
        let features = (0..<150_000).map { index in
            MapFeature(
                layer: "a", tags: [MapFeature.Tag("n", .text("number \(index)"))],
                shape: .point(x: random() * side, y: random() * side), order: UInt32(index))
        }
        let found = try Self.tiles(features, levels: 6...6)
        let names = found.values.flatMap { $0 }.flatMap(\.features).compactMap { $0.attributes["n"] }
        #expect(names.count > 10_000 && names.count < 150_000, "\(names.count)")
        #expect(names.contains(.text("number 0")) && !names.contains(.text("number 149999")))
    }

    @Test("Attributes are there from their level on, and features from theirs")
    func levels() throws {
        let point = MapFeature(
            layer: "a", tags: [MapFeature.Tag("class", .integer(1)), MapFeature.Tag("name", .text("B"), from: 6)],
            shape: .point(x: 100, y: 100), level: 5)
        let found = try Self.tiles([point], levels: 4...7)
        let byLevel = Dictionary(uniqueKeysWithValues: found.map { ($0.key.level, $0.value[0].features[0].attributes) })
        #expect(byLevel[4] == nil && byLevel[5]?["name"] == nil && byLevel[5]?["class"] != nil)
        #expect(byLevel[6]?["name"] == .text("B") && byLevel[7]?["name"] == .text("B"))
    }
}
