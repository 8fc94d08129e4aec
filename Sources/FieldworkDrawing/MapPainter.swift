import CCairo
import FieldworkGeometry
package import FieldworkREST

/// Draws one image of a map: layer after layer from the lowest, and the labels of all above them. It belongs to one task at a
/// time.
package final class MapPainter {
    package let frame: MapFrame
    private let canvas: CairoCanvas
    private let isTransparent: Bool
    private let painter: SymbolPainter
    private var labels: LabelBoard
    private var stamps = MarkerStamps()
    private var plan: LayerPlan?
    private var pictures: [Int: SymbolPixels] = [:]
    private var heat: HeatSheet?
    private var layerNumber = 0
    private var record = DrawingRecord()
    /// Names of layers that have more features than are drawn.
    package private(set) var cutLayers: [String] = []

    /// - Parameters:
    ///   - isTransparent: whether what no feature covers stays clear, where the format can say so.
    ///   - background: the colour of what no feature covers otherwise.
    ///   - isTile: whether other images join this one at its edges: labels that would be cut there are left out.
    package init(
        _ frame: MapFrame, format: ImageFormat, isTransparent: Bool, background: SwatchColor = .white,
        isTile: Bool = false
    ) throws(DrawingError) {
        self.frame = frame
        labels = LabelBoard(staysWithin: isTile)
        canvas = try CairoCanvas(
            width: frame.width, height: frame.height, format: format, pixelsPerInch: frame.dpi)
        self.isTransparent = isTransparent && format != .jpg
        if !self.isTransparent { canvas.paint(background) }
        painter = SymbolPainter(canvas: canvas, scale: frame.symbolScale)
    }

    /// Bytes that the image takes in memory while it is drawn and written.
    package static func memory(_ frame: MapFrame, _ format: ImageFormat) -> Int {
        frame.width * frame.height * (format.isRaster ? 10 : 1)
    }

    // MARK: Layers

    package func begin(_ plan: LayerPlan) {
        self.plan = plan
        layerNumber += 1
        pictures.removeAll()
        for (index, look) in plan.looks.enumerated() {
            if let picture = look.picture { pictures[index] = SymbolPixels(picture.bytes) }
        }
        heat = plan.heat.map { HeatSheet($0, width: frame.width, height: frame.height) }
        if plan.opacity < 1 { cairo_push_group(canvas.context) }
    }

    /// Draws the features of the records in some bytes of an encoder.
    package func paint(_ bytes: [UInt8]) throws {
        guard let plan else { return }
        try bytes.withUnsafeBytes { bytes in
            // Its arrays keep their memory from piece to piece. A variable of this closure is not copied for each call.
            var record = DrawingRecord()
            swap(&record, &self.record)
            defer { swap(&record, &self.record) }
            var reader = DrawingRecordReader(bytes)
            var work = 0
            while try reader.read(&record) {
                work += 1 + record.xs.count / 16
                if work >= 256 {
                    work = 0
                    try WorkAllowance.check()
                }
                if record.kind == .heat {
                    for index in record.xs.indices {
                        heat?.add(
                            x: Double(record.xs[index]), y: Double(record.ys[index]), weight: Double(record.weight))
                    }
                    // A point is added to hundreds of pixels.
                    work += 4 * record.xs.count
                    continue
                }
                guard record.symbol < plan.looks.count else { continue }
                try draw(record, plan.looks[record.symbol])
                place(record, plan)
            }
            if reader.isCut { cutLayers.append(plan.layer.name) }
        }
    }

    package func endLayer() throws {
        guard let plan else { return }
        try heat?.paint(on: canvas)
        heat = nil
        if plan.opacity < 1 {
            cairo_pop_group_to_source(canvas.context)
            cairo_paint_with_alpha(canvas.context, plan.opacity)
        }
        self.plan = nil
    }

    private func draw(_ record: DrawingRecord, _ look: SymbolLook) throws {
        switch (record.kind, look) {
        case (.points, .marker), (.points, .picture): try drawMarkers(record, look)
        case (.lines, .line(let stroke)):
            addPath(record, closes: false)
            painter.stroke(stroke, record.variables)
        case (.areas, .area(let area)):
            addPath(record, closes: true)
            painter.fill(area, pictures[record.symbol], record.variables)
        // An area may be drawn by its edge alone.
        case (.areas, .line(let stroke)):
            addPath(record, closes: true)
            painter.stroke(stroke, record.variables)
        default: break
        }
    }

    private func drawMarkers(_ record: DrawingRecord, _ look: SymbolLook) throws {
        let picture = pictures[record.symbol]
        let variables = MarkerStamps.rounded(record.variables)
        let reach = MarkerStamps.reach(look, variables, scale: frame.symbolScale)
        guard canvas.format.isRaster, reach <= Limits.markerStampReach else {
            for index in record.xs.indices {
                let (x, y) = (Double(record.xs[index]), Double(record.ys[index]))
                if case .marker(let marker) = look { painter.draw(marker, x: x, y: y, record.variables) }
                if case .picture(let look) = look, let picture {
                    painter.draw(look, picture, x: x, y: y, record.variables)
                }
            }
            return
        }
        let key = MarkerStamps.Key(layer: layerNumber, symbol: record.symbol, variables: variables)
        let stamp = try stamps.stamp(key, look, picture, scale: frame.symbolScale)
        try canvas.withPixels { pixels in
            for index in record.xs.indices {
                // Whole pixels: the picture is copied, not drawn anew. A place beyond all numbers is beyond the edges.
                let (x, y) = (Double(record.xs[index]).rounded(), Double(record.ys[index]).rounded())
                guard let x = Int(exactly: x), let y = Int(exactly: y) else { continue }
                stamp.pixels.draw(on: pixels, width: canvas.width, left: x &- stamp.middle, top: y &- stamp.middle)
            }
        }
    }

    private func addPath(_ record: DrawingRecord, closes: Bool) {
        cairo_new_path(canvas.context)
        for number in record.starts.indices {
            let part = record.part(number)
            cairo_new_sub_path(canvas.context)
            for index in part { cairo_line_to(canvas.context, Double(record.xs[index]), Double(record.ys[index])) }
            if closes { cairo_close_path(canvas.context) }
        }
    }

    private func place(_ record: DrawingRecord, _ plan: LayerPlan) {
        for label in record.labels where label.number < plan.labels.count {
            guard let anchor = LabelAnchor(record, in: frame) else { return }
            var reach = plan.looks[record.symbol].reach
            if record.kind != .points { reach = 2 * frame.symbolScale }
            labels.add(label.text, plan.labels[label.number], anchor, reach: reach, layer: layerNumber)
        }
    }

    // MARK: The image

    /// Draws the labels and gives the bytes of the image.
    package func finished() throws -> [UInt8] {
        try labels.draw(on: canvas)
        return try canvas.finished(isTransparent: isTransparent)
    }
}
