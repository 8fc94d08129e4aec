import FieldworkGeometry

/// What happens to every geometry between its blob and an answer, whatever the format: projection, generalisation,
/// rings wound as the format wants them, rounding.
struct VertexPipeline: Sendable {
    private let transform: ProjectionTransform?
    private let tolerance: Double
    private let isArea: Bool
    private let isLine: Bool
    private let shellsClockwise: Bool
    private let roundsTo: Double?

    init(layout: AnswerLayout, shellsClockwise: Bool = true) {
        transform = layout.transform
        tolerance = layout.output.maxAllowableOffset
        isArea = layout.geometryType == .polygon
        isLine = layout.geometryType == .polyline
        self.shellsClockwise = shellsClockwise
        roundsTo = layout.output.precision.map { decimals in
            (0..<min(max(decimals, 0), 15)).reduce(1.0) { power, _ in power * 10 }
        }
    }

    /// Fills the buffer from a blob; false when there is nothing to write.
    func fill(_ buffer: inout VertexBuffer, from blob: UnsafeRawBufferPointer) throws(GeometryError) -> Bool {
        guard try buffer.read(blob) else { return false }
        if let transform {
            transform.apply(xs: &buffer.xs, ys: &buffer.ys)
            // A vertex without a place in the output reference leaves the feature without geometry, not the answer
            // without form.
            if buffer.xs.contains(where: \.isNaN) { return false }
        }
        if tolerance > 0, isArea || isLine { buffer.generalize(tolerance: tolerance, isArea: isArea) }
        if isArea { buffer.windRings(shellsClockwise: shellsClockwise) }
        if let roundsTo {
            for index in buffer.xs.indices {
                buffer.xs[index] = (buffer.xs[index] * roundsTo).rounded() / roundsTo
                buffer.ys[index] = (buffer.ys[index] * roundsTo).rounded() / roundsTo
            }
        }
        return true
    }
}
