import FieldworkGeometry
import FieldworkREST
import Foundation
import TestSupport
import Testing

@testable import FieldworkTiles

@Suite("Parts of packages of tiles", .fewAtATime)
struct TileExportTests {
    private static let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 1, 2, 3]

    private static func folder(_ body: (URL) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "fieldwork-export-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(folder)
    }

    private static func tile(_ text: String) throws -> [UInt8] {
        var layer = VectorLayer(name: "roads")
        layer.tag("name", .text(text))
        layer.add(id: 1, kind: .point, commands: [9, 50, 34])
        var tile: [UInt8] = []
        layer.append(to: &tile)
        return try GzipStream.compressed(tile)
    }

    /// All tiles of the levels 0 to 8 in a corner of the plane of 3 by 3 tiles of level 8, each with its own name. At level 8 they lie in
    /// two squares of 128 columns.
    private static func source(_ folder: URL) throws -> any TilePackage {
        let file = folder.appending(path: "source.mbtiles")
        let writer = try MBTilesWriter(path: file.path, format: .vector)
        let side = 2 * WebMercator.halfSide / 256
        let box = PlaneBox(xMin: -side - 1, yMin: -1, xMax: side * 2 - 1, yMax: side * 2 - 1)
        for level in 0...8 {
            try TileCoverage(box: box).forEach(level: level) { tile in
                try writer.add(Self.tile("\(tile.level)/\(tile.row)/\(tile.column) Ж"), at: tile)
                return true
            }
        }
        try writer.finish(
            TileSetDescription(
                name: "City", attribution: "© City", format: .vector, levels: 0...8, box: box,
                vectorLayers: [["id": "roads"]]))
        return try TilePackages.open(file.path)
    }

    @Test("A whole package is written in the vendor's form and read back, tile by tile, with its style and its glyphs")
    func whole() throws {
        try Self.folder { folder in
            let source = try Self.source(folder)
            let target = folder.appending(path: "city.vtpk")
            let export = TileExport(of: source, title: "The city", coverage: nil)
            let written = try export.write(to: target)
            #expect(written == export.places(most: 1_000))
            let read = try TilePackages.open(target.path)
            #expect(read.description.name == "The city")
            #expect(read.description.attribution == "© City")
            #expect(read.description.levels == 0...8)
            #expect(read.description.vectorLayers == [["id": "roads"]])
            var compared = 0
            for level in 0...8 {
                try TileCoverage(box: #require(source.description.box)).forEach(level: level) { tile in
                    let (there, wanted) = (try read.tile(tile), try source.tile(tile))
                    #expect(there == wanted, "\(tile)")
                    compared += 1
                    return true
                }
            }
            #expect(compared == written)
            #expect(try read.tile(#require(TileAddress(level: 8, column: 3, row: 3))) == nil)
            let style = try JSONParser.parse(#require(try read.resource("styles/root.json")))
            #expect(style["layers"]?.arrayValue?.contains { $0["source-layer"] == "roads" } == true)
            #expect(try read.resource("sprites/sprite.json") != nil)
            // The file that was in the making beside it is gone.
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
                    == ["city.vtpk", "source.mbtiles"])
        }
    }

    @Test("A part is written as MBTiles and as PMTiles and read back, tile by tile", arguments: ["mbtiles", "pmtiles"])
    func otherForms(_ name: String) throws {
        try Self.folder { folder in
            let source = try Self.source(folder)
            let target = folder.appending(path: "city.\(name)")
            let export = TileExport(of: source, title: "The city", coverage: nil)
            let written = try export.write(to: target, as: TileFileForm(fileExtension: name))
            #expect(written == export.places(most: 1_000))
            let read = try TilePackages.open(target.path)
            #expect(read.description.name == "The city")
            #expect(read.description.attribution == "© City")
            #expect(read.description.levels == 0...8)
            #expect(read.description.vectorLayers == [["id": "roads"]])
            let (there, wanted) = (try #require(read.description.box), try #require(source.description.box))
            #expect(abs(there.xMin - wanted.xMin) < 0.1 && abs(there.yMax - wanted.yMax) < 0.1)
            for level in 0...8 {
                try TileCoverage(box: wanted).forEach(level: level) { tile in
                    let (there, wanted) = (try read.tile(tile), try source.tile(tile))
                    #expect(there == wanted, "\(tile)")
                    return true
                }
            }
            #expect(try read.tile(#require(TileAddress(level: 8, column: 3, row: 3))) == nil)
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
                    == ["city.\(name)", "source.mbtiles"])
        }
    }

    @Test("In PMTiles equal tiles are there once, and a large file has directories below its root")
    func largePMTiles() throws {
        try Self.folder { folder in
            let file = folder.appending(path: "large.pmtiles")
            let writer = try PMTilesWriter(file, format: .png)
            // Every third tile is the sea; the others differ in bytes and in length, so that directories hardly shrink.
            func bytes(_ column: Int, _ row: Int) -> [UInt8] {
                guard (column + row) % 3 > 0 else { return [1, 2, 3] }
                let number = (column * 7_919 + row * 104_729) % 1_000_003
                return (0..<(8 + number % 57)).map { UInt8(truncatingIfNeeded: number >> ($0 % 16)) } + [
                    UInt8(truncatingIfNeeded: column), UInt8(truncatingIfNeeded: row),
                ]
            }
            // They come row by row, which is not the order of the curve.
            for row in 0..<160 {
                for column in 0..<160 {
                    try writer.add(
                        bytes(column, row), at: #require(TileAddress(level: 8, column: column, row: row)))
                }
            }
            try writer.finish(TileSetDescription(name: "Large", format: .png, levels: 8...8))
            let head = try PackageFile(path: file.path).bytes(at: 0, count: 127)
            // Tiles, contents, and the length of the directories below the root.
            #expect(head.littleEndian(at: 72, bytes: 8) == 25_600)
            #expect(try #require(head.littleEndian(at: 88, bytes: 8)) <= 17_100)
            #expect(try #require(head.littleEndian(at: 48, bytes: 8)) > 0)
            #expect(try #require(head.littleEndian(at: 16, bytes: 8)) <= 16_384 - 127)
            let read = try TilePackages.open(file.path)
            for row in 0..<160 {
                for column in 0..<160 {
                    let tile = try #require(TileAddress(level: 8, column: column, row: row))
                    guard try read.tile(tile) != bytes(column, row) else { continue }
                    Issue.record("\(tile)")
                    return
                }
            }
            #expect(try read.tile(#require(TileAddress(level: 8, column: 160, row: 0))) == nil)
        }
    }

    @Test("A tile that comes twice is refused, and no file is left beside the PMTiles")
    func tileTwice() throws {
        try Self.folder { folder in
            let file = folder.appending(path: "twice.pmtiles")
            let tile = try #require(TileAddress(level: 3, column: 1, row: 2))
            do {
                let writer = try PMTilesWriter(file, format: .png)
                try writer.add([1], at: tile)
                try writer.add([2], at: tile)
                #expect(throws: TileError.self) {
                    try writer.finish(TileSetDescription(name: "", format: .png, levels: 3...3))
                }
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
        }
    }

    @Test("Glyphs come along for the writing that the tiles have, and for no other")
    func glyphs() throws {
        var texts = TileTexts()
        texts.add(try Self.tile("Main Street"))
        #expect(texts.ranges == [0])
        texts.add(try Self.tile("Улица"))
        #expect(texts.ranges == [0, 1_024])
        texts.add([0x1F, 0x8B, 1, 2])
        #expect(texts.ranges == [0, 1_024])
        let style: JSONValue = [
            "layers": [
                ["layout": ["text-font": ["Noto Sans Bold", "Other"]]],
                [
                    "layout": [
                        "text-font": [
                            "case", ["has", "x"], ["literal", ["Noto Sans Italic"]],
                            ["literal", ["Noto Sans Regular"]],
                        ]
                    ]
                ],
            ]
        ]
        let fonts = PackageStyle.fonts(style)
        #expect(Set(fonts).isSuperset(of: ["Noto Sans Bold", "Noto Sans Italic", "Noto Sans Regular"]))
        #expect(!fonts.contains("Other"))
    }

    @Test("A part has the tiles that meet a polygon, at the levels that are wanted")
    func part() throws {
        try Self.folder { folder in
            let source = try Self.source(folder)
            let side = 2 * WebMercator.halfSide / 256
            // A triangle that touches two of the four tiles of level 8 in its box.
            let points = [(0.1, 0.1), (1.9, 0.1), (0.1, 0.9)].map {
                Point(x: $0.0 * side, y: $0.1 * side, spatialReference: .webMercator)
            }
            let coverage = try #require(TileCoverage(Polygon(points: points, spatialReference: .webMercator)))
            let target = folder.appending(path: "part.vtpk")
            let export = TileExport(of: source, title: "Part", coverage: coverage, levels: [8, 7, 20])
            #expect(export.places(most: 100) == 3)
            #expect(export.places(most: 2) == nil)
            #expect(try export.write(to: target) == 3)
            let read = try TilePackages.open(target.path)
            #expect(read.description.levels == 7...8)
            #expect(try read.tile(#require(TileAddress(level: 8, column: 128, row: 127))) != nil)
            #expect(try read.tile(#require(TileAddress(level: 8, column: 129, row: 127))) != nil)
            #expect(try read.tile(#require(TileAddress(level: 8, column: 127, row: 127))) == nil)
            #expect(try read.tile(#require(TileAddress(level: 6, column: 32, row: 31))) == nil)
            let estimate = try export.estimate()
            #expect(estimate.tiles == 3)
            let size = try #require(
                try FileManager.default.attributesOfItem(atPath: target.path)[.size] as? NSNumber)
            #expect(abs(Double(estimate.bytes) - size.doubleValue) < 0.15 * size.doubleValue, "\(estimate) \(size)")
        }
    }

    @Test("The same tiles make the same bytes")
    func equal() throws {
        try Self.folder { folder in
            let export = TileExport(of: try Self.source(folder), title: "A", coverage: nil)
            let files = ["a.vtpk", "b.vtpk"].map { folder.appending(path: $0) }
            for file in files { try export.write(to: file) }
            #expect(try Data(contentsOf: files[0]) == Data(contentsOf: files[1]))
        }
    }

    @Test("Images become a tile package; an area without a tile becomes none")
    func images() throws {
        try Self.folder { folder in
            let file = folder.appending(path: "air.mbtiles")
            let writer = try MBTilesWriter(path: file.path, format: .png)
            let tile = try #require(TileAddress(level: 2, column: 1, row: 3))
            try writer.add(Self.png, at: tile)
            try writer.finish(TileSetDescription(name: "Air", format: .png, levels: 2...2))
            let source = try TilePackages.open(file.path)
            let target = folder.appending(path: "air.tpkx")
            #expect(try TileExport(of: source, title: "Air", coverage: nil).write(to: target) == 1)
            let read = try TilePackages.open(target.path)
            #expect(read.description.format == .png)
            #expect(try read.tile(tile) == Self.png)
            #expect(try read.resource("styles/root.json") == nil)
            let elsewhere = TileCoverage(box: PlaneBox(xMin: 1e6, yMin: 1e6, xMax: 2e6, yMax: 2e6))
            #expect(throws: TileError.self) {
                try TileExport(of: source, title: "None", coverage: elsewhere)
                    .write(to: folder.appending(path: "none.tpkx"))
            }
        }
    }

    /// Where the set-up puts the packages of Python that tests use.
    private static let packages = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: ".fieldwork/readers")

    /// Runs a script of Python with the path of a file.
    private static func python(_ script: String, _ file: URL) throws -> String? {
        let ended = try ChildProcess.run(
            "/usr/bin/env", ["python3", "-c", script, file.path], environment: ["PYTHONPATH": packages.path])
        return ended.status == 0 ? String(decoding: ended.standardOutput, as: UTF8.self) : nil
    }

    private static func canImport(_ module: String) -> Bool {
        (try? python("import \(module)", URL(filePath: "/"))) != nil
    }

    private static let hasPython = canImport("zipfile")
    private static let hasReader = canImport("vtpk_reader")

    @Test("Python reads our packages as zip files", .enabled(if: hasPython, "Python is not installed"))
    func zip() throws {
        try Self.folder { folder in
            let target = folder.appending(path: "city.vtpk")
            try TileExport(of: try Self.source(folder), title: "City", coverage: nil).write(to: target)
            let script = """
                import sys, zipfile, json
                z = zipfile.ZipFile(sys.argv[1]); assert z.testzip() is None
                assert json.loads(z.read('p12/root.json'))['minLOD'] == 0
                print(len(json.loads(z.read('p12/tilemap/root.json'))['index']))
                """
            #expect(try Self.python(script, target) == "4\n")
        }
    }

    @Test("Numbers that are too large for four bytes are written with eight, and read back")
    func wide() throws {
        try Self.folder { folder in
            let file = folder.appending(path: "wide.zip")
            let archive = try ZipWriter(file, wide: 5)
            try archive.add(Array("small".utf8), as: "a.txt")
            try archive.add([1], as: "b")
            try archive.add(PackageFile(path: #filePath), as: "c/source.swift")
            try archive.finish()
            let read = try ZipArchive(PackageFile(path: file.path))
            #expect(try read.contents("a.txt") == Array("small".utf8))
            #expect(try read.contents("b") == [1])
            #expect(try read.contents("c/source.swift").map { Data($0) } == Data(contentsOf: URL(filePath: #filePath)))
            if Self.hasPython {
                let script = "import sys, zipfile; print(zipfile.ZipFile(sys.argv[1]).testzip())"
                #expect(try Self.python(script, file) == "None\n")
            }
        }
    }

    @Test(
        "A reader of vector tile packages that others wrote finds every name",
        .enabled(if: hasReader, "vtpk-reader is not installed; run scripts/setup test"))
    func foreignReader() throws {
        try Self.folder { folder in
            let target = folder.appending(path: "city.vtpk")
            let source = try Self.source(folder)
            try TileExport(of: source, title: "City", coverage: nil).write(to: target)
            let script = """
                import sys
                from vtpk_reader import Vtpk
                package = Vtpk(sys.argv[1])
                names = set()
                for tile in package.get_tiles([8], None):
                    for layer in package.tile_features(tile).values():
                        for feature in layer['features']:
                            names.add(feature['properties']['name'])
                print(*sorted(names), sep='\\n', end='')
                """
            let names = try #require(try Self.python(script, target))
            var wanted: [String] = []
            try TileCoverage(box: #require(source.description.box)).forEach(level: 8) { tile in
                wanted.append("8/\(tile.row)/\(tile.column) Ж")
                return true
            }
            #expect(wanted.contains("8/127/128 Ж"))
            #expect(names.split(separator: "\n").map(String.init) == wanted.sorted())
        }
    }
}
