import FieldworkStore

extension ReverseSearch {
    /// Places near the point, or, of areas, about it.
    func places(_ kind: LocatorResult.Kind, isArea: Bool) throws -> [LocatorResult] {
        let most = isSinglePlace ? Tolerance.single : Tolerance.pointOfInterest
        var best: (id: Int64, rank: Double, distance: Double)?
        try candidates(within: isArea ? 0 : most) { row in
            guard row.text(1) == kind.rawValue, let place = GeometryBytes.readPoint(row.blob(3)) else { return }
            if isArea {
                guard let size = Self.sizeIfInside(x, y, row, place, plane), size < best?.rank ?? .infinity else {
                    return
                }
                best = (row.integer(0), size, 0)
            } else {
                let distance = plane.distance(x, y, place.x, place.y)
                guard distance <= most, distance < best?.rank ?? .infinity else { return }
                best = (row.integer(0), distance, distance)
            }
        }
        guard let best, let result = try result(place: best.id, distance: best.distance) else { return [] }
        return [result]
    }

    private var isSinglePlace: Bool { options.kinds == [.pointOfInterest] }

    /// The smallest town, neighbourhood or postal area about the point.
    func areas() throws -> [LocatorResult] {
        let kinds: [LocatorResult.Kind] = [.locality, .postal]
        let wanted = Set(kinds.filter { options.kinds?.contains($0) ?? true }.map(\.rawValue))
        guard !wanted.isEmpty else { return [] }
        var best: (id: Int64, size: Double)?
        try candidates(within: 0) { row in
            guard wanted.contains(row.text(1)), let place = GeometryBytes.readPoint(row.blob(3)),
                let size = Self.sizeIfInside(x, y, row, place, plane), size < best?.size ?? .infinity
            else { return }
            best = (row.integer(0), size)
        }
        guard let best, let result = try result(place: best.id, distance: 0) else { return [] }
        return [result]
    }

    private func candidates(within metres: Double, _ body: (StoreStatement) throws -> Void) throws {
        let (dx, dy) = (metres / plane.perDegreeX, metres / plane.perDegreeY)
        try data.connection.run(
            """
            SELECT p.id, p.kind, p.reach, p.geom, p.area FROM rtree_gc_place AS t JOIN gc_place AS p ON p.id = t.id
            WHERE t.max_x >= ? AND t.min_x <= ? AND t.max_y >= ? AND t.min_y <= ?
            """
        ) {
            for (index, value) in [x - dx, x + dx, y - dy, y + dy].enumerated() { try $0.bind(value, at: index + 1) }
        } row: {
            try body($0)
        }
    }

    /// How large the area of a place is, in square metres, when the point is within it. For a place that has no area but a reach,
    /// the share of the reach counts as well, so that of two towns the one answers whose middle is nearer.
    private static func sizeIfInside(
        _ x: Double, _ y: Double, _ row: StoreStatement, _ place: (x: Double, y: Double), _ plane: PlaneMetres
    ) -> Double? {
        if !row.isNull(4) {
            let rings = GeometryBytes.readRings(row.blob(4))
            return RingArea.contains(rings, x, y) ? RingArea.size(rings, plane) : nil
        }
        let reach = row.double(2)
        guard reach > 0 else { return nil }
        let share = plane.distance(x, y, place.x, place.y) / reach
        return share <= 1 ? .pi * reach * reach * share : nil
    }

    private func result(place id: Int64, distance: Double) throws -> LocatorResult? {
        guard let place = try DocumentIndex(data: data).place(id) else { return nil }
        var result = LocatorResult.of(place, try data.zone(place.zoneID).zone)
        result.distance = distance
        return result
    }
}

/// Rings in degrees, x and y in turn.
enum RingArea {
    /// Whether a point is within an odd number of rings.
    static func contains(_ rings: [[Double]], _ x: Double, _ y: Double) -> Bool {
        var isInside = false
        for ring in rings {
            for index in stride(from: 0, to: ring.count - 3, by: 2) {
                let (ax, ay, bx, by) = (ring[index], ring[index + 1], ring[index + 2], ring[index + 3])
                if (ay > y) != (by > y), x < (bx - ax) * (y - ay) / (by - ay) + ax { isInside.toggle() }
            }
        }
        return isInside
    }

    static func size(_ rings: [[Double]], _ plane: PlaneMetres) -> Double {
        var sum = 0.0
        for ring in rings {
            for index in stride(from: 0, to: ring.count - 3, by: 2) {
                sum += ring[index] * ring[index + 3] - ring[index + 2] * ring[index + 1]
            }
        }
        return abs(sum) / 2 * plane.perDegreeX * plane.perDegreeY
    }
}
