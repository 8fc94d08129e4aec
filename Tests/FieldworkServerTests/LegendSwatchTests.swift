import FieldworkGeometry
import FieldworkREST
import Foundation
import TestSupport
import Testing

@testable import FieldworkServer

@Suite("Legend swatches", .fewAtATime)
struct LegendSwatchTests {
    @Test("A square marker is its colour in the middle and clear in the corner")
    func canvas() throws {
        var canvas = SymbolCanvas(size: 20)
        let red = try #require(SwatchColor([255, 0, 0, 255]))
        canvas.paint(red) { x, y in max(abs(x), abs(y)) <= 5 }
        #expect(canvas.pixel(column: 10, row: 10) == [255, 0, 0, 255])
        #expect(canvas.pixel(column: 1, row: 1) == [0, 0, 0, 0])
    }

    @Test("Half-clear colours painted over each other mix")
    func mixing() throws {
        var canvas = SymbolCanvas(size: 20)
        canvas.paint(try #require(SwatchColor([0, 0, 0, 255]))) { _, _ in true }
        canvas.paint(try #require(SwatchColor([255, 255, 255, 127.5]))) { _, _ in true }
        #expect(canvas.pixel(column: 3, row: 3) == [128, 128, 128, 255])
    }

    @Test(
        "Every kind of symbol gives a picture, and each another",
        arguments: [
            "{\"type\":\"esriSMS\",\"style\":\"esriSMSCircle\",\"color\":[1,2,3,255],\"size\":8}",
            "{\"type\":\"esriSLS\",\"style\":\"esriSLSDash\",\"color\":[1,2,3,255],\"width\":2}",
            "{\"type\":\"esriSFS\",\"style\":\"esriSFSCross\",\"color\":[1,2,3,255]}",
        ])
    func kinds(text: String) throws {
        let drawn = try LegendSwatch(symbol: JSONParser.parse(text))
        let clear = try LegendSwatch(symbol: ["type": "CIMSymbolReference"])
        #expect(drawn.contentType == "image/png")
        #expect(drawn.bytes != clear.bytes)
    }

    @Test("A picture symbol gives its own picture; one that could run script is not passed on")
    func pictures() throws {
        let bytes = Data([1, 2, 3])
        func picture(_ type: String) -> JSONValue {
            [
                "type": "esriPMS", "contentType": .string(type), "imageData": .string(bytes.base64EncodedString()),
                "width": 12, "height": 24,
            ]
        }
        let png = try LegendSwatch(symbol: picture("image/png"))
        #expect(Data(png.bytes) == bytes)
        #expect((png.width, png.height) == (16, 32))
        let svg = try LegendSwatch(symbol: picture("image/svg+xml"))
        #expect(svg.contentType == "image/png")
        #expect(Data(svg.bytes) != bytes)
    }
}
