import FieldworkDrawing
import FieldworkGeometry
import FieldworkREST
import Testing

@Suite("Symbols of legends and images")
struct SwatchTests {
    private static let symbols: [JSONValue] = [
        ["type": "esriSMS", "style": "esriSMSCircle", "color": [200, 0, 0, 255], "size": 9],
        [
            "type": "esriSMS", "style": "esriSMSTriangle", "color": [0, 0, 200, 128], "size": 9,
            "outline": ["type": "esriSLS", "style": "esriSLSSolid", "color": [0, 0, 0, 255], "width": 1],
        ],
        ["type": "esriSLS", "style": "esriSLSDash", "color": [0, 120, 0, 255], "width": 2],
        ["type": "esriSFS", "style": "esriSFSForwardDiagonal", "color": [0, 0, 0, 255]],
        ["type": "esriSFS", "style": "esriSFSSolid", "color": [250, 200, 0, 255]],
    ]

    @Test("Each kind of symbol gives a picture of its own; a kind that is not known gives a clear one")
    func kinds() throws {
        let clear = try SymbolSwatch.png(["type": "CIMSymbolReference"], width: 20, height: 20)
        var seen: Set<[UInt8]> = [clear]
        for symbol in Self.symbols {
            #expect(seen.insert(try SymbolSwatch.png(symbol, width: 20, height: 20)).inserted, "\(symbol.text)")
        }
    }

    @Test("A picture for twice the pixels of an inch has another look than one that is only larger")
    func dpi() throws {
        let marker = Self.symbols[0]
        let fine = try SymbolSwatch.png(marker, width: 40, height: 40, dpi: 192)
        let large = try SymbolSwatch.png(marker, width: 40, height: 40)
        #expect(fine != large)
    }

    @Test("A swatch without a size, or with a very large one, is refused", arguments: [0, 513])
    func sizes(side: Int) {
        #expect(throws: DrawingError.self) { try SymbolSwatch.png(Self.symbols[0], width: side, height: 20) }
    }
}
