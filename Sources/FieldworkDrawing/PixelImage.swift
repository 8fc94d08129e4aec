import FieldworkJPEG
import FieldworkREST

/// Pixels of cairo as a picture: each is a number of 32 bits, opacity first, its colours multiplied with its opacity.
struct PixelImage {
    let width: Int
    let height: Int
    let pixels: UnsafeRawBufferPointer
    /// Bytes from the beginning of a row to that of the next.
    let stride: Int

    func encoded(as format: ImageFormat, isTransparent: Bool) throws -> [UInt8] {
        switch format {
        case .jpg:
            let size = JPEGImage.Size(width: width, height: height)
            let jpeg = JPEGImage.encoded(pixels, size: size, as: .bgrx, stride: stride, quality: Limits.jpegQuality)
            guard let jpeg else { throw DrawingError.library("out of memory") }
            return jpeg
        case .png8: return try palettes(most: 256, isExact: false) ?? rgba(hasOpacity: true)
        // The smallest that loses nothing.
        case .png: return try palettes(most: 256, isExact: true) ?? rgba(hasOpacity: isTransparent)
        case .png24: return try rgba(hasOpacity: isTransparent)
        case .png32, .svg, .pdf: return try rgba(hasOpacity: true)
        }
    }

    @inline(__always)
    private func pixel(_ column: Int, _ row: Int) -> UInt32 {
        pixels.loadUnaligned(fromByteOffset: row * stride + column * 4, as: UInt32.self)
    }

    /// What a colour is without its opacity, by the opacity in the upper and the multiplied colour in the lower eight bits: a
    /// division for each of three colours takes longer than all else that is done with a pixel.
    private static let divided: [UInt8] = (0..<65_536).map { index in
        let (alpha, color) = (index >> 8, index & 255)
        return alpha == 0 ? 0 : UInt8(min(255, (color * 255 + alpha / 2) / alpha))
    }

    /// Red, green, blue and opacity from the lowest byte on, colours not multiplied with the opacity.
    /// - Parameter divided: the table of 65,536 colours.
    @inline(__always)
    private static func plain(_ pixel: UInt32, _ divided: UnsafePointer<UInt8>) -> UInt32 {
        let alpha = pixel & 0xFF00_0000
        if alpha == 0 { return 0 }
        // Nothing was multiplied: red and blue change places.
        if alpha == 0xFF00_0000 { return alpha | pixel & 0xFF00 | pixel >> 16 & 0xFF | (pixel & 0xFF) << 16 }
        let column = divided + Int(alpha >> 16)
        return UInt32(column[Int(pixel >> 16 & 255)]) | UInt32(column[Int(pixel >> 8 & 255)]) << 8
            | UInt32(column[Int(pixel & 255)]) << 16 | alpha
    }

    static func plain(_ pixel: UInt32) -> UInt32 {
        divided.withUnsafeBufferPointer { table in table.baseAddress.map { plain(pixel, $0) } ?? 0 }
    }

    private func rgba(hasOpacity: Bool) throws -> [UInt8] {
        let size = hasOpacity ? 4 : 3
        let rowBytes = width * size + 1
        let rows = [UInt8](unsafeUninitializedCapacity: rowBytes * height) { rows, count in
            guard let source = pixels.baseAddress, let target = rows.baseAddress else { return }
            Self.divided.withUnsafeBufferPointer { table in
                guard let divided = table.baseAddress else { return }
                for row in 0..<height {
                    let bytes = target + row * rowBytes
                    // Each row begins with its filter: none.
                    bytes[0] = 0
                    Self.row(source + row * stride, width, to: bytes + 1, hasOpacity: hasOpacity, divided)
                }
                count = rowBytes * height
            }
        }
        return try PNGImage.encoded(width: width, height: height, filteredRows: rows, colors: hasOpacity ? .rgba : .rgb)
    }

    @inline(__always)
    private static func row(
        _ source: UnsafeRawPointer, _ width: Int, to bytes: UnsafeMutablePointer<UInt8>, hasOpacity: Bool,
        _ divided: UnsafePointer<UInt8>
    ) {
        let raw = UnsafeMutableRawPointer(bytes)
        // Most pixels are like the one before.
        var (last, plain) = (UInt32(0), UInt32(0))
        for column in 0..<width {
            let found = source.loadUnaligned(fromByteOffset: column &* 4, as: UInt32.self)
            if found != last { (last, plain) = (found, Self.plain(found, divided)) }
            if hasOpacity {
                raw.storeBytes(of: plain.littleEndian, toByteOffset: column &* 4, as: UInt32.self)
            } else {
                bytes[column &* 3] = UInt8(truncatingIfNeeded: plain)
                bytes[column &* 3 &+ 1] = UInt8(truncatingIfNeeded: plain >> 8)
                bytes[column &* 3 &+ 2] = UInt8(truncatingIfNeeded: plain >> 16)
            }
        }
    }

    /// A picture of so many colours; nil when it has more of them and must be exact.
    private func palettes(most: Int, isExact: Bool) throws -> [UInt8]? {
        // Colours that differ in fewer and fewer of their bits, until they are few enough.
        for dropped in UInt32(0)...(isExact ? 0 : 7) {
            if let picture = try palette(most: most, dropping: dropped) { return picture }
        }
        return nil
    }

    private func palette(most: Int, dropping bits: UInt32) throws -> [UInt8]? {
        let kept = (UInt32(255) >> bits) << bits
        let mask = kept | kept << 8 | kept << 16 | kept << 24
        var numbers = ColorNumbers(most: most)
        var isFew = true
        let rowBytes = width + 1
        let rows = [UInt8](unsafeUninitializedCapacity: rowBytes * height) { rows, count in
            var last: (pixel: UInt32, number: UInt8)?
            for row in 0..<height where isFew {
                // Each row begins with its filter: none.
                rows[row &* rowBytes] = 0
                for column in 0..<width {
                    let found = pixel(column, row)
                    if found != last?.pixel {
                        // Equal pixels have equal colours, so that a picture that may lose nothing needs none to be divided.
                        let key = bits == 0 ? found : Self.plain(found) & mask
                        guard let number = numbers.number(of: key, color: Self.plain(found)) else {
                            isFew = false
                            break
                        }
                        last = (found, number)
                    }
                    rows[row &* rowBytes &+ column &+ 1] = last?.number ?? 0
                }
            }
            count = isFew ? rowBytes * height : 0
        }
        guard isFew else { return nil }
        return try PNGImage.encoded(width: width, height: height, filteredRows: rows, colors: .palette(numbers.colors))
    }
}
