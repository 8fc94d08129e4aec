import FieldworkGeometry
import FieldworkREST
import Foundation
import TestSupport
import Testing

@testable import FieldworkTiles

/// One file of tiles for several areas.
@Suite("Tiles that areas share", .fewAtATime)
struct SharedTileFileTests {
    private static let side = 2 * WebMercator.halfSide / 64

    /// A square of tiles of level 6, and what lies above them.
    private static func box(_ column: Int, _ row: Int, _ width: Int = 2) -> PlaneBox {
        let (x, y) = (-WebMercator.halfSide + Double(column) * side, WebMercator.halfSide - Double(row) * side)
        return PlaneBox(
            xMin: x + 1, yMin: y - Double(width) * side + 1, xMax: x + Double(width) * side - 1, yMax: y - 1)
    }

    private static func tile(_ text: String) -> [UInt8] {
        var layer = VectorLayer(name: "roads")
        layer.tag("name", .text(text))
        layer.add(id: 1, kind: .point, commands: [9, 50, 34])
        var tile: [UInt8] = []
        layer.append(to: &tile)
        return tile
    }

    /// Tiles with their own names, in the west; in the east all are alike, as at sea.
    private static func text(_ tile: TileAddress, _ version: String) -> String {
        tile.level == 6 && tile.column >= 32 ? "sea" : "\(tile.level)/\(tile.row)/\(tile.column) \(version)"
    }

    /// All tiles of the levels 0 to 6.
    private static func world(_ folder: URL, _ version: String = "first") throws -> any TilePackage {
        let file = folder.appending(path: "world-\(version).mbtiles")
        let writer = try MBTilesWriter(path: file.path, format: .vector)
        let whole = PlaneBox(
            xMin: -WebMercator.halfSide, yMin: -WebMercator.halfSide, xMax: WebMercator.halfSide,
            yMax: WebMercator.halfSide)
        for level in 0...6 {
            try TileCoverage(box: whole.grown(by: -1)).forEach(level: level) { tile in
                try writer.add(Self.tile(text(tile, version)), at: tile)
                return true
            }
        }
        try writer.finish(
            TileSetDescription(
                name: "City", attribution: "© City", format: .vector, levels: 0...6, box: whole,
                vectorLayers: [["id": "roads"]]))
        return try TilePackages.open(file.path)
    }

    private struct Shelf {
        let folder: URL
        let world: any TilePackage
        let file: SharedTileFile
        var url: URL { folder.appending(path: "shared.mbtiles") }

        /// The part of the world in a box, as a service gives it.
        func part(_ box: PlaneBox, of world: (any TilePackage)? = nil) throws -> any TilePackage {
            let part = folder.appending(path: "\(UUID().uuidString).vtpk")
            try TileExport(of: world ?? self.world, title: "City", coverage: TileCoverage(box: box)).write(to: part)
            return try TilePackages.open(part.path)
        }

        func take(_ id: UUID, _ box: PlaneBox) throws {
            try file.reserve(id, box: box)
            try file.complete(id, with: try part(box))
        }

        /// The tiles that are in the file, each as often as it is there.
        func tiles() throws -> [String] {
            try TileDatabase(path: url.path)
                .run("SELECT zoom_level, tile_column, tile_row FROM tiles ORDER BY 1, 2, 3")
                .map { $0.compactMap(\.integer).map(String.init).joined(separator: "/") }
        }

        func contents() throws -> Int? {
            try TileDatabase(path: url.path).run("SELECT count(*) FROM tile_contents").first?.first?.integer
        }

        /// Whether all tiles of a box are there and are what the service has.
        func holds(_ box: PlaneBox) throws -> Bool {
            let read = try TilePackages.open(url.path)
            var isWhole = true
            for level in 0...6 {
                try TileCoverage(box: box).forEach(level: level) { tile in
                    let bytes = try read.tile(tile).map { try GzipReader.expanded($0, maximum: 10_000) }
                    isWhole = isWhole && bytes == SharedTileFileTests.tile(SharedTileFileTests.text(tile, "first"))
                    return true
                }
            }
            return isWhole
        }
    }

    private static func with(_ body: (Shelf) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "fieldwork-shared-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = try SharedTileFile(folder.appending(path: "shared.mbtiles"))
        try body(Shelf(folder: folder, world: try world(folder), file: file))
    }

    @Test("A tile is there once for all areas, stays as long as one of them needs it, and goes with the last")
    func once() throws {
        try Self.with { shelf in
            let (first, second, third) = (UUID(), UUID(), UUID())
            let (one, other, far) = (Self.box(4, 4, 3), Self.box(5, 5, 3), Self.box(20, 40))
            try shelf.take(first, one)
            try shelf.take(second, other)
            try shelf.take(third, far)
            #expect(try Set(shelf.tiles()).count == shelf.tiles().count)
            #expect(try shelf.holds(one) && shelf.holds(other) && shelf.holds(far))
            #expect(try shelf.file.holders().map(\.isWhole) == [true, true, true])

            try shelf.file.release(first)
            #expect(try shelf.holds(other) && shelf.holds(far) && !shelf.holds(one))
            try shelf.file.release(third)
            #expect(try shelf.holds(other) && !shelf.holds(far))
            // What is left is the second area's alone: 9 tiles of level 6, and those above them.
            let left = try shelf.tiles()
            #expect(left.count { $0.hasPrefix("6/") } == 9)
            let alone = try SharedTileFile(shelf.folder.appending(path: "alone.mbtiles"))
            try alone.reserve(second, box: other)
            try alone.complete(second, with: try shelf.part(other))
            #expect(try left == Shelf(folder: shelf.folder, world: shelf.world, file: alone).tiles())
            try shelf.file.release(second)
            #expect(try shelf.tiles() == [] && shelf.contents() == 0)
        }
    }

    @Test("Equal tiles have one content, whose bytes are given back when the last of them goes")
    func contents() throws {
        try Self.with { shelf in
            let (sea, land) = (UUID(), UUID())
            try shelf.take(sea, Self.box(40, 10, 8))
            let tiles = try shelf.tiles()
            // 64 tiles of level 6 are alike; those above them are not.
            #expect(try shelf.contents() == tiles.count - 63)
            func size() throws -> Int {
                try TileDatabase(path: shelf.url.path).run("PRAGMA page_count").first?.first?.integer ?? 0
            }
            let before = try size()
            try shelf.take(land, Self.box(2, 2, 16))
            #expect(try shelf.file.holder(land)?.bytes ?? 0 > shelf.file.holder(sea)?.bytes ?? .max)
            try shelf.file.release(land)
            #expect(try size() == before)
            #expect(try shelf.holds(Self.box(40, 10, 8)))
        }
    }

    @Test("What another area has need not come again, also when that area goes while the rest is on its way")
    func reserved() throws {
        try Self.with { shelf in
            let (first, second) = (UUID(), UUID())
            let (one, other) = (Self.box(4, 4, 3), Self.box(5, 4, 3))
            try shelf.take(first, one)
            try shelf.file.reserve(second, box: other)
            try shelf.file.release(first)
            #expect(try shelf.file.holders().map(\.isWhole) == [false])
            // Only the column that the first area did not have.
            try shelf.file.complete(second, with: try shelf.part(Self.box(7, 4, 1).joinedDown(2 * Self.side)))
            #expect(try shelf.holds(other))
            // An area that has all of it already takes nothing.
            let third = UUID()
            try shelf.file.reserve(third, box: other.grown(by: -Self.side))
            try shelf.file.complete(third, with: nil)
            try shelf.file.release(second)
            #expect(try shelf.holds(other.grown(by: -Self.side)))
        }
    }

    @Test("Tiles of another version are refused as a whole: nothing of them is there, and nothing is lost")
    func otherVersion() throws {
        try Self.with { shelf in
            let (first, second) = (UUID(), UUID())
            try shelf.take(first, Self.box(4, 4, 3))
            let before = try shelf.tiles()
            try shelf.file.reserve(second, box: Self.box(5, 5, 3))
            let changed = try shelf.part(Self.box(5, 5, 3), of: try Self.world(shelf.folder, "second"))
            var code: TileError.Code?
            do throws(TileError) {
                try shelf.file.complete(second, with: changed)
            } catch {
                code = error.code
            }
            #expect(code == .otherVersion)
            #expect(try shelf.tiles() == before && shelf.holds(Self.box(4, 4, 3)))
            #expect(try shelf.file.holder(second)?.isWhole == false)
        }
    }

    @Test("The file is read as MBTiles, with the style that came along, while more tiles come")
    func reading() throws {
        try Self.with { shelf in
            try shelf.take(UUID(), Self.box(4, 4))
            let read = try TilePackages.open(shelf.url.path)
            #expect(read.description.name == "City" && read.description.attribution == "© City")
            #expect(read.description.levels == 0...6 && read.description.format == .vector)
            #expect(try read.resource("styles/root.json") != nil && read.resource("sprites/sprite.png") != nil)
            #expect(try read.resourcePaths().contains("sprites/sprite.json"))
            let before = try #require(read.description.box)
            try shelf.take(UUID(), Self.box(30, 30))
            let tile = try #require(TileAddress(level: 6, column: 30, row: 30))
            #expect(try read.tile(tile) != nil, "a reader sees what came")
            let after = try #require(try TilePackages.open(shelf.url.path).description.box)
            #expect(after.xMax > before.xMax && abs(after.xMin - before.xMin) < 1)
        }
    }

    @Test("An area that is not noted gets nothing, and noting it twice changes nothing")
    func notNoted() throws {
        try Self.with { shelf in
            #expect(throws: TileError.self) { try shelf.file.complete(UUID(), with: shelf.world) }
            #expect(try shelf.tiles() == [])
            let id = UUID()
            try shelf.take(id, Self.box(4, 4))
            try shelf.file.reserve(id, box: Self.box(4, 4))
            #expect(try shelf.file.holder(id)?.isWhole == true)
        }
    }
}

extension PlaneBox {
    /// The box with so many metres more to the south.
    fileprivate func joinedDown(_ metres: Double) -> PlaneBox {
        PlaneBox(xMin: xMin, yMin: yMin - metres, xMax: xMax, yMax: yMax)
    }
}
