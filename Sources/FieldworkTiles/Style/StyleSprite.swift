package import FieldworkGeometry
import FieldworkREST

/// A sheet of small pictures for the symbols that a style can't draw itself.
package struct StyleSprite: Sendable {
    private struct Picture {
        var name: String
        var width: Int
        var height: Int
        var pixels: [UInt8]
    }

    /// Where each picture lies.
    package let index: JSONValue
    package let png: [UInt8]

    /// The name of a symbol's picture: the same for equal symbols, in every process.
    package static func name(_ symbol: JSONValue) -> String {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in symbol.text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return "s" + String(hash, radix: 36)
    }

    /// - Parameters:
    ///   - symbols: by the names of their pictures.
    ///   - scale: pixels of the picture on a pixel of the map, 1 or 2.
    package init(symbols: [String: JSONValue], scale: Int) throws {
        let pictures = symbols.sorted { $0.key < $1.key }.prefix(Limits.sprites).map {
            Self.picture($0.key, $0.value, scale: scale)
        }
        let columns = 16
        let cell = (pictures.map { max($0.width, $0.height) }.max() ?? 1) + 1
        let (width, height) = (
            cell * max(1, min(columns, pictures.count)), cell * max(1, (pictures.count + columns - 1) / columns)
        )
        var pixels = [UInt8](repeating: 0, count: width * height * 4)
        var object = JSONObject()
        for (number, picture) in pictures.enumerated() {
            let (left, top) = (number % columns * cell, number / columns * cell)
            for row in 0..<picture.height {
                let start = ((top + row) * width + left) * 4
                let line = row * picture.width * 4..<(row + 1) * picture.width * 4
                pixels.replaceSubrange(start..<start + picture.width * 4, with: picture.pixels[line])
            }
            object.append(
                picture.name,
                [
                    "x": JSONValue(left), "y": JSONValue(top), "width": JSONValue(picture.width),
                    "height": JSONValue(picture.height), "pixelRatio": JSONValue(scale), "sdf": false,
                ])
        }
        index = .object(object)
        png = try PNGImage.encoded(width: width, height: height, pixels: pixels)
    }

    private static func picture(_ name: String, _ symbol: JSONValue, scale: Int) -> Picture {
        if let picture = StylePicture(symbol, scale: scale) {
            return Picture(name: name, width: picture.width, height: picture.height, pixels: picture.pixels)
        }
        if symbol["type"]?.stringValue == "esriSFS" { return pattern(name, symbol, scale: scale) }
        let size = symbol["size"]?.doubleValue ?? symbol["width"]?.doubleValue ?? 8
        let outline = symbol["outline"]?["width"]?.doubleValue ?? 1
        let side = Int(SymbolDrawing.pixels(min(max(size, 1), 96) + min(max(outline, 0), 8)).rounded(.up)) + 3
        let canvas = SymbolDrawing.canvas(of: scaled(symbol, by: scale), size: side * scale)
        return Picture(name: name, width: canvas.size, height: canvas.size, pixels: canvas.bytes)
    }

    private static func scaled(_ symbol: JSONValue, by scale: Int) -> JSONValue {
        guard scale > 1, var object = symbol.objectValue else { return symbol }
        for member in ["size", "width"] {
            if let length = object[member]?.doubleValue { object[member] = .number(length * Double(scale)) }
        }
        if let outline = object["outline"] { object["outline"] = scaled(outline, by: scale) }
        return .object(object)
    }

    /// The middle of a hatched area: its lines come each four pixels, so that eight of them join without a seam.
    private static func pattern(_ name: String, _ symbol: JSONValue, scale: Int) -> Picture {
        var fill = symbol.objectValue ?? JSONObject()
        fill["outline"] = nil
        let canvas = SymbolDrawing.canvas(of: .object(fill), size: 12)
        let side = 8 * scale
        var pixels: [UInt8] = []
        for row in 0..<side {
            for column in 0..<side { pixels += canvas.pixel(column: 2 + column / scale, row: 2 + row / scale) }
        }
        return Picture(name: name, width: side, height: side, pixels: pixels)
    }
}
