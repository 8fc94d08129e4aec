import FieldworkGeometry
import FieldworkREST
import Foundation
import TestSupport
import Testing

@testable import Fieldwork

@Suite("Symbols", .fewAtATime)
struct SymbolTests {
    private static func symbol(_ text: String) throws -> Symbol { try Symbol.fromJSON(Data(text.utf8)) }

    @Test("A symbol is what its document says, and unknown members survive a change")
    func reading() throws {
        let marker = try #require(
            try Self.symbol(
                """
                {"type":"esriSMS","style":"esriSMSDiamond","color":[1,2,3],"size":9.5,"angle":30,"own":{"a":[1]},
                 "outline":{"type":"esriSLS","style":"esriSLSDash","color":null,"width":0.75}}
                """) as? SimpleMarkerSymbol)
        #expect(marker.style == .diamond && marker.size == 9.5 && marker.angle == 30)
        #expect(marker.color == SymbolColor(red: 1, green: 2, blue: 3))
        #expect(marker.outline?.style == .dash && marker.outline?.color == nil && marker.outline?.width == 0.75)
        marker.size = 12
        marker.color = .red
        let written = try JSONParser.parse(marker.toJSON())
        #expect(written["own"] == ["a": [1]] && written["size"] == 12 && written["color"] == [255, 0, 0, 255])
        #expect(written["outline"]?["width"] == 0.75)
        #expect(throws: CommonError.self) { try Self.symbol("\"text\"") }
    }

    @Test("What is made in code is read back the same")
    func making() throws {
        let outline = SimpleLineSymbol(style: .longDashDot, color: .blue.withAlphaComponent(0.5), width: 2)
        let fill = SimpleFillSymbol(style: .backwardDiagonal, color: .green, outline: outline)
        let read = try #require(try Symbol.fromJSON(fill.toJSON()) as? SimpleFillSymbol)
        #expect(read.style == .backwardDiagonal && read.color == .green)
        #expect(read.outline?.style == .longDashDot && read.outline?.color?.alpha == 128 && read.outline?.width == 2)
        let text = TextSymbol(text: "Elm", color: .white, size: 14, verticalAlignment: .top)
        text.haloColor = .black
        let label = try #require(try Symbol.fromJSON(text.toJSON()) as? TextSymbol)
        #expect(label.text == "Elm" && label.size == 14 && label.verticalAlignment == .top && label.haloColor == .black)
        for style in SimpleMarkerSymbol.Style.allCases { #expect(SimpleMarkerSymbol(style: style).style == style) }
        for style in SimpleLineSymbol.Style.allCases { #expect(SimpleLineSymbol(style: style).style == style) }
        for style in SimpleFillSymbol.Style.allCases { #expect(SimpleFillSymbol(style: style).style == style) }
    }

    /// The pixels of a stored PNG: the inverse of what is written, read by another route than the writer's.
    private static func pixel(_ png: Data, size: Int, column: Int, row: Int) throws -> [UInt8] {
        let bytes = Array(png)
        try #require(bytes.prefix(8) == [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
        // Signature, header chunk, then length and name of the data, two bytes of zlib and five of the block.
        let start = 8 + 25 + 8 + 2 + 5
        let place = start + row * (size * 4 + 1) + 1 + column * 4
        return Array(bytes[place..<(place + 4)])
    }

    @Test("A PNG swatch shows the symbol's colour in the middle and nothing in the corner")
    func png() throws {
        let red = SimpleMarkerSymbol(style: .square, color: .red, size: 9)
        let png = try #require(red.pngSwatch(size: 24))
        #expect(try Self.pixel(png, size: 24, column: 12, row: 12) == [255, 0, 0, 255])
        #expect(try Self.pixel(png, size: 24, column: 1, row: 1) == [0, 0, 0, 0])
        #expect(SimpleMarkerSymbol().pngSwatch(size: 1_000_000)?.isEmpty == false, "the size is bounded")
        #expect(TextSymbol(text: "a").pngSwatch() == nil)
        #expect(try Self.symbol("{\"type\":\"esriNew\"}").pngSwatch() == nil)
    }

    private static let python = URL(filePath: "/usr/bin/python3")

    @Test(
        "Any reader of pictures reads a swatch",
        .enabled(if: FileManager.default.isExecutableFile(atPath: python.path), "there is no Python here"))
    func readable() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "swatch-\(UUID().uuidString).png")
        defer { try? FileManager.default.removeItem(at: file) }
        // 160 pixels: more than one block of stored bytes.
        try #require(SimpleMarkerSymbol(style: .triangle, color: .blue, size: 60).pngSwatch(size: 160)).write(to: file)
        let arguments = [
            "-c",
            """
            import struct, sys, zlib
            data = open(sys.argv[1], "rb").read()
            at, parts = 8, {}
            while at < len(data):
                length, name = struct.unpack(">I4s", data[at:at + 8])
                body = data[at + 8:at + 8 + length]
                assert struct.unpack(">I", data[at + 8 + length:at + 12 + length])[0] == zlib.crc32(name + body)
                parts[name] = body
                at += 12 + length
            rows = zlib.decompress(parts[b"IDAT"])
            assert struct.unpack(">II", parts[b"IHDR"][:8]) == (160, 160) and len(rows) == 160 * 641
            assert rows[80 * 641 + 1 + 80 * 4:][:4] == bytes([0, 0, 255, 255])
            """, file.path,
        ]
        #expect(try ChildProcess.run(Self.python.path, arguments).status == 0)
    }

    @Test("An SVG swatch is well-formed for every kind and style, and each style looks different")
    func svg() throws {
        let line = SimpleLineSymbol(style: .dash, color: .red, width: 2)
        let markers = SimpleMarkerSymbol.Style.allCases.map { SimpleMarkerSymbol(style: $0, color: .orange, size: 12) }
        let lines = SimpleLineSymbol.Style.allCases.map { SimpleLineSymbol(style: $0, color: .orange) }
        let fills = SimpleFillSymbol.Style.allCases.map { SimpleFillSymbol(style: $0, color: .orange, outline: line) }
        for symbols in [markers as [Symbol], fills] {
            #expect(Set(symbols.compactMap { $0.svgSwatch() }).count == symbols.count)
        }
        for symbol in markers as [Symbol] + lines + fills {
            let svg = try #require(symbol.svgSwatch(size: 24))
            #expect(svg.hasPrefix("<svg xmlns=") && svg.hasSuffix("</svg>"))
            #expect(XMLCheck.isWellFormed(svg), "\(svg)")
        }
        let turned = SimpleMarkerSymbol(style: .triangle, color: .red.withAlphaComponent(0.5), size: 12)
        turned.angle = 45
        let svg = try #require(turned.svgSwatch(size: 20))
        #expect(svg.contains("rotate(-45 10 10)") && svg.contains("fill=\"#ff0000\" fill-opacity=\"0.502\""))
    }

    @Test("A swatch holds no text of a service that a page could run")
    func harmless() throws {
        let text = TextSymbol(text: "<a&\"")
        let svg = try #require(text.svgSwatch())
        #expect(svg.contains(">&lt;a&amp;&quot;<") && XMLCheck.isWellFormed(svg))
        let bytes = Data([1, 2, 3]).base64EncodedString()
        func picture(_ type: String, _ data: String) throws -> Symbol {
            try Self.symbol("{\"type\":\"esriPMS\",\"contentType\":\"\(type)\",\"imageData\":\"\(data)\"}")
        }
        #expect(try picture("image/png", bytes).svgSwatch()?.contains("data:image/png;base64,AQID") == true)
        #expect(try picture("image/png", bytes).pngSwatch() == Data([1, 2, 3]))
        #expect(try picture("image/svg+xml", bytes).svgSwatch() == nil)
        #expect(try picture("image/png", "no base64").svgSwatch() == nil)
        #expect(try picture("image/jpeg", bytes).pngSwatch() == nil)
        let wild = try Self.symbol(
            "{\"type\":\"esriSMS\",\"size\":1e300,\"angle\":-1e300,\"color\":[-5,1e300,3,999],\"style\":\"\\\"><script>\"}"
        )
        let drawn = try #require(wild.svgSwatch())
        #expect(XMLCheck.isWellFormed(drawn) && !drawn.contains("script"))
    }

    @Test("A symbol of layers is drawn as the nearest simple one, and kept as it was")
    func layered() throws {
        let text = """
            {"type":"CIMSymbolReference","symbol":{"type":"CIMPointSymbol","symbolLayers":[
             {"type":"CIMVectorMarker","enable":false,"size":50},
             {"type":"CIMVectorMarker","enable":true,"size":12,"markerGraphics":[{"symbol":{"type":"CIMPolygonSymbol",
              "symbolLayers":[{"type":"CIMSolidStroke","width":2,"color":[0,0,0,100]},
               {"type":"CIMSolidFill","color":[10,20,30,50]}]}}]}]}}
            """
        let symbol = try Self.symbol(text)
        let drawn = try #require(Symbol.make(symbol.drawn) as? SimpleMarkerSymbol)
        #expect(drawn.size == 12 && drawn.color == SymbolColor(red: 10, green: 20, blue: 30, alpha: 127))
        #expect(drawn.outline?.width == 2 && drawn.outline?.color == .black)
        #expect(symbol.pngSwatch() != nil && symbol.svgSwatch() != nil)
        #expect(try JSONParser.parse(symbol.toJSON()) == (try JSONParser.parse(text)))
    }
}

/// Whether a text is one well-formed element: tags closed, attributes quoted.
private enum XMLCheck {
    static func isWellFormed(_ text: String) -> Bool {
        var open: [Substring] = []
        var rest = text[...]
        while let start = rest.firstIndex(of: "<") {
            guard let end = rest[start...].firstIndex(of: ">") else { return false }
            let tag = rest[rest.index(after: start)..<end]
            rest = rest[rest.index(after: end)...]
            guard tag.count(where: { $0 == "\"" }).isMultiple(of: 2), !tag.contains("<") else { return false }
            let name = tag.drop { $0 == "/" }.prefix { $0.isLetter }
            if tag.hasPrefix("/") {
                guard open.popLast() == name else { return false }
            } else if !tag.hasSuffix("/") {
                open.append(name)
            }
        }
        return open.isEmpty && !rest.contains(">")
    }
}
