import FieldworkREST
import FieldworkTiles
import Testing

@Suite("Glyphs")
struct GlyphTests {
    private struct Glyph {
        var id: UInt64 = 0
        var bitmap: [UInt8] = []
        var width = 0
        var height = 0
        var top = 0
        var advance = 0
    }

    private static func glyphs(_ bytes: [UInt8]) throws -> [Glyph] {
        try bytes.withUnsafeBytes { bytes in
            var glyphs: [Glyph] = []
            var outer = ProtocolBufferReader(bytes)
            guard case (1, .bytes(let stack))? = try outer.next() else { return [] }
            var reader = ProtocolBufferReader(stack)
            while let (field, value) = try reader.next() {
                guard field == 3, case .bytes(let message) = value else { continue }
                var glyph = Glyph()
                var fields = ProtocolBufferReader(message)
                while let (field, value) = try fields.next() {
                    switch (field, value) {
                    case (1, .varint(let id)): glyph.id = id
                    case (2, .bytes(let bitmap)): glyph.bitmap = Array(bitmap)
                    case (3, .varint(let width)): glyph.width = Int(width)
                    case (4, .varint(let height)): glyph.height = Int(height)
                    case (6, .varint(let top)):
                        glyph.top = Int(Int64(bitPattern: top >> 1) ^ -Int64(bitPattern: top & 1))
                    case (7, .varint(let advance)): glyph.advance = Int(advance)
                    default: break
                    }
                }
                glyphs.append(glyph)
            }
            return glyphs
        }
    }

    @Test("A range has the font's glyphs in the form of maps: bright within, a border of three pixels")
    func latin() throws {
        let glyphs = try Self.glyphs(try GlyphRange.bytes(stack: "Noto Sans Regular", start: 0))
        #expect(glyphs.count > 150)
        for glyph in glyphs where glyph.width > 0 {
            #expect(glyph.bitmap.count == (glyph.width + 6) * (glyph.height + 6))
        }
        let space = try #require(glyphs.first { $0.id == 32 })
        #expect(space.bitmap.isEmpty)
        #expect(space.advance > 3 && space.advance < 12)
        let letter = try #require(glyphs.first { $0.id == 72 })
        #expect(letter.height >= 16 && letter.height <= 19)
        #expect(letter.top >= -9 && letter.top <= -5)
        #expect((letter.bitmap.max() ?? 0) > 191)
        #expect(letter.bitmap[0] < 130, "a corner of the border is outside")
    }

    @Test("Bold is another font than regular, and a range without glyphs is an answer")
    func others() throws {
        let regular = try GlyphRange.bytes(stack: "Noto Sans Regular", start: 0)
        let bold = try GlyphRange.bytes(stack: "Noto Sans Bold,Arial", start: 0)
        let advances = [try Self.glyphs(regular).map(\.advance), try Self.glyphs(bold).map(\.advance)]
        #expect(advances[0] != advances[1])
        #expect(try Self.glyphs(try GlyphRange.bytes(stack: "x", start: 0xD800)).isEmpty)
    }

    @Test("Ranges begin at multiples of 256 and end with the basic plane", arguments: [-256, 1, 255, 65_536])
    func ranges(start: Int) {
        #expect(throws: TileError.self) { try GlyphRange.bytes(stack: "x", start: start) }
    }
}
