import CFreeType
import FieldworkREST

/// Makes the glyphs of a font as maps draw them: for each pixel its distance from the outline, 24 pixels a character.
package enum GlyphRange {
    private static let size: UInt32 = 24
    /// Pixels around a glyph: as many as the format has, and as many as FreeType is asked for, which wants more.
    private static let border = 3
    private static let spread = 8

    /// The glyphs of 256 code points that begin at a multiple of 256, in the form of the map's library.
    /// - Parameter stack: names of fonts by commas, of which the first counts.
    package static func bytes(stack: String, start: Int) throws(TileError) -> [UInt8] {
        let name = stack.split(separator: ",").first.map(String.init) ?? stack
        let path = try FontFolder.file(for: name)
        guard start >= 0, start < 65_536, start.isMultiple(of: Limits.glyphRange) else {
            throw TileError(.unsupported, "Glyphs come in ranges of \(Limits.glyphRange) below 65536.")
        }
        let font = try FontFace(path: path, size: size, spread: spread)
        var body: [UInt8] = []
        ProtobufBytes.delimited(stack.utf8, field: 1, to: &body)
        ProtobufBytes.delimited("\(start)-\(start + Limits.glyphRange - 1)".utf8, field: 2, to: &body)
        for code in start..<start + Limits.glyphRange {
            guard let glyph = font.glyph(code) else { continue }
            ProtobufBytes.delimited(message(glyph, code), field: 3, to: &body)
        }
        var bytes: [UInt8] = []
        ProtobufBytes.delimited(body, field: 1, to: &bytes)
        return bytes
    }

    private static func message(_ glyph: FontFace.Glyph, _ code: Int) -> [UInt8] {
        var message: [UInt8] = []
        ProtobufBytes.integer(UInt64(code), field: 1, to: &message)
        let cut = spread - border
        let (width, height) = (glyph.width - 2 * spread, glyph.height - 2 * spread)
        let isDrawn = width > 0 && height > 0
        if isDrawn {
            var bitmap: [UInt8] = []
            bitmap.reserveCapacity((width + 2 * border) * (height + 2 * border))
            for row in cut..<glyph.height - cut {
                for column in cut..<glyph.width - cut { bitmap.append(distance(glyph[column, row])) }
            }
            ProtobufBytes.delimited(bitmap, field: 2, to: &message)
        }
        ProtobufBytes.integer(UInt64(isDrawn ? width : 0), field: 3, to: &message)
        ProtobufBytes.integer(UInt64(isDrawn ? height : 0), field: 4, to: &message)
        let (left, top) = isDrawn ? (glyph.left + spread, glyph.top - spread - Int(size)) : (0, 0)
        ProtobufBytes.integer(ProtobufBytes.zigZag(Int64(left)), field: 5, to: &message)
        ProtobufBytes.integer(ProtobufBytes.zigZag(Int64(top)), field: 6, to: &message)
        ProtobufBytes.integer(UInt64(max(0, glyph.advance)), field: 7, to: &message)
        return message
    }

    /// FreeType counts inwards from 128 at the outline, the format outwards from 191, an eighth of 255 a pixel.
    private static func distance(_ value: UInt8) -> UInt8 {
        let pixels = (Double(value) - 128) * Double(spread) / 128
        return UInt8(min(max((191.25 + 31.875 * pixels).rounded(), 0), 255))
    }
}

/// One font, opened for one range: FreeType's objects are not shared between threads.
private struct FontFace: ~Copyable {
    struct Glyph {
        var width = 0
        var height = 0
        var left = 0
        var top = 0
        var advance = 0
        var pixels: [UInt8] = []

        subscript(column: Int, row: Int) -> UInt8 { pixels[row * width + column] }
    }

    private let library: FT_Library
    private let face: FT_Face

    init(path: String, size: UInt32, spread: Int) throws(TileError) {
        var library: FT_Library?
        guard FT_Init_FreeType(&library) == 0, let library else {
            throw TileError(.noFont, "FreeType can't be started.")
        }
        var wanted = Int32(spread)
        FT_Property_Set(library, "sdf", "spread", &wanted)
        FT_Property_Set(library, "bsdf", "spread", &wanted)
        var face: FT_Face?
        guard FT_New_Face(library, path, 0, &face) == 0, let face, FT_Set_Pixel_Sizes(face, 0, size) == 0 else {
            FT_Done_FreeType(library)
            throw TileError(.noFont, "The font \(path) can't be read.")
        }
        self.library = library
        self.face = face
    }

    deinit {
        FT_Done_Face(face)
        FT_Done_FreeType(library)
    }

    /// nil for a code point that the font doesn't have.
    func glyph(_ code: Int) -> Glyph? {
        guard FT_Get_Char_Index(face, FT_ULong(code)) != 0, fieldwork_loadUnhinted(face, FT_ULong(code)) == 0,
            let slot = face.pointee.glyph
        else { return nil }
        var glyph = Glyph()
        glyph.advance = (slot.pointee.advance.x + 32) >> 6
        guard slot.pointee.outline.n_points > 0 else { return glyph }
        // From the picture of the glyph: four times as fast as from its outline.
        guard FT_Render_Glyph(slot, FT_RENDER_MODE_NORMAL) == 0, FT_Render_Glyph(slot, FT_RENDER_MODE_SDF) == 0,
            let buffer = slot.pointee.bitmap.buffer
        else { return glyph }
        let bitmap = slot.pointee.bitmap
        (glyph.width, glyph.height) = (Int(bitmap.width), Int(bitmap.rows))
        (glyph.left, glyph.top) = (Int(slot.pointee.bitmap_left), Int(slot.pointee.bitmap_top))
        for row in 0..<glyph.height {
            let line = UnsafeBufferPointer(start: buffer + row * Int(bitmap.pitch), count: glyph.width)
            glyph.pixels.append(contentsOf: line)
        }
        return glyph
    }
}
