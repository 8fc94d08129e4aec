import FieldworkREST
import FieldworkTiles
import Foundation

@testable import FieldworkCollect

/// What must hold of the tiles of a device.
extension AreaSimulation {
    /// An area that had a basemap has one, with all of its tiles, and each tile is on the device once.
    func checkAreas() throws {
        for area in shelf.areas() {
            guard let stage = shelf.basemapStage(of: area.id) else {
                if drawn.contains(area.id) { complain(.areasAreWhole, "area \(area.text.prefix(4)) had a basemap") }
                continue
            }
            drawn.insert(area.id)
            for layer in shelf.basemapWish(stage)?.layers ?? [] { try checkTiles(of: stage, layer) }
        }
        guard plan.tellsVersion, sabotage != .tellsOneVersion else { return }
        let files = try sharedFiles().map(\.lastPathComponent)
        let kinds = Set(files.compactMap { $0.split(separator: "-").first })
        if kinds.count < files.count { complain(.onlyOnce, "one version is in several files: \(files)") }
    }

    private func checkTiles(of id: UUID, _ layer: AreaShelf.BasemapWish.Layer) throws {
        let name = id.uuidString.prefix(4)
        guard let file = layer.tiles.map({ shelf.tiles.url($0.file) }), let package = try? TilePackages.open(file.path),
            let box = try SharedTileFile(file).holder(id)?.box
        else { return complain(.areasAreWhole, "the tiles of area \(name) are gone") }
        // Not before rest, and only of the stage that the area has its tiles from.
        let oldest = isAtRest ? asked[id] ?? 1 : 1
        var versions = Set(1...version)
        let needed = TownTiles.tiles(in: box)
        for tile in needed {
            guard let packed = try package.tile(tile) else {
                return complain(.areasAreWhole, "area \(name) has no tile \(tile)")
            }
            let bytes = try GzipReader.expanded(packed, maximum: 10_000)
            let fitting = Set((1...version).filter { bytes == TownTiles.bytes(tile, version: $0) })
            if fitting.isEmpty { complain(.areasAreWhole, "area \(name): the tile \(tile) is another") }
            versions.formIntersection(fitting)
        }
        looked(tiles: needed.count)
        guard plan.tellsVersion else { return }
        if versions.isEmpty { return complain(.oneVersion, "the tiles of area \(name) are of several versions") }
        if versions.allSatisfy({ $0 < oldest }) {
            complain(.renewalsArrive, "area \(name) has version \(versions.max() ?? 0), and \(oldest) was asked for")
        }
    }

    /// At rest every area has the basemap of its last stage, and there is nothing else.
    func checkRest() throws {
        for area in shelf.areas() {
            looked(areas: 1)
            if let stage = shelf.basemapStage(of: area.id), shelf.basemapWish(stage)?.isRenewing == true {
                complain(.workGoesOn, "area \(area.text.prefix(4)) still waits for newer tiles at rest")
            }
            if shelf.basemapStage(of: area.id) != shelf.stages(of: area.id).first {
                complain(.workGoesOn, "area \(area.text.prefix(4)) has no basemap at rest")
            }
        }
        for area in shelf.all() {
            let files = try FileManager.default.contentsOfDirectory(atPath: shelf.folder(area.id).path)
            if let left = files.first(where: { $0.hasPrefix("basemap-") }) {
                complain(.nothingIsLeft, "area \(area.text.prefix(4)) has still \(left)")
            }
        }
        // Those that extend an area and did not take its place are on their way: the story ends before.
        let used = Set(shelf.areas().compactMap { shelf.basemapStage(of: $0.id) })
            .union(shelf.areas().compactMap { shelf.growth(of: $0)?.id })
        for file in try sharedFiles() {
            let holders = try SharedTileFile(file).holders()
            if let other = holders.first(where: { !used.contains($0.id) }) {
                complain(.nothingIsLeft, "\(file.lastPathComponent) is kept for \(other.id.uuidString.prefix(4))")
            }
            let needed = Set(holders.flatMap { TownTiles.tiles(in: $0.box) })
            let there = try TileDatabase(path: file.path).run("SELECT count(*) FROM tiles").first?.first
            if there != .integer(needed.count) || needed.isEmpty {
                complain(
                    .nothingIsLeft,
                    "\(file.lastPathComponent) has \(there.map { "\($0)" } ?? "-") tiles of \(needed.count)")
            }
        }
    }
}
