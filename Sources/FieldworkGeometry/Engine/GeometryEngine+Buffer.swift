internal import CGEOS

extension GeometryEngine {
    /// The polygon around all points within a distance, in units of the spatial reference; nil when it is empty.
    public static func buffer(around geometry: Geometry, distance: Double) -> Polygon? {
        (try? widened(geometry, by: distance)) ?? nil
    }

    /// The same. Throws when it would take more than a request may take, or than the task has left.
    package static func widened(_ geometry: Geometry, by distance: Double) throws(AllowanceError) -> Polygon? {
        guard distance.isFinite else { return nil }
        try geometry.checkBufferCost()
        if let points = geometry as? Multipoint, points.vertices.count > 1 {
            return try circles(around: points, distance)
        }
        return try plainBuffer(geometry, distance)
    }

    private static func plainBuffer(_ geometry: Geometry, _ distance: Double) throws(AllowanceError) -> Polygon? {
        try made(of: geometry) { GEOSBuffer_r($0, $1, distance, 16) } as? Polygon
    }

    /// Circles that touch no other stay as they are, the others are united group by group: GEOS would cut all of them at once, with
    /// memory for each pair that meets.
    private static func circles(around points: Multipoint, _ distance: Double) throws(AllowanceError) -> Polygon? {
        let vertices = points.vertices
        guard distance > 0, vertices.isFinite else { return nil }
        var parts: [Geometry] = []
        for group in PointGroups(vertices, reach: distance * 2).groups {
            try WorkAllowance.check()
            var circles: [Geometry] = []
            for index in group {
                let point = Point(x: vertices.x(index), y: vertices.y(index), spatialReference: points.spatialReference)
                if let circle = try plainBuffer(point, distance) { circles.append(circle) }
            }
            let whole: Geometry? =
                circles.count > 1 ? try GEOSInterrupts.run { union(of: circles) } : circles.first
            if let whole { parts.append(whole) }
        }
        return Geometry.merged(parts, spatialReference: points.spatialReference) as? Polygon
    }
}

/// Points in groups such that any two of different groups are further apart than a reach.
struct PointGroups {
    let groups: [[Int]]

    private struct Cell: Hashable {
        var x: Double
        var y: Double
    }

    private struct Place: Hashable {
        var x: Double
        var y: Double
    }

    init(_ vertices: Vertices, reach: Double) {
        // A point that is there twice makes no other circle.
        var seen: Set<Place> = []
        let indices = (0..<vertices.count).filter { seen.insert(Place(x: vertices.x($0), y: vertices.y($0))).inserted }
        // Two points of one cell are within reach of each other.
        let side = reach / 2.0.squareRoot()
        var cells: [Cell: [Int]] = [:]
        for index in indices {
            cells[
                Cell(x: (vertices.x(index) / side).rounded(.down), y: (vertices.y(index) / side).rounded(.down)),
                default: []
            ]
            .append(index)
        }
        let keys = cells.keys.sorted { ($0.x, $0.y) < ($1.x, $1.y) }
        let numbers = Dictionary(uniqueKeysWithValues: zip(keys, keys.indices))
        var roots = Array(keys.indices)
        func root(_ number: Int) -> Int {
            var number = number
            while roots[number] != number {
                roots[number] = roots[roots[number]]
                number = roots[number]
            }
            return number
        }
        func meet(_ one: Cell, _ other: Cell) -> Bool {
            for first in cells[one] ?? [] {
                for second in cells[other] ?? [] {
                    let (dx, dy) = (vertices.x(first) - vertices.x(second), vertices.y(first) - vertices.y(second))
                    if dx * dx + dy * dy <= reach * reach { return true }
                }
            }
            return false
        }
        for (number, key) in keys.enumerated() {
            for dx in [0.0, 1, 2] {
                for dy in [-2.0, -1, 0, 1, 2] where dx > 0 || dy > 0 {
                    let other = Cell(x: key.x + dx, y: key.y + dy)
                    guard let neighbour = numbers[other], root(neighbour) != root(number), meet(key, other) else {
                        continue
                    }
                    roots[root(neighbour)] = root(number)
                }
            }
        }
        var groups: [Int: [Int]] = [:]
        for (number, key) in keys.enumerated() { groups[root(number), default: []] += cells[key] ?? [] }
        self.groups = groups.keys.sorted().compactMap { groups[$0] }
    }
}
