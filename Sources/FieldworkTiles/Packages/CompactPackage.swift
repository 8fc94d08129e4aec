import FieldworkGeometry
import FieldworkREST
import Foundation

/// The vendor's packages: `.tpkx` of images and `.vtpk` of vector tiles. Both are zip files of bundles, each of which holds 128
/// rows and columns of one level (Compact Cache V2).
package struct CompactPackage: TilePackage {
    package let description: TileSetDescription
    private let archive: ZipArchive
    /// What stands before the names of all files: `p12/` in packages of vector tiles.
    private let root: String
    private let tiles: String
    /// The package's number of each level of the grid.
    private let numbers: [Int: Int]

    package init(_ archive: ZipArchive) throws(TileError) {
        self.archive = archive
        let isVector = archive.entries["p12/root.json"] != nil
        root = isVector ? "p12/" : ""
        let bytes = try archive.contents("\(root)root.json") ?? []
        guard let json = try? JSONParser.parse(bytes) else {
            throw TileError(.unknownFormat, "The zip file has no root.json: it is no package of tiles.")
        }
        let path = json["tileBundlesPath"]?.stringValue ?? "./tile"
        tiles = root + (path.hasPrefix("./") ? String(path.dropFirst(2)) : path)
        numbers = try Self.levels(json)
        let info = try archive.contents("iteminfo.json") ?? []
        let item = try? JSONParser.parse(info)
        let format =
            isVector
            ? .vector
            : (json["tileImageInfo"]?["format"] ?? json["tileInfo"]?["format"])?.stringValue
                .flatMap(TileSetDescription.Format.init(name:)) ?? .png
        var present = Set<Int>()
        for (level, number) in numbers {
            let prefix = Self.folder(tiles, number)
            if archive.entries.keys.contains(where: { $0.hasPrefix(prefix) && $0.hasSuffix(".bundle") }) {
                present.insert(level)
            }
        }
        guard let least = present.min(), let most = present.max() else {
            throw TileError(.broken, "The package has no tiles in the Web Mercator grid.")
        }
        description = TileSetDescription(
            name: json["name"]?.stringValue ?? item?["title"]?.stringValue ?? "",
            attribution: json["copyrightText"]?.stringValue ?? item?["accessInformation"]?.stringValue ?? "",
            format: format, levels: try TileSetDescription.levels(least, most), box: Self.box(json["fullExtent"]),
            vectorLayers: json[CompactPackageDocument.ownMember]?["vectorLayers"]?.arrayValue ?? [],
            schema: json[CompactPackageDocument.ownMember]?["schema"]?.stringValue)
    }

    /// The levels of the grid by what the package says of its own: which must be those of web maps, whatever it calls them.
    private static func levels(_ json: JSONValue) throws(TileError) -> [Int: Int] {
        let info = json["tileInfo"]
        let reference = info?["spatialReference"]
        let wkids = [reference?["latestWkid"], reference?["wkid"]].compactMap { $0?.integerValue }
        guard let rows = info?["rows"]?.doubleValue, rows > 0,
            wkids.contains(where: { [3857, 102_100, 102_113].contains($0) }),
            abs((info?["origin"]?["x"]?.doubleValue ?? 0) + WebMercator.halfSide) < 1,
            abs((info?["origin"]?["y"]?.doubleValue ?? 0) - WebMercator.halfSide) < 1
        else {
            throw TileError(.unsupported, "The package's tiles don't lie in the Web Mercator grid of web maps.")
        }
        var numbers: [Int: Int] = [:]
        for lod in info?["lods"]?.arrayValue ?? [] {
            guard let number = lod["level"]?.integerValue, let resolution = lod["resolution"]?.doubleValue,
                resolution > 0
            else { continue }
            let level = log2(2 * WebMercator.halfSide / (resolution * rows))
            let whole = level.rounded()
            guard abs(level - whole) < 1e-4, whole >= 0, whole <= Double(Limits.tileLevel), (0...99).contains(number)
            else { continue }
            numbers[Int(whole)] = Int(number)
        }
        return numbers
    }

    private static func box(_ json: JSONValue?) -> PlaneBox? {
        let sides = ["xmin", "ymin", "xmax", "ymax"].compactMap { json?[$0]?.doubleValue }
        guard sides.count == 4, sides.allSatisfy(\.isFinite), sides[0] < sides[2], sides[1] < sides[3] else {
            return nil
        }
        return PlaneBox(xMin: sides[0], yMin: sides[1], xMax: sides[2], yMax: sides[3])
    }

    private static func folder(_ tiles: String, _ number: Int) -> String {
        "\(tiles)/L\(number < 10 ? "0" : "")\(number)/"
    }

    package func tile(_ address: TileAddress) throws(TileError) -> [UInt8]? {
        guard let place = try place(address) else { return nil }
        return try archive.bytes(of: place.bundle, at: place.offset, count: place.size)
    }

    package func has(_ address: TileAddress) throws(TileError) -> Bool { try place(address) != nil }

    /// Where the index of a bundle says that a tile lies.
    private func place(_ address: TileAddress) throws(TileError) -> (bundle: ZipArchive.Entry, offset: Int, size: Int)?
    {
        guard let number = numbers[address.level] else { return nil }
        var first = BundleWriter.Place(address)
        // The package may count its levels in its own way.
        first.level = number
        guard let bundle = archive.entries["\(tiles)/\(first.name)"] else { return nil }
        let place = 64 + 8 * (BundleWriter.side * (address.row - first.row) + address.column - first.column)
        let index = try archive.bytes(of: bundle, at: place, count: 8)
        guard let entry = index.littleEndian(at: 0, bytes: 8) else { return nil }
        let (offset, size) = (Int(entry & 0xFF_FFFF_FFFF), Int(entry >> 40))
        guard size > 0 else { return nil }
        return (bundle, offset, size)
    }

    package func resource(_ path: String) throws(TileError) -> [UInt8]? {
        try archive.contents("\(root)resources/\(path)")
    }

    package func resourcePaths() throws(TileError) -> [String] {
        let prefix = "\(root)resources/"
        return archive.entries.keys.filter { $0.hasPrefix(prefix) && !$0.hasSuffix("/") }
            .map { String($0.dropFirst(prefix.count)) }.sorted()
    }
}
