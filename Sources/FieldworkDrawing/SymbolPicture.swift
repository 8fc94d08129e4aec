import CCairo
import FieldworkJPEG

/// A picture that a symbol carries, as pixels of cairo.
final class SymbolPicture {
    let surface: OpaquePointer
    let width: Int
    let height: Int

    /// nil for bytes that are neither PNG nor JPEG, or a picture that is too large.
    init?(_ bytes: [UInt8]) {
        let made = bytes.starts(with: [0xFF, 0xD8]) ? Self.jpeg(bytes) : Self.png(bytes)
        guard let made else { return nil }
        surface = made
        width = Int(cairo_image_surface_get_width(made))
        height = Int(cairo_image_surface_get_height(made))
    }

    deinit { cairo_surface_destroy(surface) }

    private static func isSmall(_ width: Int, _ height: Int) -> Bool {
        (1...Limits.symbolPictureSide).contains(width) && (1...Limits.symbolPictureSide).contains(height)
    }

    private static func png(_ bytes: [UInt8]) -> OpaquePointer? {
        // What the header says decides how much memory the library takes: it is read first.
        guard bytes.count > 33, bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) else { return nil }
        func number(_ at: Int) -> Int { bytes[at..<at + 4].reduce(0) { $0 << 8 | Int($1) } }
        guard isSmall(number(16), number(20)) else { return nil }
        struct Source {
            var bytes: UnsafeBufferPointer<UInt8>
            var place = 0
        }
        let surface = bytes.withUnsafeBufferPointer { buffer in
            var source = Source(bytes: buffer)
            return withUnsafeMutablePointer(to: &source) { pointer in
                cairo_image_surface_create_from_png_stream(
                    { closure, data, count in
                        guard let source = closure?.assumingMemoryBound(to: Source.self), let data,
                            Int(count) <= source.pointee.bytes.count - source.pointee.place
                        else { return CAIRO_STATUS_READ_ERROR }
                        let from = source.pointee.place
                        for index in 0..<Int(count) { data[index] = source.pointee.bytes[from + index] }
                        source.pointee.place += Int(count)
                        return CAIRO_STATUS_SUCCESS
                    }, pointer)
            }
        }
        guard let surface, cairo_surface_status(surface) == CAIRO_STATUS_SUCCESS else {
            cairo_surface_destroy(surface)
            return nil
        }
        return surface
    }

    private static func jpeg(_ bytes: [UInt8]) -> OpaquePointer? {
        let decoded = bytes.withUnsafeBytes { jpeg -> (JPEGImage.Size, [UInt8])? in
            guard let size = JPEGImage.size(jpeg), isSmall(size.width, size.height),
                let pixels = JPEGImage.decoded(jpeg, size: size, as: .bgrx)
            else { return nil }
            return (size, pixels)
        }
        guard let (size, pixels) = decoded,
            let surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, Int32(size.width), Int32(size.height)),
            cairo_surface_status(surface) == CAIRO_STATUS_SUCCESS, let data = cairo_image_surface_get_data(surface)
        else { return nil }
        let stride = Int(cairo_image_surface_get_stride(surface))
        for row in 0..<size.height {
            for column in 0..<size.width * 4 { data[row * stride + column] = pixels[row * size.width * 4 + column] }
        }
        cairo_surface_mark_dirty(surface)
        return surface
    }
}
