import FieldworkStore

extension ReverseSearch {
    /// Places near the point, or, of areas, about it.
    func places(_ kind: LocatorResult.Kind, isArea: Bool) throws -> [LocatorResult] {
        isArea ? try about([kind]) : try points(kind)
    }

    private func points(_ kind: LocatorResult.Kind) throws -> [LocatorResult] {
        let most = isSinglePlace ? Tolerance.single : Tolerance.pointOfInterest
        var near: [(id: Int64, distance: Double)] = []
        try data.places(near: box(within: most)) { entry, _ in
            let distance = plane.distance(x, y, entry.x, entry.y)
            if distance <= most { near.append((entry.id, distance)) }
        }
        near.sort { ($0.distance, $0.id) < ($1.distance, $1.id) }
        for place in near {
            if let result = try result(place: place.id, distance: place.distance), result.kind == kind {
                return [result]
            }
        }
        return []
    }

    private var isSinglePlace: Bool { options.kinds == [.pointOfInterest] }

    /// The smallest town, neighbourhood or postal area about the point.
    func areas() throws -> [LocatorResult] {
        let kinds: [LocatorResult.Kind] = [.locality, .postal]
        return try about(Set(kinds.filter { options.kinds?.contains($0) ?? true }))
    }

    /// The smallest place of some kinds that has the point in its area or its reach.
    private func about(_ kinds: Set<LocatorResult.Kind>) throws -> [LocatorResult] {
        guard !kinds.isEmpty else { return [] }
        var ids: [Int64] = []
        try data.places(near: box(within: 0)) { entry, isArea in if isArea { ids.append(entry.id) } }
        var best: (id: Int64, size: Double)?
        for id in ids {
            try data.connection.run("SELECT kind_id, reach, x, y, area FROM gc_place WHERE id = ?") {
                try $0.bind(id, at: 1)
            } row: { row in
                guard kinds.contains(try data.kind(row.integer(0)).kind), let size = sizeIfInside(row),
                    size < best?.size ?? .infinity
                else { return }
                best = (id, size)
            }
        }
        guard let best, let result = try result(place: best.id, distance: 0) else { return [] }
        return [result]
    }

    /// How large the area of a place is, in square metres, when the point is within it. For a place that has no area but a reach,
    /// the share of the reach counts as well, so that of two towns the one answers whose middle is nearer.
    private func sizeIfInside(_ row: StoreStatement) -> Double? {
        if !row.isNull(4) {
            let rings = PackedPath.rings(row.blob(4))
            return RingArea.contains(rings, x, y) ? RingArea.size(rings, plane) : nil
        }
        let reach = row.double(1)
        guard reach > 0 else { return nil }
        let place = (PackedDegrees.degrees(row.integer(2)), PackedDegrees.degrees(row.integer(3)))
        let share = plane.distance(x, y, place.0, place.1) / reach
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
