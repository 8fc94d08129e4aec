/// How rings tell shells from holes. In the protocol a shell turns clockwise and a hole counter-clockwise; in
/// well-known binary the first ring of each polygon is the shell and the others are its holes.
package enum RingWinding {
    /// Twice the signed area of a ring: positive when it turns counter-clockwise.
    package static func signedArea(_ vertices: Vertices, _ ring: Range<Int>) -> Double {
        guard let first = ring.first else { return 0 }
        // Relative to the first vertex, so that large coordinates do not drown the area.
        let (originX, originY) = (vertices.x(first), vertices.y(first))
        var sum = 0.0
        var previous = (x: vertices.x(ring.upperBound - 1) - originX, y: vertices.y(ring.upperBound - 1) - originY)
        for index in ring {
            let current = (x: vertices.x(index) - originX, y: vertices.y(index) - originY)
            sum += previous.x * current.y - current.x * previous.y
            previous = current
        }
        return sum
    }

    /// Rings of well-known binary as the protocol winds them: open, shells clockwise, holes counter-clockwise.
    static func wound(_ vertices: Vertices, rings: [(start: Int, isShell: Bool)]) -> Vertices {
        var result = Vertices(hasZ: vertices.hasZ, hasM: vertices.hasM, partStarts: [])
        result.coordinates.reserveCapacity(vertices.coordinates.count)
        for (index, ring) in rings.enumerated() {
            let end = index + 1 < rings.count ? rings[index + 1].start : vertices.count
            append(vertices, opened(vertices, ring.start..<end), clockwise: ring.isShell, to: &result)
        }
        if result.partStarts.isEmpty { result.partStarts = [0] }
        return result
    }

    static func opened(_ vertices: Vertices, _ ring: Range<Int>) -> Range<Int> {
        guard ring.count > 1, vertices.x(ring.lowerBound) == vertices.x(ring.upperBound - 1),
            vertices.y(ring.lowerBound) == vertices.y(ring.upperBound - 1)
        else { return ring }
        return ring.lowerBound..<ring.upperBound - 1
    }

    static func append(_ vertices: Vertices, _ ring: Range<Int>, clockwise: Bool?, to result: inout Vertices) {
        guard !ring.isEmpty else { return }
        result.partStarts.append(result.count)
        let reverse = clockwise.map { (signedArea(vertices, ring) > 0) == $0 } ?? false
        let stride = vertices.stride
        if reverse {
            // The first vertex stays the first.
            result.coordinates += vertices.coordinates[ring.lowerBound * stride..<(ring.lowerBound + 1) * stride]
            for index in ring.dropFirst().reversed() {
                result.coordinates += vertices.coordinates[index * stride..<(index + 1) * stride]
            }
        } else {
            result.coordinates += vertices.coordinates[ring.lowerBound * stride..<ring.upperBound * stride]
        }
    }
}
