import FieldworkREST
import FieldworkTiles
import Foundation

/// Writes a small picture as PNG (RFC 2083): eight bits each of red, green, blue and opacity. The bytes are stored and
/// not compressed: a swatch is too small to be worth a library.
enum PNGPicture {
    /// - Parameters:
    ///   - size: pixels across and down.
    ///   - pixels: row by row from the top, four bytes each; opacity is not multiplied into the colours.
    static func encoded(size: Int, pixels: [UInt8]) -> Data {
        var rows: [UInt8] = []
        rows.reserveCapacity(pixels.count + size)
        for row in 0..<size {
            // Each row begins with its filter: none.
            rows.append(0)
            rows += pixels[(row * size * 4)..<((row + 1) * size * 4)]
        }
        let bitDepthAndColours: [UInt8] = [8, 6, 0, 0, 0]
        var png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        append("IHDR", bigEndian(UInt32(size)) + bigEndian(UInt32(size)) + bitDepthAndColours, to: &png)
        append("IDAT", stored(rows), to: &png)
        append("IEND", [], to: &png)
        return Data(png)
    }

    private static func append(_ type: String, _ content: [UInt8], to png: inout [UInt8]) {
        let named = Array(type.utf8) + content
        png += bigEndian(UInt32(content.count))
        png += named
        png += bigEndian(crc32(named))
    }

    private static func bigEndian(_ number: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    }

    /// A zlib stream of stored blocks (RFC 1950, RFC 1951 3.2.4).
    private static func stored(_ bytes: [UInt8]) -> [UInt8] {
        let longest = 65_535
        var stream: [UInt8] = [0x78, 0x01]
        var start = 0
        repeat {
            let end = min(start + longest, bytes.count)
            let length = UInt16(end - start)
            let isLast: UInt8 = end == bytes.count ? 1 : 0
            stream += [isLast, UInt8(length & 0xFF), UInt8(length >> 8), UInt8(~length & 0xFF), UInt8(~length >> 8)]
            stream += bytes[start..<end]
            start = end
        } while start < bytes.count
        return stream + bigEndian(adler32(bytes))
    }

    private static func adler32(_ bytes: [UInt8]) -> UInt32 {
        var (one, two): (UInt32, UInt32) = (1, 0)
        for byte in bytes {
            one = (one + UInt32(byte)) % 65_521
            two = (two + one) % 65_521
        }
        return two << 16 | one
    }

    private static func crc32(_ bytes: [UInt8]) -> UInt32 {
        var checksum = Checksum32()
        checksum.add(bytes)
        return checksum.value
    }
}
