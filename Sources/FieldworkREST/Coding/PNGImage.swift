import CZlib

/// Writes pictures as PNG (RFC 2083), eight bits each of red, green, blue and opacity, or numbers of a palette.
package enum PNGImage {
    package struct Failure: Error {}

    package enum Colors: Sendable {
        case rgb, rgba
        /// A byte a pixel: the number of a colour, which has red, green, blue and opacity from its lowest byte on.
        case palette([UInt32])

        fileprivate var code: UInt8 {
            switch self {
            case .rgb: 2
            case .palette: 3
            case .rgba: 6
            }
        }

        fileprivate var bytesPerPixel: Int {
            switch self {
            case .rgb: 3
            case .palette: 1
            case .rgba: 4
            }
        }
    }

    /// A small picture that is kept.
    /// - Parameter pixels: row by row from the top, four bytes each; opacity is not multiplied into the colours.
    package static func encoded(width: Int, height: Int, pixels: [UInt8]) throws -> [UInt8] {
        guard width > 0, height > 0, pixels.count == width * height * 4 else { throw Failure() }
        var rows: [UInt8] = []
        rows.reserveCapacity(height * (width * 4 + 1))
        for row in 0..<height {
            // Each row begins with its filter: none.
            rows.append(0)
            rows.append(contentsOf: pixels[(row * width * 4)..<((row + 1) * width * 4)])
        }
        return try encoded(width: width, height: height, filteredRows: rows, colors: .rgba, isKept: true)
    }

    /// - Parameters:
    ///   - filteredRows: from the top, each begins with the number of its filter.
    ///   - isKept: whether it is worth more time to have fewer bytes.
    package static func encoded(
        width: Int, height: Int, filteredRows: [UInt8], colors: Colors, isKept: Bool = false
    ) throws -> [UInt8] {
        guard width > 0, height > 0, filteredRows.count == (width * colors.bytesPerPixel + 1) * height else {
            throw Failure()
        }
        var png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        let bitDepthAndColours: [UInt8] = [8, colors.code, 0, 0, 0]
        append("IHDR", bigEndian(width) + bigEndian(height) + bitDepthAndColours, to: &png)
        if case .palette(let palette) = colors {
            func bytes(_ shifts: [UInt32]) -> [UInt8] {
                palette.flatMap { color in shifts.map { UInt8(truncatingIfNeeded: color >> $0) } }
            }
            append("PLTE", bytes([0, 8, 16]), to: &png)
            append("tRNS", bytes([24]), to: &png)
        }
        append("IDAT", try WholeCompression.compressed(filteredRows, as: .zlib, level: isKept ? 9 : 1), to: &png)
        append("IEND", [], to: &png)
        return png
    }

    private static func append(_ type: String, _ content: [UInt8], to png: inout [UInt8]) {
        let named = Array(type.utf8) + content
        png += bigEndian(content.count)
        png += named
        png += bigEndian(Int(crc32(0, named, UInt32(named.count))))
    }

    private static func bigEndian(_ number: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    }
}
