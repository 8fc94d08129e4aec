import FieldworkGeometry
import FieldworkREST
import Foundation

/// A picture that a symbol brings along, in the size in which it is drawn.
struct StylePicture {
    let width: Int
    let height: Int
    let pixels: [UInt8]

    /// What a PNG begins with, in base64.
    private static let beginning = "iVBORw0KGgo"

    /// Whether a symbol brings a picture that can be drawn. Others are drawn as plain symbols.
    static func holds(_ symbol: JSONValue) -> Bool {
        symbol["imageData"]?.stringValue?.hasPrefix(beginning) ?? false
    }

    /// nil for a symbol without a picture, and for a picture that can't be read.
    /// - Parameter scale: pixels of the picture on a pixel of the map.
    init?(_ symbol: JSONValue, scale: Int) {
        guard let text = symbol["imageData"]?.stringValue, Self.holds(symbol),
            text.utf8.count <= Limits.packagePieceBytes, let data = Data(base64Encoded: text),
            let source = PNGImage.decoded(Array(data))
        else { return nil }
        let longest = 96.0
        func edge(_ name: String, _ own: Int) -> Int {
            // A picture without a size has its own, of which 96 pixels are an inch.
            let pixels = symbol[name]?.doubleValue.map(SymbolDrawing.pixels) ?? Double(own)
            return Int((min(max(pixels, 1), SymbolDrawing.pixels(longest)) * Double(scale)).rounded())
        }
        width = edge("width", source.width)
        height = edge("height", source.height)
        pixels = Self.resized(source, width: width, height: height)
    }

    /// Each pixel is the mean of what it covers, its colours weighted by their opacity.
    private static func resized(_ source: PNGImage.Pixels, width: Int, height: Int) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(width * height * 4)
        for row in 0..<height {
            let rows = covered(row, of: height, from: source.height)
            for column in 0..<width {
                var sum = (red: 0, green: 0, blue: 0, alpha: 0)
                let columns = covered(column, of: width, from: source.width)
                for y in rows {
                    for x in columns {
                        let place = (y * source.width + x) * 4
                        let alpha = Int(source.bytes[place + 3])
                        sum.red += Int(source.bytes[place]) * alpha
                        sum.green += Int(source.bytes[place + 1]) * alpha
                        sum.blue += Int(source.bytes[place + 2]) * alpha
                        sum.alpha += alpha
                    }
                }
                let weight = max(sum.alpha, 1)
                result += [sum.red / weight, sum.green / weight, sum.blue / weight].map { UInt8(min($0, 255)) }
                result.append(UInt8(min(sum.alpha / max(rows.count * columns.count, 1), 255)))
            }
        }
        return result
    }

    /// The pixels of the source under a pixel of the result; at least one.
    private static func covered(_ index: Int, of count: Int, from source: Int) -> Range<Int> {
        let start = min(index * source / count, source - 1)
        return start..<max(start + 1, min((index + 1) * source / count, source))
    }
}
