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

    /// Red, green, blue and opacity from the lowest byte on, colours not multiplied with the opacity.
    @inline(__always)
    private static func plain(_ pixel: UInt32) -> UInt32 {
        let alpha = pixel >> 24
        if alpha == 0 { return 0 }
        var (red, green, blue) = (pixel >> 16 & 255, pixel >> 8 & 255, pixel & 255)
        if alpha < 255 {
            red = min(255, (red * 255 + alpha / 2) / alpha)
            green = min(255, (green * 255 + alpha / 2) / alpha)
            blue = min(255, (blue * 255 + alpha / 2) / alpha)
        }
        return red | green << 8 | blue << 16 | alpha << 24
    }

    private func rgba(hasOpacity: Bool) throws -> [UInt8] {
        let size = hasOpacity ? 4 : 3
        let rowBytes = width * size + 1
        let rows = [UInt8](unsafeUninitializedCapacity: rowBytes * height) { rows, count in
            let bytes = UnsafeMutableRawBufferPointer(rows)
            // Most pixels are like the one before.
            var (last, plain) = (UInt32(0), UInt32(0))
            for row in 0..<height {
                var at = row * rowBytes
                // Each row begins with its filter: none.
                bytes[at] = 0
                at += 1
                for column in 0..<width {
                    let found = pixel(column, row)
                    if found != last { (last, plain) = (found, Self.plain(found)) }
                    if hasOpacity {
                        bytes.storeBytes(of: plain.littleEndian, toByteOffset: at, as: UInt32.self)
                    } else {
                        bytes[at] = UInt8(truncatingIfNeeded: plain)
                        bytes[at + 1] = UInt8(truncatingIfNeeded: plain >> 8)
                        bytes[at + 2] = UInt8(truncatingIfNeeded: plain >> 16)
                    }
                    at += size
                }
            }
            count = rowBytes * height
        }
        return try PNGImage.encoded(width: width, height: height, filteredRows: rows, colors: hasOpacity ? .rgba : .rgb)
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
        var numbers: [UInt32: UInt8] = [:]
        var colors: [UInt32] = []
        var rows = [UInt8](repeating: 0, count: (width + 1) * height)
        var (last, lastNumber): (UInt32?, UInt8) = (nil, 0)
        for row in 0..<height {
            for column in 0..<width {
                let found = pixel(column, row)
                if found != last {
                    let plain = Self.plain(found)
                    let key = plain & mask
                    if let known = numbers[key] {
                        lastNumber = known
                    } else {
                        guard colors.count < most else { return nil }
                        lastNumber = UInt8(colors.count)
                        numbers[key] = lastNumber
                        colors.append(plain)
                    }
                    last = found
                }
                rows[row * (width + 1) + column + 1] = lastNumber
            }
        }
        return try PNGImage.encoded(width: width, height: height, filteredRows: rows, colors: .palette(colors))
    }
}
