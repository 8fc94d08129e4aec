import FieldworkREST
import Testing

@testable import FieldworkDrawing

@Suite("Pixels of images")
struct PixelImageTests {
    /// As the definition of multiplied colours says it: divided by the opacity, rounded to the nearest.
    private static func divided(_ color: UInt32, _ alpha: UInt32) -> UInt32 {
        alpha == 0 ? 0 : min(255, (color * 255 + alpha / 2) / alpha)
    }

    @Test("Each colour at each opacity comes out as it was before it was multiplied")
    func plain() {
        var wrong: [String] = []
        for alpha in UInt32(0)...255 {
            for color in UInt32(0)...alpha {
                let (red, green, blue) = (color, alpha - color, color / 2)
                let plain = PixelImage.plain(alpha << 24 | red << 16 | green << 8 | blue)
                let expected =
                    Self.divided(red, alpha) | Self.divided(green, alpha) << 8 | Self.divided(blue, alpha) << 16
                    | alpha << 24
                if plain != expected { wrong.append("\(color) at \(alpha)") }
            }
        }
        #expect(wrong.isEmpty, "\(wrong.prefix(5))")
    }

    /// The pixels of a picture of two rows of three, the second row of which begins after a gap, as PNG with and without opacity.
    @Test("Rows begin where the surface says, and pixels keep their order")
    func rows() throws {
        let clear: UInt32 = 0
        let (red, half) = (UInt32(0xFFFF_0000), UInt32(0x8000_4000))
        let pixels: [UInt32] = [red, red, clear, 0xDEAD_BEEF, half, clear, red, 0xDEAD_BEEF]
        let same: [UInt32] = [red, red, clear, half, clear, red]
        func png(_ pixels: [UInt32], stride: Int, _ format: ImageFormat, _ isTransparent: Bool) throws -> [UInt8] {
            try pixels.withUnsafeBytes { bytes in
                try PixelImage(width: 3, height: 2, pixels: bytes, stride: stride)
                    .encoded(as: format, isTransparent: isTransparent)
            }
        }
        for (format, isTransparent) in [(ImageFormat.png32, true), (.png24, false), (.png24, true), (.png8, true)] {
            let picture = try png(pixels, stride: 16, format, isTransparent)
            #expect(try picture == png(same, stride: 12, format, isTransparent))
            #expect(try picture != png(same.reversed(), stride: 12, format, isTransparent))
        }
    }

    @Test("A picture of 256 colours is one of a palette, one of more is not; no pixel changes", arguments: [256, 257])
    func palette(colors: Int) throws {
        let pixels = (0..<31 * 20).map { UInt32($0 % colors) * 0x0123 | 0xFF00_0000 }
        func png(_ format: ImageFormat) throws -> [UInt8] {
            try pixels.withUnsafeBytes { bytes in
                try PixelImage(width: 31, height: 20, pixels: bytes, stride: 124)
                    .encoded(as: format, isTransparent: true)
            }
        }
        let picture = try png(.png)
        // The kind of the colours in the head.
        #expect(picture[25] == (colors == 256 ? 3 : 6))
        #expect(try png(.png32)[25] == 6)
        let expected = pixels.flatMap { pixel in [16, 8, 0, 24].map { UInt8(truncatingIfNeeded: pixel >> $0) } }
        #expect(PNGImage.decoded(picture)?.bytes == expected)
        #expect(PNGImage.decoded(try png(.png32))?.bytes == expected)
    }
}
