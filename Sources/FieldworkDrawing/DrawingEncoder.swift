import FieldworkGeometry
package import FieldworkREST
package import FieldworkTiles

/// Writes the features of a query as records for the painter. The store drives it from its cursor: a geometry goes from its blob
/// to pixels of the image.
package struct DrawingEncoder: FeatureEncoder {
    package var bytes: [UInt8] = []
    private let plan: LayerPlan
    private let expressions: FeatureExpressions?
    private let transform: ProjectionTransform?
    private var values: [DrawingValue]
    private var buffer = VertexBuffer()
    private var clipped = ClipBuffer()
    private var record = DrawingRecord()
    private var places: [(x: Double, y: Double)] = []
    private let toPixels: MapFrame.Pixels
    private let box: ClipBox
    /// Pixels that a vertex must be away from the one before it.
    private let tolerance: Double

    /// - Parameters:
    ///   - expressions: those of the plan, over its fields.
    ///   - tolerance: pixels; less for images that can be enlarged.
    package init(
        _ plan: LayerPlan, query: FeatureQuery, expressions: FeatureExpressions? = nil, tolerance: Double = 0.5
    ) throws(ServiceError) {
        self.plan = plan
        self.expressions = expressions
        self.tolerance = tolerance
        let columns = try AnswerLayout(layer: plan.layer, query: query).fields.count
        guard columns == plan.fields.count else {
            throw ServiceError(code: 500, message: "The image could not be drawn.")
        }
        values = [DrawingValue](repeating: .null, count: columns + plan.places.count)
        let frame = plan.frame
        toPixels = frame.pixels
        box = ClipBox(
            xLow: -plan.margin, yLow: -plan.margin, xHigh: Double(frame.width) + plan.margin,
            yHigh: Double(frame.height) + plan.margin)
        guard let source = plan.layer.spatialReference, let target = frame.reference else {
            transform = nil
            return
        }
        do {
            let way = try ProjectionTransform.between(source, target)
            transform = way.isIdentity ? nil : way
        } catch {
            throw .invalidParameter("The layer can't be drawn in the reference of the image: \(error.details)")
        }
    }

    package mutating func begin() {}

    package mutating func beginFeature() {
        for index in values.indices { values[index] = .null }
        record.clear()
        expressions?.beginFeature()
    }

    package mutating func null(column: Int) {}
    package mutating func integer(_ value: Int64, column: Int) {
        values[column] = .integer(value)
        expressions?.integer(value, column: column)
    }

    package mutating func real(_ value: Double, column: Int) {
        values[column] = .real(value)
        expressions?.real(value, column: column)
    }

    package mutating func text(_ value: UnsafeRawBufferPointer, column: Int) {
        expressions?.text(value, column: column)
        values[column] = .text(String(decoding: value.prefix(4 * Limits.labelCharacters), as: UTF8.self))
    }

    package mutating func data(_ value: UnsafeRawBufferPointer, column: Int) {}

    package mutating func geometry(_ blob: UnsafeRawBufferPointer?) throws {
        guard let blob else { return }
        expressions?.geometry(blob)
        switch plan.geometryType {
        case .point, .multipoint:
            record.kind = plan.heat == nil ? .points : .heat
            if let plain = VertexBuffer.plainPoint(blob) {
                let place = transform?.apply(x: plain.x, y: plain.y) ?? plain
                addPoint(place.x, place.y)
            } else if try read(blob) {
                for index in buffer.xs.indices { addPoint(buffer.xs[index], buffer.ys[index]) }
            }
        case .polyline:
            record.kind = .lines
            guard try read(blob) else { return }
            addLines()
        case .polygon, .envelope:
            record.kind = .areas
            guard try read(blob) else { return }
            addRings()
        }
    }

    /// Reads a blob into the plane of the image; false when it has no vertices.
    private mutating func read(_ blob: UnsafeRawBufferPointer) throws -> Bool {
        guard try buffer.read(blob) else { return false }
        transform?.apply(xs: &buffer.xs, ys: &buffer.ys)
        return true
    }

    private mutating func addPoint(_ x: Double, _ y: Double) {
        let place = toPixels.place(x, y)
        guard box.contains(place) else { return }
        record.starts.append(record.xs.count)
        record.xs.append(Float(place.x))
        record.ys.append(Float(place.y))
    }

    /// The vertices of a part in pixels, without those that are nearer than the tolerance to the one before. A place that the
    /// plane has not is left out.
    private mutating func fillPlaces(_ part: Range<Int>) {
        places.removeAll(keepingCapacity: true)
        var last: (x: Double, y: Double)?
        for index in part {
            let place = toPixels.place(buffer.xs[index], buffer.ys[index])
            guard abs(place.x) < 1e9, abs(place.y) < 1e9 else { continue }
            if let last, index + 1 < part.upperBound, abs(place.x - last.x) < tolerance,
                abs(place.y - last.y) < tolerance
            {
                continue
            }
            places.append(place)
            last = place
        }
    }

    private func part(_ index: Int) -> Range<Int> {
        let end = index + 1 < buffer.starts.count ? buffer.starts[index + 1] : buffer.xs.count
        return buffer.starts[index]..<end
    }

    private mutating func addLines() {
        for index in buffer.starts.indices {
            fillPlaces(part(index))
            clipped.clipLine(places, in: box)
            for start in clipped.starts.indices { append(clipped.part(start)) }
        }
    }

    private mutating func addRings() {
        for index in buffer.starts.indices {
            fillPlaces(part(index))
            clipped.clipRing(places, in: box)
            guard clipped.xs.count >= 2 else { continue }
            append(clipped.xs.indices)
        }
    }

    private mutating func append(_ range: Range<Int>) {
        record.starts.append(record.xs.count)
        for index in range {
            record.xs.append(Float(clipped.xs[index]))
            record.ys.append(Float(clipped.ys[index]))
        }
    }

    package mutating func endFeature() {
        guard !record.xs.isEmpty else { return }
        evaluate()
        if let heat = plan.heat {
            record.weight = Float(heat.column.map { values[$0].number ?? 0 } ?? 1)
            if record.weight.isFinite { record.append(to: &bytes) }
            return
        }
        guard let symbol = plan.finder.index(of: values) else { return }
        record.symbol = symbol
        record.variables = plan.variables.isEmpty ? VisualVariables.Result() : plan.variables.result(values)
        // A turn by a value is one from north, which turns with the map.
        if let degrees = record.variables.rotation {
            record.variables.rotation = degrees - Float(plan.frame.rotation)
        }
        for (number, label) in plan.labels.enumerated() {
            if let text = label.text(values) { record.labels.append(DrawingRecord.Label(number: number, text: text)) }
        }
        record.append(to: &bytes)
    }

    /// Puts what the expressions give behind the values of the fields.
    private mutating func evaluate() {
        for (name, value) in expressions?.results() ?? [] {
            guard let place = plan.places[name] else { continue }
            values[place] =
                switch value {
                case .integer(let number): .integer(number)
                case .real(let number): .real(number)
                case .text(let text): .text(text)
                }
        }
    }

    package mutating func end(exceededTransferLimit: Bool) {
        guard exceededTransferLimit else { return }
        bytes.append(Self.cutMark)
    }

    /// What stands at the end of the bytes when there are more features than the query's limit.
    static let cutMark: UInt8 = 255
}
