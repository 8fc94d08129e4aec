import CZlib

/// Writes a small picture as PNG (RFC 2083): eight bits each of red, green, blue and opacity.
package enum PNGImage {
    package struct Failure: Error {}

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
        var png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        let bitDepthAndColours: [UInt8] = [8, 6, 0, 0, 0]
        append("IHDR", bigEndian(width) + bigEndian(height) + bitDepthAndColours, to: &png)
        append("IDAT", try compressed(rows), to: &png)
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

    private static func compressed(_ bytes: [UInt8]) throws -> [UInt8] {
        var count = compressBound(UInt(bytes.count))
        var output = [UInt8](repeating: 0, count: Int(count))
        guard compress2(&output, &count, bytes, UInt(bytes.count), Z_BEST_COMPRESSION) == Z_OK else { throw Failure() }
        return Array(output.prefix(Int(count)))
    }
}
