package import FieldworkGeometry
import CCairo
import FieldworkREST

/// A legend as one picture: a row for each entry, its symbol and what it means.
package struct LegendSheet: Sendable {
    package struct Row: Sendable {
        var symbol: JSONValue
        var label: String

        package init(symbol: JSONValue, label: String) {
            (self.symbol, self.label) = (symbol, label)
        }
    }

    private let rows: [Row]
    private let width: Int
    private let height: Int
    private let scale: Double

    /// - Parameters:
    ///   - width, height: pixels of a symbol.
    ///   - dpi: pixels to the inch.
    package init(_ rows: [Row], width: Int, height: Int, dpi: Double) throws(DrawingError) {
        guard (1...Limits.swatchSide).contains(width), (1...Limits.swatchSide).contains(height) else {
            throw .size(width: width, height: height)
        }
        (self.width, self.height) = (width, height)
        scale = min(max(dpi, 1), Limits.imageDPI) / 96
        // A picture has an end; a legend of more rows is cut.
        let rowHeight = max(Double(height), 20 * scale) + 4 * scale
        self.rows = Array(rows.prefix(max(Int(Double(Limits.imageSide) / rowHeight), 1)))
    }

    /// - Parameter isTransparent: whether what is not drawn on stays clear, where the format can say so.
    package func image(_ format: ImageFormat, isTransparent: Bool) throws -> [UInt8] {
        let font = TextFont(size: 12 * scale)
        let labels = rows.map { row in
            String(row.label.prefix(Limits.labelCharacters).map { $0.isNewline ? " " : $0 })
        }
        // What the texts take is known on a canvas only.
        let trial = try CairoCanvas(width: 1, height: 1, format: .png32)
        let measure = TextLayout(trial)
        measure?.setFont(font)
        let sizes = labels.map { measure?.set($0) ?? (across: 0, down: 0) }
        let gap = 4 * scale
        let rowHeight = max(Double(height), sizes.map(\.down).max() ?? 0) + gap
        let textWidth = sizes.map(\.across).max() ?? 0
        let across = Double(width) + (textWidth > 0 ? textWidth + 3 * gap : gap)
        let canvas = try CairoCanvas(
            width: min(Int(across.rounded(.up)), Limits.imageSide),
            height: min(max(Int((rowHeight * Double(rows.count)).rounded(.up)), 1), Limits.imageSide), format: format,
            pixelsPerInch: 96 * scale)
        if !isTransparent || format == .jpg { canvas.paint(.white) }
        let text = TextLayout(canvas)
        text?.setFont(font)
        for (number, row) in rows.enumerated() {
            let middle = rowHeight * (Double(number) + 0.5)
            cairo_save(canvas.context)
            cairo_translate(canvas.context, (gap / 2).rounded(), (middle - Double(height) / 2).rounded())
            SymbolSwatch.draw(row.symbol, on: canvas, width: width, height: height, scale: scale)
            cairo_restore(canvas.context)
            guard let text else { continue }
            let size = text.set(labels[number])
            text.draw(.black, x: (Double(width) + 2 * gap).rounded(), y: (middle - size.down / 2).rounded())
        }
        return try canvas.finished(isTransparent: isTransparent)
    }
}
