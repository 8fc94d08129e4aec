import FieldworkDrawing
import FieldworkGeometry
import FieldworkREST
import Foundation

/// The picture of one entry of a legend: a drawing of simple symbols, the symbol's own picture where it has one.
struct LegendSwatch: Sendable, Hashable {
    var bytes: [UInt8]
    var contentType: String
    var width: Int
    var height: Int

    /// - Parameters:
    ///   - symbol: a symbol of the protocol; a kind that can't be drawn gives a clear picture.
    ///   - look: how large, and for which pixels.
    init(symbol: JSONValue, _ look: SwatchLook = SwatchLook()) throws {
        if look == SwatchLook(), let picture = Self.picture(symbol) {
            self = picture
            return
        }
        let bytes = try SymbolSwatch.png(symbol, width: look.width, height: look.height, dpi: look.dpi)
        self.init(bytes: bytes, contentType: "image/png", width: look.width, height: look.height)
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
            symbol[name]?.doubleValue.map { Int(min(max(SymbolDrawing.pixels($0), 1), 256).rounded()) }
                ?? SwatchLook.side
        }
        return LegendSwatch(
            bytes: Array(data), contentType: type, width: pixelsOf("width"), height: pixelsOf("height"))
    }
}

/// How large the pictures of a legend are: the parameters `size` and `dpi`.
struct SwatchLook: Sendable, Hashable {
    /// Pixels across and down, at 96 to the inch.
    static let side = 20

    var width = side
    var height = side
    var dpi = 96.0

    init() {}

    init(_ parameters: RequestParameters) throws(ServiceError) {
        dpi = try parameters.number("dpi") ?? 96
        guard (1...FieldworkDrawing.Limits.imageDPI).contains(dpi) else {
            throw .invalidParameter("'dpi' must be from 1 to \(Int(FieldworkDrawing.Limits.imageDPI)).")
        }
        let sides = 1...FieldworkDrawing.Limits.swatchSide
        let side = min(max(Int((Double(Self.side) * dpi / 96).rounded()), 1), sides.upperBound)
        (width, height) = (side, side)
        guard let words = try parameters.words("size") else { return }
        let numbers = words.compactMap(Int.init)
        guard words.count == 2, numbers.count == 2, numbers.allSatisfy(sides.contains) else {
            throw .invalidParameter("'size' must be width,height in pixels, each from 1 to \(sides.upperBound).")
        }
        (width, height) = (numbers[0], numbers[1])
    }
}
