import FieldworkGeometry
import FieldworkREST
import FieldworkTiles
import Foundation
import TestSupport
import Testing

@Suite("Packages of tiles", .fewAtATime)
struct PackageTests {
    /// Runs a test with a folder of its own.
    private static func folder(_ body: (URL) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "fieldwork-tiles-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(folder)
    }

    private static func address(_ level: Int, _ column: Int, _ row: Int) throws -> TileAddress {
        try #require(TileAddress(level: level, column: column, row: row))
    }

    private static func tile(_ text: String) throws -> [UInt8] {
        var layer = VectorLayer(name: "roads")
        layer.tag("name", .text(text))
        layer.add(id: 1, kind: .point, commands: [9, 50, 34])
        var tile: [UInt8] = []
        layer.append(to: &tile)
        return try GzipStream.compressed(tile)
    }

    @Test("MBTiles that were written are read back, each tile at its place")
    func mbtiles() throws {
        try Self.folder { folder in
            let file = folder.appending(path: "a.mbtiles").path
            let writer = try MBTilesWriter(path: file, format: .vector)
            for level in 0...3 {
                try writer.add(Self.tile("level \(level)"), at: Self.address(level, 0, (1 << level) - 1))
            }
            try writer.finish(
                TileSetDescription(
                    name: "City", attribution: "© nobody", format: .vector, levels: 0...3,
                    box: PlaneBox(xMin: -1e6, yMin: -2e6, xMax: 3e6, yMax: 4e6),
                    vectorLayers: [["id": "roads", "fields": [:]]]))
            let package = try TilePackages.open(file)
            #expect(package.description.name == "City")
            #expect(package.description.levels == 0...3)
            #expect(package.description.format == .vector)
            #expect(package.description.vectorLayers.first?["id"] == "roads")
            let box = try #require(package.description.box)
            #expect(abs(box.xMin + 1e6) < 0.01 && abs(box.yMax - 4e6) < 0.01)
            #expect(try package.tile(Self.address(3, 0, 7)) == Self.tile("level 3"))
            #expect(try package.tile(Self.address(3, 0, 0)) == nil)
        }
    }

    @Test(
        "GDAL reads the MBTiles that we write",
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/ogrinfo")))
    func gdal() throws {
        try Self.folder { folder in
            let file = folder.appending(path: "a.mbtiles").path
            let writer = try MBTilesWriter(path: file, format: .vector)
            try writer.add(Self.tile("here"), at: Self.address(2, 1, 1))
            try writer.finish(
                TileSetDescription(
                    name: "City", format: .vector, levels: 2...2,
                    box: PlaneBox(xMin: -1e6, yMin: 1e6, xMax: -1e5, yMax: 2e6),
                    vectorLayers: [["id": "roads", "fields": ["name": "String"], "minzoom": 2, "maxzoom": 2]]))
            let told = try ChildProcess.run("/usr/bin/ogrinfo", ["-al", file])
            let text = String(decoding: told.standardOutput, as: UTF8.self)
            #expect(text.contains("Layer name: roads"), "\(text)")
            #expect(text.contains("name (String) = here"), "\(text)")
        }
    }

    // MARK: PMTiles

    private static func varint(_ value: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        ProtobufBytes.varint(UInt64(value), to: &bytes)
        return bytes
    }

    /// PMTiles of three tiles of level 1, the last two equal.
    private static func pmtiles(_ change: (inout [UInt8]) -> Void = { _ in }) throws -> [UInt8] {
        let tiles = [try tile("one"), try tile("two")]
        let numbers = [2, 1, 2, 1, 2, tiles[0].count, tiles[1].count, 1, 0]
        let directory = numbers.flatMap(varint)
        let root = try GzipStream.compressed(directory)
        let metadata = try GzipStream.compressed(Array(#"{"name":"P","vector_layers":[{"id":"roads"}]}"#.utf8))
        var header = Array("PMTiles".utf8) + [3]
        var place = 127
        for count in [root.count, metadata.count, 0, tiles[0].count + tiles[1].count] {
            for number in [place, count] { header += (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) } }
            place += count
        }
        header += [UInt8](repeating: 0, count: 24) + [1, 2, 2, 1, 1, 1]
        header += [UInt8](repeating: 0, count: 127 - header.count)
        var bytes = header + root + metadata + tiles[0] + tiles[1]
        change(&bytes)
        return bytes
    }

    @Test("PMTiles are read along their curve, with runs of equal tiles")
    func pmtilesRead() throws {
        try Self.folder { folder in
            let file = folder.appending(path: "a.pmtiles")
            try Data(Self.pmtiles()).write(to: file)
            let package = try TilePackages.open(file.path)
            #expect(package.description.name == "P")
            #expect(package.description.levels == 1...1)
            // The curve goes down, right, up from the north-western tile.
            #expect(try package.tile(Self.address(1, 0, 0)) == Self.tile("one"))
            #expect(try package.tile(Self.address(1, 0, 1)) == nil)
            #expect(try package.tile(Self.address(1, 1, 1)) == Self.tile("two"))
            #expect(try package.tile(Self.address(1, 1, 0)) == Self.tile("two"))
            #expect(try package.tile(Self.address(0, 0, 0)) == nil)
        }
    }

    @Test("PMTiles that lie are refused with a clear error", arguments: 0..<7)
    func pmtilesBroken(lie: Int) throws {
        try Self.folder { folder in
            let file = folder.appending(path: "a.pmtiles")
            let bytes = try Self.pmtiles { bytes in
                switch lie {
                case 0: bytes.removeLast(bytes.count - 100)
                case 1: bytes[7] = 2
                case 2: bytes[98] = 4
                case 3: bytes[15] = 0x7F
                case 4: bytes[16] = 0xFF
                case 5: bytes[140] ^= 0x55
                default: bytes[101] = 90
                }
            }
            try Data(bytes).write(to: file)
            #expect(throws: TileError.self) {
                let package = try TilePackages.open(file.path)
                _ = try package.tile(Self.address(1, 0, 0))
            }
        }
    }

    @Test("A directory that expands without end is stopped")
    func bomb() throws {
        try Self.folder { folder in
            let file = folder.appending(path: "a.pmtiles")
            let bomb = try GzipStream.compressed(
                [UInt8](repeating: 0, count: FieldworkTiles.Limits.packagePieceBytes + 1))
            let bytes = try Self.pmtiles { bytes in
                for (index, byte) in [UInt8](withUnsafeBytes(of: UInt64(bytes.count).littleEndian, Array.init))
                    .enumerated()
                {
                    bytes[8 + index] = byte
                }
                for (index, byte) in [UInt8](withUnsafeBytes(of: UInt64(bomb.count).littleEndian, Array.init))
                    .enumerated()
                {
                    bytes[16 + index] = byte
                }
                bytes += bomb
            }
            try Data(bytes).write(to: file)
            #expect { _ = try TilePackages.open(file.path) } throws: { ($0 as? TileError)?.code == .tooLarge }
        }
    }

    // MARK: The vendor's packages

    /// A zip file of stored entries.
    private static func zip(_ files: [(name: String, bytes: [UInt8])]) -> [UInt8] {
        func word(_ value: Int, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        var bytes: [UInt8] = []
        var directory: [UInt8] = []
        for file in files {
            let name = Array(file.name.utf8)
            let sizes = word(file.bytes.count, 4) + word(file.bytes.count, 4)
            let entry: [[UInt8]] = [
                word(0x0201_4B50, 4), word(0, 12), word(0, 4), sizes, word(name.count, 2), word(0, 12),
                word(bytes.count, 4), name,
            ]
            let header: [[UInt8]] = [
                word(0x0403_4B50, 4), word(0, 10), word(0, 4), sizes, word(name.count, 2), word(0, 2), name,
            ]
            directory += entry.flatMap { $0 }
            bytes += header.flatMap { $0 }
            bytes += file.bytes
        }
        let start = bytes.count
        let end: [[UInt8]] = [
            word(0x0605_4B50, 4), word(0, 4), word(files.count, 2), word(files.count, 2), word(directory.count, 4),
            word(start, 4), word(0, 2),
        ]
        return bytes + directory + end.flatMap { $0 }
    }

    private static func bundle(_ tile: [UInt8], row: Int, column: Int, size: Int? = nil) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 64 + 128 * 128 * 8)
        let entry = UInt64(bytes.count + 4) | UInt64(size ?? tile.count) << 40
        let place = 64 + 8 * (128 * (row % 128) + column % 128)
        for index in 0..<8 { bytes[place + index] = UInt8(truncatingIfNeeded: entry >> UInt64(8 * index)) }
        return bytes + [UInt8](repeating: 0, count: 4) + tile
    }

    private static func root(rows: Int = 512, wkid: Int = 102_100) -> [UInt8] {
        let lods = (0...3).map { level -> JSONValue in
            ["level": JSONValue(level), "resolution": .number(2 * WebMercator.halfSide / Double(512 << level))]
        }
        let json: JSONValue = [
            "name": "V",
            "tileInfo": [
                "rows": JSONValue(rows), "cols": JSONValue(rows), "spatialReference": ["wkid": JSONValue(wkid)],
                "origin": ["x": .number(-WebMercator.halfSide), "y": .number(WebMercator.halfSide)],
                "lods": .array(lods),
            ],
        ]
        return Array(json.text.utf8)
    }

    @Test("A package of vector tiles gives its tiles, its style and its fonts")
    func vtpk() throws {
        try Self.folder { folder in
            let file = folder.appending(path: "a.vtpk")
            let tile = try Self.tile("three")
            try Data(
                Self.zip([
                    ("p12/root.json", Self.root()), ("p12/resources/styles/root.json", Array(#"{"version":8}"#.utf8)),
                    ("p12/tile/L03/R0000C0000.bundle", Self.bundle(tile, row: 5, column: 2)),
                ])
            ).write(to: file)
            let package = try TilePackages.open(file.path)
            #expect(package.description.format == .vector)
            #expect(package.description.levels == 3...3)
            #expect(try package.tile(Self.address(3, 2, 5)) == tile)
            #expect(try package.tile(Self.address(3, 5, 2)) == nil)
            #expect(try package.resource("styles/root.json") == Array(#"{"version":8}"#.utf8))
            #expect(try package.resource("../../root.json") == nil)
        }
    }

    @Test("A bundle that lies about its tiles, and another grid, are refused")
    func vtpkBroken() throws {
        try Self.folder { folder in
            let file = folder.appending(path: "a.vtpk")
            let tile = try Self.tile("three")
            func read(_ root: [UInt8], size: Int? = nil) throws {
                try Data(
                    Self.zip([
                        ("p12/root.json", root),
                        ("p12/tile/L03/R0000C0000.bundle", Self.bundle(tile, row: 5, column: 2, size: size)),
                    ])
                ).write(to: file)
                _ = try TilePackages.open(file.path).tile(Self.address(3, 2, 5))
            }
            try read(Self.root())
            #expect { try read(Self.root(), size: tile.count + 1) } throws: { ($0 as? TileError)?.code == .broken }
            #expect { try read(Self.root(wkid: 4326)) } throws: { ($0 as? TileError)?.code == .unsupported }
            #expect(throws: TileError.self) { try read(Self.root(rows: 500)) }
            #expect { try read([]) } throws: { ($0 as? TileError)?.code == .unknownFormat }
        }
    }

    /// A package that the vendor's own software made; kept beside the repository where there is one.
    private static let usa = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "shared/data/tiles/Usa.tpkx")

    @Test(
        "A package of images by the vendor's own software is read",
        .enabled(if: FileManager.default.fileExists(atPath: usa.path)))
    func tpkx() throws {
        let package = try TilePackages.open(Self.usa.path)
        #expect(package.description.name == "Usa")
        #expect(package.description.format == .png)
        #expect(package.description.levels == 0...5)
        // The only tiles of levels 0 and 1 are broken in this file: their length stands where they should begin.
        for level in 2...5 {
            // A tile of the middle of the country.
            let box = PlaneBox(xMin: -1.09e7, yMin: 4.7e6, xMax: -1.09e7, yMax: 4.7e6)
            let (columns, rows) = box.tiles(level: level)
            let tile = try #require(try package.tile(Self.address(level, columns.lowerBound, rows.lowerBound)))
            #expect(TileSetDescription.Format(signature: tile) == .png)
        }
        #expect(try package.tile(Self.address(6, 0, 0)) == nil)
    }

    @Test(
        "What is no package is refused", arguments: ["", "PK", "hello", "SQLite format 3\0", "PMTiles", "PMTiles\u{3}"])
    func foreign(text: String) throws {
        try Self.folder { folder in
            let file = folder.appending(path: "a")
            try Data(text.utf8).write(to: file)
            #expect(throws: TileError.self) { try TilePackages.open(file.path) }
            #expect(throws: TileError.self) { try TilePackages.open(folder.path) }
            #expect(throws: TileError.self) { try TilePackages.open(folder.path + "/none") }
        }
    }

    @Test("A view that never ends is stopped")
    func endlessView() throws {
        try Self.folder { folder in
            let file = folder.appending(path: "a.mbtiles").path
            let database = try TileDatabase(path: file, creates: true)
            try database.run("CREATE TABLE metadata (name TEXT, value TEXT)")
            try database.run("INSERT INTO metadata VALUES ('format', 'pbf'), ('minzoom', '0'), ('maxzoom', '3')")
            try database.run(
                """
                CREATE VIEW tiles AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)
                SELECT x AS zoom_level, x AS tile_column, x AS tile_row, NULL AS tile_data FROM n
                """)
            let package = try TilePackages.open(file)
            #expect { _ = try package.tile(Self.address(0, 0, 0)) } throws: { ($0 as? TileError)?.code == .tooLarge }
        }
    }

    @Test("A basemap appears whole, is replaced only when that is said, and goes")
    func basemapFolder() throws {
        try Self.folder { folder in
            let file = folder.appending(path: "x.mbtiles")
            try Data("one".utf8).write(to: file)
            let basemaps = BasemapFolder(data: folder)
            try basemaps.add(file, as: "City", replaces: false)
            #expect(basemaps.names() == ["City"])
            #expect(FileManager.default.fileExists(atPath: file.path))
            #expect(throws: TileError.self) { try basemaps.add(file, as: "city", replaces: false) }
            try Data("two".utf8).write(to: file)
            try basemaps.add(file, as: "CITY", replaces: true)
            #expect(basemaps.names() == ["CITY"])
            #expect(try Data(contentsOf: basemaps.file("CITY")) == Data("two".utf8))
            for name in ["", "../x", "a/b", "a b", ".x", String(repeating: "a", count: 101)] {
                #expect(throws: TileError.self) { try basemaps.add(file, as: name, replaces: true) }
            }
            #expect(try basemaps.remove("city"))
            #expect(try !basemaps.remove("city"))
            #expect(basemaps.names().isEmpty)
            let left = try FileManager.default.contentsOfDirectory(atPath: basemaps.url.path)
            #expect(left.isEmpty)
        }
    }
}
