/// Which ring lies in which. Readers of the protocol must not trust how rings turn, so shells and holes
/// are told apart by containment: a ring that lies in an even number of others is a shell, else it is a hole of the
/// smallest ring around it.
extension RingWinding {
    /// The rings of a polygon as shells, each with its holes behind it, in the order of the shells.
    package static func polygons(of polygon: Polygon) -> [[Range<Int>]] {
        let vertices = polygon.vertices
        let rings = vertices.parts.filter { !$0.isEmpty }
        guard rings.count > 1 else { return rings.map { [$0] } }
        let bounds = rings.map { Bounds(vertices, $0) }
        let around = ringsAround(vertices, rings, bounds)
        var polygons: [[Range<Int>]] = []
        var shellPosition = [Int?](repeating: nil, count: rings.count)
        for index in rings.indices where around[index].count.isMultiple(of: 2) {
            shellPosition[index] = polygons.count
            polygons.append([rings[index]])
        }
        for index in rings.indices where shellPosition[index] == nil {
            // The ring next around a hole is the smallest that holds it, and it is a shell.
            let holder = around[index].filter { shellPosition[$0] != nil }.min { bounds[$0].area < bounds[$1].area }
            if let holder, let position = shellPosition[holder] {
                polygons[position].append(rings[index])
            } else {
                polygons.append([rings[index]])
            }
        }
        return polygons
    }

    private struct Bounds {
        var xMin = Double.infinity
        var yMin = Double.infinity
        var xMax = -Double.infinity
        var yMax = -Double.infinity
        /// The area of the ring itself, not of its bounds.
        var area = 0.0

        init(_ vertices: Vertices, _ ring: Range<Int>) {
            for index in ring {
                let (x, y) = (vertices.x(index), vertices.y(index))
                xMin = min(xMin, x)
                yMin = min(yMin, y)
                xMax = max(xMax, x)
                yMax = max(yMax, y)
            }
            area = abs(signedArea(vertices, ring))
        }

        func holds(_ other: Bounds) -> Bool {
            xMin <= other.xMin && xMax >= other.xMax && yMin <= other.yMin && yMax >= other.yMax && area > other.area
        }
    }

    /// For each ring the numbers of the rings around it. Sweeps from west to east and compares only rings that the
    /// sweep has not left behind.
    private static func ringsAround(_ vertices: Vertices, _ rings: [Range<Int>], _ bounds: [Bounds]) -> [[Int]] {
        var around = [[Int]](repeating: [], count: rings.count)
        var open: [Int] = []
        for index in rings.indices.sorted(by: {
            (bounds[$0].xMin, -bounds[$0].xMax) < (bounds[$1].xMin, -bounds[$1].xMax)
        }) {
            open.removeAll { bounds[$0].xMax < bounds[index].xMin }
            for other in open {
                if bounds[other].holds(bounds[index]), contains(vertices, rings[other], rings[index]) {
                    around[index].append(other)
                } else if bounds[index].holds(bounds[other]), contains(vertices, rings[index], rings[other]) {
                    around[other].append(index)
                }
            }
            open.append(index)
        }
        return around
    }

    /// Whether one ring lies in another, told by the first vertex that is not on the other's edge; a ring whose
    /// vertices are all on it is told by the middles of its edges.
    private static func contains(_ vertices: Vertices, _ outer: Range<Int>, _ inner: Range<Int>) -> Bool {
        for index in inner {
            if let isInside = isInside(vertices.x(index), vertices.y(index), vertices, outer) { return isInside }
        }
        var previous = inner.upperBound - 1
        for index in inner {
            let (x, y) = (
                (vertices.x(index) + vertices.x(previous)) / 2, (vertices.y(index) + vertices.y(previous)) / 2
            )
            if let isInside = isInside(x, y, vertices, outer) { return isInside }
            previous = index
        }
        return false
    }

    /// Whether a position is inside a ring; nil when it lies on its edge.
    private static func isInside(_ x: Double, _ y: Double, _ vertices: Vertices, _ ring: Range<Int>) -> Bool? {
        var isInside = false
        var previous = ring.upperBound - 1
        for index in ring {
            let (ax, ay, bx, by) = (vertices.x(index), vertices.y(index), vertices.x(previous), vertices.y(previous))
            previous = index
            let cross = (bx - ax) * (y - ay) - (by - ay) * (x - ax)
            if cross == 0, min(ax, bx) <= x, x <= max(ax, bx), min(ay, by) <= y, y <= max(ay, by) { return nil }
            if (ay > y) != (by > y), x < (bx - ax) * (y - ay) / (by - ay) + ax { isInside.toggle() }
        }
        return isInside
    }
}
