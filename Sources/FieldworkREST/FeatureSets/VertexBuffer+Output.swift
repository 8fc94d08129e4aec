import FieldworkGeometry

extension VertexBuffer {
    /// Projects, generalises, winds and rounds; false when nothing is left to write.
    mutating func prepare(for layout: AnswerLayout, shellsClockwise: Bool, roundsTo: Double?) -> Bool {
        if let transform = layout.transform {
            transform.apply(xs: &xs, ys: &ys)
            // A vertex without a place in the output reference leaves the feature without geometry, not the answer
            // without meaning.
            if xs.contains(where: \.isNaN) { return false }
        }
        let isArea = layout.geometryType == .polygon
        if isArea, layout.output.returnsCentroid { centroid = areaCentroid() }
        if layout.output.returnsEnvelope { envelope = box() }
        if layout.output.maxAllowableOffset > 0, isArea || layout.geometryType == .polyline {
            generalize(tolerance: layout.output.maxAllowableOffset, isArea: isArea)
        }
        if isArea { windRings(shellsClockwise: shellsClockwise) }
        if let roundsTo {
            for index in xs.indices {
                xs[index] = (xs[index] * roundsTo).rounded() / roundsTo
                ys[index] = (ys[index] * roundsTo).rounded() / roundsTo
            }
        }
        return true
    }

    private func box() -> VertexBox {
        var box = VertexBox(xMin: xs[0], yMin: ys[0], xMax: xs[0], yMax: ys[0])
        for index in xs.indices.dropFirst() {
            box.xMin = min(box.xMin, xs[index])
            box.xMax = max(box.xMax, xs[index])
            box.yMin = min(box.yMin, ys[index])
            box.yMax = max(box.yMax, ys[index])
        }
        return box
    }

    /// The centre of mass of the shells without their holes, whichever way rings are wound; of what has no area the middle
    /// of its vertices. Sums are taken from the first vertex: far from the origin squares would drown what is summed.
    private func areaCentroid() -> (x: Double, y: Double) {
        let (originX, originY) = (xs[0], ys[0])
        var (area, sumX, sumY) = (0.0, 0.0, 0.0)
        for index in starts.indices {
            var (ringArea, ringX, ringY) = (0.0, 0.0, 0.0)
            for vertex in part(index).dropLast() {
                let (x1, y1) = (xs[vertex] - originX, ys[vertex] - originY)
                let (x2, y2) = (xs[vertex + 1] - originX, ys[vertex + 1] - originY)
                let cross = x1 * y2 - x2 * y1
                ringArea += cross
                ringX += (x1 + x2) * cross
                ringY += (y1 + y2) * cross
            }
            let sign = (ringArea < 0) == areShells[index] ? -1.0 : 1.0
            area += sign * ringArea
            sumX += sign * ringX
            sumY += sign * ringY
        }
        guard area > 0 else {
            let count = Double(xs.count)
            return (xs.reduce(0, +) / count, ys.reduce(0, +) / count)
        }
        return (originX + sumX / (3 * area), originY + sumY / (3 * area))
    }
}

/// The box around the vertices of one feature.
struct VertexBox: Sendable, Hashable {
    var xMin: Double
    var yMin: Double
    var xMax: Double
    var yMax: Double
}
