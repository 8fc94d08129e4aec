import FieldworkGeometry
import FieldworkREST
import Foundation

/// The picture of one entry of a legend: a drawing of simple symbols, the symbol's own picture where it has one.
struct LegendSwatch: Sendable, Hashable {
    /// Pixels across and down of a drawing.
    static let size = 20

    var bytes: [UInt8]
    var contentType: String
    var width: Int
    var height: Int

    /// - Parameter symbol: a symbol of the protocol; a kind that can't be drawn gives a clear picture.
    init(symbol: JSONValue) throws {
        if let picture = Self.picture(symbol) {
            self = picture
            return
        }
        let canvas = SymbolDrawing.canvas(of: symbol, size: Self.size)
        let bytes = try PNGImage.encoded(width: Self.size, height: Self.size, pixels: canvas.bytes)
        self.init(bytes: bytes, contentType: "image/png", width: Self.size, height: Self.size)
    }

    private init(bytes: [UInt8], contentType: String, width: Int, height: Int) {
        self.bytes = bytes
        self.contentType = contentType
        self.width = width
        self.height = height
    }

    /// Kinds of pictures that a page shows without running anything in them.
    private static let pictureTypes: Set<String> = ["image/png", "image/jpeg", "image/gif", "image/bmp"]

    private static func picture(_ symbol: JSONValue) -> LegendSwatch? {
        guard let type = symbol["contentType"]?.stringValue?.lowercased(), pictureTypes.contains(type),
            let text = symbol["imageData"]?.stringValue, text.utf8.count <= Limits.swatchBytes,
            let data = Data(base64Encoded: text), !data.isEmpty
        else { return nil }
        func pixelsOf(_ name: String) -> Int {
            symbol[name]?.doubleValue.map { Int(min(max(SymbolDrawing.pixels($0), 1), 256).rounded()) } ?? size
        }
        return LegendSwatch(
            bytes: Array(data), contentType: type, width: pixelsOf("width"), height: pixelsOf("height"))
    }
}
