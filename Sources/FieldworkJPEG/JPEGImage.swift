import CTurboJPEG

/// Reads and writes JPEG pictures, with libjpeg-turbo.
package enum JPEGImage {
    /// Width and height as they are stored.
    package struct Size: Sendable, Equatable {
        package var width: Int
        package var height: Int

        package init(width: Int, height: Int) {
            self.width = width
            self.height = height
        }
    }

    /// How a pixel stands in memory.
    package enum Layout: Sendable {
        case grey
        /// Red, green and blue, a byte each.
        case rgb
        /// Blue, green, red and a byte that says nothing.
        case bgrx

        package var bytesPerPixel: Int {
            switch self {
            case .grey: 1
            case .rgb: 3
            case .bgrx: 4
            }
        }

        fileprivate var code: Int32 {
            switch self {
            case .grey: Int32(TJPF_GRAY.rawValue)
            case .rgb: Int32(TJPF_RGB.rawValue)
            case .bgrx: Int32(TJPF_BGRX.rawValue)
            }
        }
    }

    /// How large a picture is; nil for one that can't be read.
    package static func size(_ jpeg: UnsafeRawBufferPointer) -> Size? {
        guard let base = jpeg.baseAddress?.assumingMemoryBound(to: UInt8.self), let handle = tjInitDecompress() else {
            return nil
        }
        defer { tjDestroy(handle) }
        var (width, height, sampling, colours) = (Int32(0), Int32(0), Int32(0), Int32(0))
        guard tjDecompressHeader3(handle, base, UInt(jpeg.count), &width, &height, &sampling, &colours) == 0,
            width > 0, height > 0
        else { return nil }
        return Size(width: Int(width), height: Int(height))
    }

    /// The pixels of a picture, rows from the top; nil for one that can't be decoded.
    /// - Parameters:
    ///   - size: one of the sizes that the library can decode to: eighths of the stored one.
    ///   - takesDamaged: whether a picture that is cut off is taken as far as it goes.
    package static func decoded(
        _ jpeg: UnsafeRawBufferPointer, size: Size, as layout: Layout, takesDamaged: Bool = false
    ) -> [UInt8]? {
        guard let base = jpeg.baseAddress?.assumingMemoryBound(to: UInt8.self), let handle = tjInitDecompress() else {
            return nil
        }
        defer { tjDestroy(handle) }
        var pixels = [UInt8](repeating: 255, count: size.width * size.height * layout.bytesPerPixel)
        // A picture of thousands of scans, each of no bytes, would take minutes.
        let failed = tjDecompress2(
            handle, base, UInt(jpeg.count), &pixels, Int32(size.width), 0, Int32(size.height), layout.code,
            Int32(TJFLAG_LIMITSCANS))
        guard failed == 0 || takesDamaged && tjGetErrorCode(handle) == Int32(TJERR_WARNING.rawValue) else { return nil }
        return pixels
    }

    /// A picture of pixels; nil when there is no memory for it.
    /// - Parameters:
    ///   - stride: bytes from the beginning of a row to that of the next; 0 for rows without a gap.
    ///   - quality: from 1 to 100.
    package static func encoded(
        _ pixels: UnsafeRawBufferPointer, size: Size, as layout: Layout, stride: Int = 0, quality: Int32
    ) -> [UInt8]? {
        guard let base = pixels.baseAddress?.assumingMemoryBound(to: UInt8.self), let handle = tjInitCompress() else {
            return nil
        }
        defer { tjDestroy(handle) }
        var buffer: UnsafeMutablePointer<UInt8>?
        var count: UInt = 0
        defer { tjFree(buffer) }
        let failed = tjCompress2(
            handle, base, Int32(size.width), Int32(stride), Int32(size.height), layout.code, &buffer, &count,
            Int32(TJSAMP_420.rawValue), quality, 0)
        guard failed == 0, let buffer else { return nil }
        return Array(UnsafeBufferPointer(start: buffer, count: Int(count)))
    }
}
