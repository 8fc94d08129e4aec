import FieldworkGeometry
import FieldworkREST
import FieldworkTiles
import Foundation

/// The tiles of a small town, of which there are several versions: some tiles are others in each of them.
struct TownTiles {
    static let levels = 11...14
    static let name = "Town"
    private static let side = 2 * WebMercator.halfSide / Double(1 << 14)

    /// Six by six tiles of level 14, which meet in more than one tile of the levels above.
    static let box = PlaneBox(xMin: -3 * side, yMin: -3 * side, xMax: 3 * side - 1, yMax: 3 * side - 1)

    /// A box whose edges lie at parts of a tile, from the south-west corner.
    /// - Parameters: in quarters of a tile.
    static func box(x: Int, y: Int, width: Int, height: Int) -> PlaneBox {
        PlaneBox(
            xMin: box.xMin + Double(x) * side / 4, yMin: box.yMin + Double(y) * side / 4,
            xMax: min(box.xMin + Double(x + width) * side / 4, box.xMax),
            yMax: min(box.yMin + Double(y + height) * side / 4, box.yMax))
    }

    /// What is on a tile. The sea in the west is on several tiles alike, and about a third of the others of the deepest level changes from
    /// version to version.
    static func text(_ tile: TileAddress, version: Int) -> String {
        let column = tile.column - (1 << tile.level) / 2
        if tile.level == 14, column < -1 { return "sea" }
        let mark = (tile.level * 31 + tile.column * 17 + tile.row * 7) % 3
        return "\(tile.level)/\(tile.row)/\(tile.column)"
            + (tile.level == 14 && mark == 0 ? " of version \(version)" : "")
    }

    static func bytes(_ tile: TileAddress, version: Int) -> [UInt8] {
        var layer = VectorLayer(name: "roads")
        layer.tag("name", .text(text(tile, version: version)))
        layer.add(id: 1, kind: .point, commands: [9, 50, 34])
        var bytes: [UInt8] = []
        layer.append(to: &bytes)
        return bytes
    }

    static func tiles(in box: PlaneBox) -> [TileAddress] {
        var tiles: [TileAddress] = []
        for level in levels {
            TileCoverage(box: box).forEach(level: level) { (tile: TileAddress) in
                tiles.append(tile)
                return true
            }
        }
        return tiles
    }

    /// Puts a version in the place of the one that the server has.
    static func serve(version: Int, in folder: BasemapFolder) throws {
        let draft = folder.url.deletingLastPathComponent().appending(path: "town-\(version).mbtiles")
        let writer = try MBTilesWriter(path: draft.path, format: .vector)
        for tile in tiles(in: box) { try writer.add(bytes(tile, version: version), at: tile) }
        try writer.finish(
            TileSetDescription(
                name: name, format: .vector, levels: levels, box: box, vectorLayers: [["id": "roads"]]))
        try folder.add(draft, as: name, replaces: true, moves: true)
    }
}
