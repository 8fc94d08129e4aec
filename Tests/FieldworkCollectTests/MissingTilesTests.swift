import Fieldwork
import FieldworkTiles
import Foundation
import TestSupport
import Testing

@testable import FieldworkCollect

/// What has to come for an area, and what other areas have already.
@Suite struct MissingTilesTests {
    private static let levels = [0, 5, 9, 12, 14]

    /// A box somewhere in a town, its edges often on those of tiles and of other boxes.
    private static func box(_ generator: inout SeededGenerator) -> PlaneBox {
        func edge() -> Double {
            let side = 2 * WebMercator.halfSide / Double(1 << 14)
            let step = [side, side / 3, 7.3].randomElement(using: &generator) ?? side
            return Double(Int.random(in: 0...12, using: &generator)) * step + 1_000_000
        }
        let (x, y) = (edge(), edge())
        return PlaneBox(xMin: x, yMin: y, xMax: x + edge() - 999_000, yMax: y + edge() - 999_000)
    }

    private static func tiles(_ box: PlaneBox) -> Set<TileAddress> {
        var tiles: Set<TileAddress> = []
        for level in levels {
            TileCoverage(box: box).forEach(level: level) { (tile: TileAddress) in
                tiles.insert(tile)
                return true
            }
        }
        return tiles
    }

    private static func tiles(meeting geometry: Geometry) -> Set<TileAddress> {
        var tiles: Set<TileAddress> = []
        for level in levels {
            TileCoverage(geometry)?.forEach(level: level) { (tile: TileAddress) in
                tiles.insert(tile)
                return true
            }
        }
        return tiles
    }

    @Test("A tile that no other area has lies in the part that is asked for, wherever the boxes lie", arguments: 0..<60)
    func complete(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed &* 0x9E37_79B9 | 1)
        let box = Self.box(&generator)
        let others = (0..<Int.random(in: 1...4, using: &generator)).map { _ in Self.box(&generator) }
        let needed = Self.tiles(box).subtracting(others.reduce(into: []) { $0.formUnion(Self.tiles($1)) })
        let missing = SharedTiles.missing(of: box, in: others)
        let asked = missing.map(Self.tiles(meeting:)) ?? []
        #expect(needed.subtracting(asked).isEmpty)
    }

    @Test("Nothing is asked for within an area that is here, all of one that meets none, and a strip beside one")
    func examples() throws {
        let here = PlaneBox(xMin: 0, yMin: 0, xMax: 10_000, yMax: 10_000)
        #expect(SharedTiles.missing(of: here, in: [here]) == nil)
        #expect(SharedTiles.missing(of: here.grown(by: -2_000), in: [here]) == nil)
        let far = PlaneBox(xMin: 20_000, yMin: 0, xMax: 30_000, yMax: 10_000)
        #expect(SharedTiles.missing(of: far, in: [here]) is Envelope)
        let wider = PlaneBox(xMin: 0, yMin: 0, xMax: 12_000, yMax: 10_000)
        let strip = try #require(SharedTiles.missing(of: wider, in: [here])?.extent)
        #expect(strip.xMax < 12_001)
        let area = try #require(SharedTiles.missing(of: wider, in: [here]) as? Polygon)
        #expect(abs(GeometryEngine.area(of: area)) < 2_000 * 10_000 * 1.02)
    }
}
