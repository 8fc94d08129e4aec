package import FieldworkGeometry
import Foundation

/// A file of ready tiles: what it says of itself, and its tiles as they stand in it.
package protocol TilePackage: Sendable {
    var description: TileSetDescription { get }
    /// A tile's bytes; nil for a tile that the package doesn't have. Vector tiles may be compressed.
    func tile(_ address: TileAddress) throws(TileError) -> [UInt8]?
    /// Whether there is a tile, at less cost than to read it.
    func has(_ address: TileAddress) throws(TileError) -> Bool
    /// A file of the package's style: the style itself, a sheet of sprites, a range of glyphs. nil where there is none.
    func resource(_ path: String) throws(TileError) -> [UInt8]?
    /// The names of the files of the style, in order.
    func resourcePaths() throws(TileError) -> [String]
}

extension TilePackage {
    package func resource(_ path: String) throws(TileError) -> [UInt8]? { nil }
    package func resourcePaths() throws(TileError) -> [String] { [] }
}

/// What a set of tiles is.
package struct TileSetDescription: Sendable, Hashable {
    package enum Format: String, Sendable, Hashable, CaseIterable {
        case vector = "pbf"
        case png, jpeg, webp

        /// - Parameter name: as packages write it.
        init?(name: String) {
            switch name.lowercased() {
            case "pbf", "mvt", "application/vnd.mapbox-vector-tile": self = .vector
            case "png", "png8", "png24", "png32", "image/png": self = .png
            case "jpg", "jpeg", "image/jpeg", "mixed": self = .jpeg
            case "webp", "image/webp": self = .webp
            default: return nil
            }
        }

        package var contentType: String {
            switch self {
            case .vector: "application/x-protobuf"
            case .png: "image/png"
            case .jpeg: "image/jpeg"
            case .webp: "image/webp"
            }
        }

        /// What the bytes of an image say that it is; nil for what is no image.
        package init?(signature bytes: [UInt8]) {
            if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47]) {
                self = .png
            } else if bytes.starts(with: [0xFF, 0xD8, 0xFF]) {
                self = .jpeg
            } else if bytes.starts(with: Array("RIFF".utf8)), bytes.dropFirst(8).starts(with: Array("WEBP".utf8)) {
                self = .webp
            } else {
                return nil
            }
        }
    }

    package var name: String
    package var attribution: String
    package var format: Format
    package var levels: ClosedRange<Int>
    /// Where there are tiles, in metres of the plane; nil when the package doesn't say.
    package var box: PlaneBox?
    /// Layers of vector tiles, as TileJSON describes them.
    package var vectorLayers: [JSONValue]
    /// The mark of a style that knows the layers; nil for tiles that others made.
    package var schema: String?

    package init(
        name: String, attribution: String = "", format: Format, levels: ClosedRange<Int>, box: PlaneBox? = nil,
        vectorLayers: [JSONValue] = [], schema: String? = nil
    ) {
        self.name = name
        self.attribution = attribution
        self.format = format
        self.levels = levels
        self.box = box
        self.vectorLayers = vectorLayers
        self.schema = schema
    }

    /// The box of degrees that packages write; nil where it is none.
    static func box(west: Double, south: Double, east: Double, north: Double) -> PlaneBox? {
        guard [west, south, east, north].allSatisfy(\.isFinite), west < east, south < north, abs(west) <= 360,
            abs(east) <= 360
        else { return nil }
        return PlaneBox(
            xMin: WebMercator.x(longitude: west), yMin: WebMercator.y(latitude: south),
            xMax: WebMercator.x(longitude: east), yMax: WebMercator.y(latitude: north))
    }

    /// The levels of a package, which must be some that a map has.
    static func levels(_ least: Int, _ most: Int) throws(TileError) -> ClosedRange<Int> {
        guard least >= 0, least <= most, most <= Limits.tileLevel else {
            throw TileError(
                .unsupported,
                "The package has tiles of the levels \(least) to \(most); 0 to \(Limits.tileLevel) can be.")
        }
        return least...most
    }
}

/// Opens the packages that Fieldwork reads, whatever the name of the file.
package enum TilePackages {
    /// - Parameter part: the bytes of the file that are the package; nil for all of them.
    package static func open(_ path: String, part: Range<Int>? = nil) throws(TileError) -> any TilePackage {
        let file = try PackageFile(path: path, part: part)
        let head = try file.bytes(at: 0, count: min(16, file.size))
        if head.starts(with: Array("PMTiles".utf8)) { return try PMTilesPackage(file) }
        if head.starts(with: [0x50, 0x4B]) { return try CompactPackage(ZipArchive(file)) }
        if head.starts(with: Array("SQLite format 3".utf8)) {
            guard part == nil else {
                throw TileError(.unsupported, "Tiles in a database are read in a file of their own only.")
            }
            return try SQLitePackage.open(path)
        }
        throw TileError(
            .unknownFormat,
            "The file is no package of tiles. MBTiles, PMTiles, GeoPackages with tiles, .vtpk and .tpkx can be read.")
    }
}
