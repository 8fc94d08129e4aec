package import FieldworkGeometry
import CCairo
import FieldworkREST

/// The small picture of a symbol in a legend, drawn as images of maps draw it. A heat map, which has no symbols, is the way of its
/// colours, from the greatest sum at the top to the least.
package enum SymbolSwatch {
    /// - Parameters:
    ///   - symbol: or the renderer of a heat map; a kind that can't be drawn gives a clear picture.
    ///   - width, height: in pixels.
    ///   - dpi: pixels to the inch.
    /// - Returns: PNG.
    package static func png(
        _ symbol: JSONValue, width: Int, height: Int, dpi: Double = 96
    ) throws -> [UInt8] {
        guard (1...Limits.swatchSide).contains(width), (1...Limits.swatchSide).contains(height) else {
            throw DrawingError.size(width: width, height: height)
        }
        let canvas = try CairoCanvas(width: width, height: height, format: .png32)
        draw(symbol, on: canvas, width: width, height: height, scale: min(max(dpi, 1), Limits.imageDPI) / 96)
        return try canvas.finished(isTransparent: true)
    }

    /// Draws the symbol into the upper left corner of a canvas.
    /// - Parameter scale: pixels of the canvas on a pixel of 96 to the inch.
    static func draw(_ symbol: JSONValue, on canvas: CairoCanvas, width: Int, height: Int, scale: Double) {
        if let heat = HeatMap(symbol, columns: [], scale: scale) {
            return draw(heat, on: canvas, width: width, height: height)
        }
        let painter = SymbolPainter(canvas: canvas, scale: scale)
        let (middleX, middleY) = ((Double(width) / 2).rounded(.down), (Double(height) / 2).rounded(.down))
        switch SymbolLook(symbol, for: nil, scale: scale) {
        case .marker(var marker):
            let outline = (marker.outline?.width ?? 0) / 2
            marker.radius = min(marker.radius, max(Double(min(width, height)) / 2 - outline, 1))
            marker.offset = .zero
            painter.draw(marker, x: middleX, y: middleY)
        case .picture(var picture):
            guard let pixels = SymbolPixels(picture.bytes) else { break }
            let shrink = min(1, Double(width) / picture.width, Double(height) / picture.height)
            picture.width *= shrink
            picture.height *= shrink
            picture.offset = .zero
            painter.draw(picture, pixels, x: middleX, y: middleY)
        case .line(let stroke):
            cairo_move_to(canvas.context, 0, middleY)
            cairo_line_to(canvas.context, Double(width), middleY)
            painter.stroke(stroke)
        case .area(let area):
            let inset = 2 * scale
            cairo_rectangle(
                canvas.context, inset, inset, max(Double(width) - 2 * inset, 1), max(Double(height) - 2 * inset, 1))
            painter.fill(area, area.picture.flatMap { SymbolPixels($0.bytes) })
        case .nothing: break
        }
    }

    private static func draw(_ heat: HeatMap, on canvas: CairoCanvas, width: Int, height: Int) {
        for row in 0..<height {
            let color = heat.color(at: 1 - (Double(row) + 0.5) / Double(height)) / 255
            cairo_set_source_rgba(canvas.context, color.x, color.y, color.z, color.w)
            cairo_rectangle(canvas.context, 0, Double(row), Double(width), 1)
            cairo_fill(canvas.context)
        }
    }
}
