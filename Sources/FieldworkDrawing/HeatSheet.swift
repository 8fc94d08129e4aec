import CCairo

/// Adds up the points of a heat map over an image, and paints the sums in the map's colours. It belongs to one task at a time.
///
/// Points that reach far are added on a coarser grid, which cairo enlarges smoothly: the work for a point stays the same.
struct HeatSheet {
    private let map: HeatMap
    /// Pixels of the image across and down for one cell.
    private let step: Int
    private let columns: Int
    private let rows: Int
    /// Cells beyond the image on each side, so that the enlarged picture has neighbours at its edges.
    private static let edge = 1
    private var sums: [Float]
    /// Cells that a point reaches from its own.
    private let reach: Int

    init(_ map: HeatMap, width: Int, height: Int) {
        self.map = map
        step = max(1, Int((map.reach / Limits.heatCells).rounded(.up)))
        columns = (width + step - 1) / step + 2 * Self.edge
        rows = (height + step - 1) / step + 2 * Self.edge
        reach = Int((map.reach / Double(step)).rounded(.up))
        sums = [Float](repeating: 0, count: columns * rows)
    }

    /// Bytes that the sums and their colours take for an image.
    static func memory(width: Int, height: Int) -> Int { (width + 4) * (height + 4) * 8 }

    /// - Parameters:
    ///   - x: to the right and y downwards, in pixels of the image.
    ///   - weight: times that the point counts.
    mutating func add(x: Double, y: Double, weight: Double) {
        let size = Double(step)
        // The middle of the cell at (column, row) is at ((column - edge + 0.5) * step) of the image.
        let (left, top) = (x / size + Double(Self.edge) - 0.5, y / size + Double(Self.edge) - 0.5)
        let (column, row) = (Int(left.rounded()), Int(top.rounded()))
        let (firstRow, lastRow) = (max(0, row - reach), min(rows - 1, row + reach))
        let (firstColumn, lastColumn) = (max(0, column - reach), min(columns - 1, column + reach))
        guard firstRow <= lastRow, firstColumn <= lastColumn else { return }
        for row in firstRow...lastRow {
            let down = (Double(row) - top) * size
            for column in firstColumn...lastColumn {
                let across = (Double(column) - left) * size
                let sum = map.added(at: (down * down + across * across).squareRoot())
                if sum > 0 { sums[row * columns + column] += Float(sum * weight) }
            }
        }
    }

    /// Paints the sums over what has been drawn.
    func paint(on canvas: CairoCanvas) throws(DrawingError) {
        let picture = try CairoCanvas(width: columns, height: rows, format: .png32)
        try picture.withPixels { pixels in
            for index in sums.indices { pixels[index] = Self.pixel(map.color(of: Double(sums[index]))) }
        }
        picture.asSource { source in
            cairo_save(canvas.context)
            cairo_scale(canvas.context, Double(step), Double(step))
            cairo_set_source_surface(canvas.context, source, -Double(Self.edge), -Double(Self.edge))
            let filter = step == 1 ? CAIRO_FILTER_NEAREST : CAIRO_FILTER_BILINEAR
            cairo_pattern_set_filter(cairo_get_source(canvas.context), filter)
            cairo_paint(canvas.context)
            cairo_restore(canvas.context)
        }
    }

    /// A colour as cairo keeps it: opacity first, the others multiplied with it.
    private static func pixel(_ color: SIMD4<Double>) -> UInt32 {
        let opacity = color.w / 255
        let premultiplied = SIMD4<Double>(color.x * opacity, color.y * opacity, color.z * opacity, color.w)
        let parts = SIMD4<UInt32>(
            clamping: SIMD4<Int>(premultiplied.rounded(.toNearestOrEven)).clamped(
                lowerBound: .zero, upperBound: SIMD4(repeating: 255)))
        return parts.w << 24 | parts.x << 16 | parts.y << 8 | parts.z
    }
}
