import CCairo
import FieldworkREST

/// A surface of cairo with what draws on it. It belongs to one task at a time.
final class CairoCanvas {
    let width: Int
    let height: Int
    let format: ImageFormat
    let context: OpaquePointer
    private let surface: OpaquePointer
    private let sink = Sink()

    /// What cairo writes of a document.
    private final class Sink {
        var bytes: [UInt8] = []
    }

    /// - Parameters:
    ///   - pixelsPerInch: tells a document how large it is.
    init(width: Int, height: Int, format: ImageFormat, pixelsPerInch: Double = 96) throws(DrawingError) {
        guard (1...Limits.imageSide).contains(width), (1...Limits.imageSide).contains(height) else {
            throw .size(width: width, height: height)
        }
        (self.width, self.height, self.format) = (width, height, format)
        let closure = Unmanaged.passUnretained(sink).toOpaque()
        let points = 72 / pixelsPerInch
        let (across, down) = (Double(width) * points, Double(height) * points)
        let write: cairo_write_func_t = { closure, data, count in
            guard let closure, let data else { return CAIRO_STATUS_WRITE_ERROR }
            let sink = Unmanaged<Sink>.fromOpaque(closure).takeUnretainedValue()
            sink.bytes.append(contentsOf: UnsafeBufferPointer(start: data, count: Int(count)))
            return CAIRO_STATUS_SUCCESS
        }
        let made: OpaquePointer? =
            switch format {
            case .pdf: cairo_pdf_surface_create_for_stream(write, closure, across, down)
            case .svg: cairo_svg_surface_create_for_stream(write, closure, across, down)
            default: cairo_image_surface_create(CAIRO_FORMAT_ARGB32, Int32(width), Int32(height))
            }
        guard let made else { throw .library("out of memory") }
        guard cairo_surface_status(made) == CAIRO_STATUS_SUCCESS, let context = cairo_create(made) else {
            let status = cairo_surface_status(made)
            cairo_surface_destroy(made)
            throw .library(String(cString: cairo_status_to_string(status)))
        }
        surface = made
        self.context = context
        if !format.isRaster { cairo_scale(context, points, points) }
    }

    deinit {
        cairo_destroy(context)
        cairo_surface_destroy(surface)
    }

    func setColor(_ color: SwatchColor, opacity: Double = 1) {
        cairo_set_source_rgba(
            context, color.red / 255, color.green / 255, color.blue / 255, color.opacity * min(max(opacity, 0), 1))
    }

    func paint(_ color: SwatchColor) {
        setColor(color)
        cairo_paint(context)
    }

    /// For use as the source of another drawing.
    func asSource<Result>(_ body: (OpaquePointer) -> Result) -> Result {
        cairo_surface_flush(surface)
        return body(surface)
    }

    /// Reads and writes the pixels that are drawn on, those of the innermost group of a raster: row by row, opacity first, the colours
    /// multiplied with it.
    func withPixels<Result>(
        _ body: (UnsafeMutableBufferPointer<UInt32>) -> Result
    ) throws(DrawingError) -> Result {
        // A pixel of this format takes four bytes, so that rows have no gaps between them.
        guard format.isRaster, let target = cairo_get_group_target(context) else { throw .library("no pixels") }
        cairo_surface_flush(target)
        guard let data = cairo_image_surface_get_data(target), Int(cairo_image_surface_get_stride(target)) == 4 * width,
            Int(cairo_image_surface_get_height(target)) == height
        else { throw .library("no pixels") }
        defer { cairo_surface_mark_dirty(target) }
        return data.withMemoryRebound(to: UInt32.self, capacity: width * height) { pixels in
            body(UnsafeMutableBufferPointer(start: pixels, count: width * height))
        }
    }

    /// The finished image.
    /// - Parameter isTransparent: whether what was not drawn on stays clear, where the format can say so.
    func finished(isTransparent: Bool) throws -> [UInt8] {
        cairo_surface_flush(surface)
        let status = cairo_status(context)
        guard status == CAIRO_STATUS_SUCCESS else {
            throw DrawingError.library(String(cString: cairo_status_to_string(status)))
        }
        guard format.isRaster else {
            cairo_surface_finish(surface)
            return sink.bytes
        }
        guard let data = cairo_image_surface_get_data(surface) else { throw DrawingError.library("no pixels") }
        let stride = Int(cairo_image_surface_get_stride(surface))
        let pixels = PixelImage(
            width: width, height: height,
            pixels: UnsafeRawBufferPointer(start: data, count: stride * height), stride: stride)
        return try pixels.encoded(as: format, isTransparent: isTransparent)
    }
}
