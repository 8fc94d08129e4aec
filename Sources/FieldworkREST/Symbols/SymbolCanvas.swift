package import FieldworkGeometry

/// A colour of a symbol: `[r, g, b, a]`, each from 0 to 255.
package struct SwatchColor: Sendable, Hashable {
    package var red: Double
    package var green: Double
    package var blue: Double
    /// From 0 to 1.
    package var opacity: Double

    package static let white = SwatchColor(red: 255, green: 255, blue: 255, opacity: 1)
    package static let black = SwatchColor(red: 0, green: 0, blue: 0, opacity: 1)

    package init(red: Double, green: Double, blue: Double, opacity: Double) {
        (self.red, self.green, self.blue, self.opacity) = (red, green, blue, opacity)
    }

    /// nil for no colour, which the protocol writes as null.
    package init?(_ json: JSONValue?) {
        let numbers = (json?.arrayValue ?? []).compactMap(\.doubleValue).map { min(max($0, 0), 255) }
        guard numbers.count >= 3 else { return nil }
        (red, green, blue) = (numbers[0], numbers[1], numbers[2])
        opacity = (numbers.count > 3 ? numbers[3] : 255) / 255
    }
}

/// A few pixels to draw a symbol on, a square, clear at first.
package struct SymbolCanvas: Sendable {
    /// Pixels across and down.
    package let size: Int
    /// Each pixel is looked at in so many places across and down, which makes smooth edges.
    private static let samples = 4

    private var pixels: [SIMD4<Double>]

    package init(size: Int) {
        self.size = min(max(1, size), Limits.symbolPixels)
        pixels = [SIMD4<Double>](repeating: .zero, count: self.size * self.size)
    }

    /// Paints over the places for which the closure answers true; x and y count from the middle, y upwards.
    package mutating func paint(_ color: SwatchColor, where covers: (_ x: Double, _ y: Double) -> Bool) {
        let samples = Self.samples
        for row in 0..<size {
            for column in 0..<size {
                var hits = 0
                for sample in 0..<(samples * samples) {
                    let x = Double(column) + (Double(sample % samples) + 0.5) / Double(samples)
                    let y = Double(row) + (Double(sample / samples) + 0.5) / Double(samples)
                    if covers(x - Double(size) / 2, Double(size) / 2 - y) { hits += 1 }
                }
                guard hits > 0 else { continue }
                let opacity = color.opacity * Double(hits) / Double(samples * samples)
                // Colours are kept multiplied with their opacity, so that painting over is one sum.
                let source = SIMD4(color.red * opacity, color.green * opacity, color.blue * opacity, opacity)
                pixels[row * size + column] = source + pixels[row * size + column] * (1 - opacity)
            }
        }
    }

    /// Red, green, blue and opacity, each from 0 to 255.
    package func pixel(column: Int, row: Int) -> [UInt8] {
        let pixel = pixels[row * size + column]
        let colors = [pixel.x, pixel.y, pixel.z].map { pixel.w > 0 ? $0 / pixel.w : 0 }
        return (colors + [pixel.w * 255]).map { UInt8(min(max($0.rounded(), 0), 255)) }
    }

    /// All pixels, row by row from the top, four bytes each; opacity is not multiplied into the colours.
    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(pixels.count * 4)
        for row in 0..<size {
            for column in 0..<size { bytes += pixel(column: column, row: row) }
        }
        return bytes
    }
}
