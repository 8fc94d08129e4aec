import FieldworkREST
import Foundation

/// A file of tiles that is being written.
package protocol TilePackageWriter: AnyObject {
    /// Whether the file has room for a style, its pictures and its glyphs.
    var takesStyle: Bool { get }
    /// Adds a tile, each one once. Those of a square of 128 rows and columns of a level come together, as `TileCoverage` gives
    /// them. Vector tiles may be compressed by gzip.
    func add(_ bytes: [UInt8], at tile: TileAddress) throws(TileError)
    /// Adds a file of the style: `styles/root.json`, `sprites/sprite.png`, `fonts/NAME/0-255.pbf`.
    func addResource(_ bytes: [UInt8], as path: String) throws(TileError)
    /// Writes what the file says of itself; it is whole when this returns.
    func finish(_ description: TileSetDescription) throws(TileError)
}

extension TilePackageWriter {
    package var takesStyle: Bool { false }
    package func addResource(_ bytes: [UInt8], as path: String) throws(TileError) {}

    /// A tile as files keep it: vector tiles are compressed.
    static func packed(_ bytes: [UInt8], _ format: TileSetDescription.Format) throws(TileError) -> [UInt8] {
        guard format == .vector, !bytes.starts(with: [0x1F, 0x8B]) else { return bytes }
        do {
            return try GzipStream.compressed(bytes)
        } catch {
            throw TileError(.unwritable, "A tile can't be compressed.")
        }
    }
}

/// The forms of files in which tiles are handed on.
package enum TileFileForm: Sendable, Hashable {
    /// The vendor's packages: `.vtpk` of vector tiles with what draws them, `.tpkx` of images.
    case compact
    /// A database of SQLite with a row for each tile, as MBTiles 1.3 says.
    case mbtiles
    /// One file that is read in pieces, also from a plain web server, as PMTiles 3 says.
    case pmtiles

    /// The form that the ending of a file's name asks for: the vendor's unless it names another one.
    package init(fileExtension: String) {
        switch fileExtension.lowercased() {
        case "mbtiles": self = .mbtiles
        case "pmtiles": self = .pmtiles
        default: self = .compact
        }
    }

    /// - Parameter url: is made anew.
    func writer(_ url: URL, format: TileSetDescription.Format) throws(TileError) -> any TilePackageWriter {
        switch self {
        case .compact: try CompactPackageWriter(url, format: format)
        case .mbtiles: try MBTilesWriter(path: url.path, format: format)
        case .pmtiles: try PMTilesWriter(url, format: format)
        }
    }
}
