import FieldworkGeometry
import FieldworkREST
package import Foundation

/// Writes the vendor's packages of tiles: `.vtpk` of vector tiles with what draws them, `.tpkx` of images.
package final class CompactPackageWriter: TilePackageWriter {
    private let format: TileSetDescription.Format
    private let bundleURL: URL
    private let archive: ZipWriter
    private var bundle: BundleWriter?
    private var written: Set<BundleWriter.Place> = []
    private var tiles: Set<TileAddress> = []

    /// The ending of the names of such packages.
    package static func fileExtension(of format: TileSetDescription.Format) -> String {
        format == .vector ? "vtpk" : "tpkx"
    }

    /// - Parameter url: is made anew; while the package is made, a file beside it holds a part of it.
    package init(_ url: URL, format: TileSetDescription.Format) throws(TileError) {
        self.format = format
        bundleURL = URL(filePath: "\(url.path).bundle")
        archive = try ZipWriter(url)
    }

    deinit { try? FileManager.default.removeItem(at: bundleURL) }

    package var takesStyle: Bool { format == .vector }

    private var root: String { format == .vector ? "p12/" : "" }

    package func add(_ bytes: [UInt8], at tile: TileAddress) throws(TileError) {
        let place = BundleWriter.Place(tile)
        if let open = bundle?.place, open != place { try closeBundle() }
        if bundle == nil {
            guard written.insert(place).inserted else {
                throw TileError(.broken, "The tiles of a square of the package don't come together.")
            }
            bundle = try BundleWriter(place, at: bundleURL)
        }
        try bundle?.add(try Self.packed(bytes, format), at: tile)
        tiles.insert(tile)
    }

    private func closeBundle() throws(TileError) {
        guard let open = bundle else { return }
        bundle = nil
        let name = open.place.name
        let url = try open.finish()
        try archive.add(try PackageFile(path: url.path), as: "\(root)tile/\(name)")
        try? FileManager.default.removeItem(at: url)
    }

    package func addResource(_ bytes: [UInt8], as path: String) throws(TileError) {
        try closeBundle()
        try archive.add(bytes, as: "\(root)resources/\(path)")
    }

    package func finish(_ description: TileSetDescription) throws(TileError) {
        try closeBundle()
        let document = CompactPackageDocument(description, levels: levels ?? description.levels)
        if format == .vector {
            try archive.add(Array(document.vectorRoot.text.utf8), as: "p12/root.json")
            let index: JSONValue = ["index": TileIndex.json(tiles)]
            try archive.add(Array(index.text.utf8), as: "p12/tilemap/root.json")
        } else {
            try archive.add(Array(document.imageRoot.text.utf8), as: "root.json")
        }
        try archive.add(Array(document.item.text.utf8), as: "iteminfo.json")
        try archive.finish()
    }

    private var levels: ClosedRange<Int>? {
        let present = Set(tiles.map(\.level))
        guard let least = present.min(), let most = present.max() else { return nil }
        return least...most
    }
}

/// Which tiles a package of vector tiles has, as it says itself: each tile by its four parts.
enum TileIndex {
    static func json(_ tiles: Set<TileAddress>) -> JSONValue {
        var inner = Set<TileAddress>()
        for tile in tiles {
            var level = tile.level - 1
            while level >= 0, inner.insert(tile.ancestor(level: level)).inserted { level -= 1 }
        }
        func node(_ tile: TileAddress) -> JSONValue {
            guard inner.contains(tile) || tile.level == 0 else { return tiles.contains(tile) ? 1 : 0 }
            return .array(
                [(0, 0), (0, 1), (1, 0), (1, 1)].map { row, column in
                    TileAddress(level: tile.level + 1, column: 2 * tile.column + column, row: 2 * tile.row + row)
                        .map(node) ?? 0
                })
        }
        return TileAddress(level: 0, column: 0, row: 0).map(node) ?? []
    }
}
