import FieldworkREST
import Testing

@Suite("Pictures in PNG")
struct PNGReadingTests {
    @Test("What is written is read again")
    func roundTrip() throws {
        let pixels = (0..<(7 * 5 * 4)).map { UInt8(truncatingIfNeeded: $0 * 37) }
        let read = try #require(PNGImage.decoded(try PNGImage.encoded(width: 7, height: 5, pixels: pixels)))
        #expect(read.width == 7)
        #expect(read.height == 5)
        #expect(read.bytes == pixels)
    }

    @Test("What is cut, changed, or no picture at all is none")
    func broken() throws {
        let png = try PNGImage.encoded(width: 3, height: 3, pixels: [UInt8](repeating: 9, count: 36))
        for count in 0..<(png.count - 12) { #expect(PNGImage.decoded(Array(png.prefix(count))) == nil) }
        for place in 8..<32 {
            var changed = png
            changed[place] ^= 0xFF
            _ = PNGImage.decoded(changed)
        }
        #expect(PNGImage.decoded(Array("GIF89a".utf8)) == nil)
    }

    @Test("A head that promises more than a small picture is refused before anything is made of it")
    func large() throws {
        var png = try PNGImage.encoded(width: 1, height: 1, pixels: [1, 2, 3, 4])
        png.replaceSubrange(16..<20, with: [0x7F, 0xFF, 0xFF, 0xFF])
        #expect(PNGImage.decoded(png) == nil)
    }
}
