import CCairo
import FieldworkJPEG
import FieldworkREST

/// A picture that a symbol carries, as pixels of cairo.
final class SymbolPixels {
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

    private static func png(_ bytes: [UInt8]) -> OpaquePointer? {
        guard let picture = PNGImage.decoded(bytes) else { return nil }
        return surface(picture.width, picture.height) { data, stride in
            for row in 0..<picture.height {
                for column in 0..<picture.width {
                    let from = (row * picture.width + column) * 4
                    let alpha = UInt32(picture.bytes[from + 3])
                    // Cairo has colours multiplied with their opacity, the number of a pixel begins with the opacity.
                    func share(_ index: Int) -> UInt32 { (UInt32(picture.bytes[from + index]) * alpha + 127) / 255 }
                    let pixel = alpha << 24 | share(0) << 16 | share(1) << 8 | share(2)
                    data.storeBytes(of: pixel, toByteOffset: row * stride + column * 4, as: UInt32.self)
                }
            }
        }
    }

    private static func jpeg(_ bytes: [UInt8]) -> OpaquePointer? {
        let decoded = bytes.withUnsafeBytes { jpeg -> (JPEGImage.Size, [UInt8])? in
            // What the header says decides how much memory the pixels take: it is read first.
            let sides = 1...FieldworkREST.Limits.pictureEdge
            guard let size = JPEGImage.size(jpeg), sides.contains(size.width), sides.contains(size.height),
                let pixels = JPEGImage.decoded(jpeg, size: size, as: .bgrx)
            else { return nil }
            return (size, pixels)
        }
        guard let (size, pixels) = decoded else { return nil }
        return surface(size.width, size.height) { data, stride in
            pixels.withUnsafeBytes { pixels in
                let rowBytes = size.width * 4
                for row in 0..<size.height {
                    let from = UnsafeRawBufferPointer(rebasing: pixels[row * rowBytes..<(row + 1) * rowBytes])
                    UnsafeMutableRawBufferPointer(start: data + row * stride, count: rowBytes).copyMemory(from: from)
                    for column in 0..<size.width {
                        (data + row * stride + column * 4 + 3).storeBytes(of: 255, as: UInt8.self)
                    }
                }
            }
        }
    }

    private static func surface(
        _ width: Int, _ height: Int, fill: (UnsafeMutableRawPointer, _ stride: Int) -> Void
    ) -> OpaquePointer? {
        guard let made = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, Int32(width), Int32(height)) else {
            return nil
        }
        guard cairo_surface_status(made) == CAIRO_STATUS_SUCCESS, let data = cairo_image_surface_get_data(made) else {
            cairo_surface_destroy(made)
            return nil
        }
        fill(UnsafeMutableRawPointer(data), Int(cairo_image_surface_get_stride(made)))
        cairo_surface_mark_dirty(made)
        return made
    }
}
