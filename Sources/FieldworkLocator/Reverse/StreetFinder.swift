import FieldworkStore

/// Finds pieces of streets near a place.
struct StreetFinder {
    struct Near {
        var piece: StreetPiece
        var foot: LineFoot
    }

    private let search: ReverseSearch

    init(_ search: ReverseSearch) { self.search = search }

    /// The nearest first.
    func nearest(within most: Double) throws -> [Near] {
        var found: [Near] = []
        let (dx, dy) = (most / search.plane.perDegreeX, most / search.plane.perDegreeY)
        try search.data.connection.run(
            """
            SELECT s.road_id, s.left_from, s.left_to, s.left_parity, s.right_from, s.right_to, s.right_parity, s.geom
            FROM rtree_gc_street AS t JOIN gc_street AS s ON s.id = t.id
            WHERE t.max_x >= ? AND t.min_x <= ? AND t.max_y >= ? AND t.min_y <= ?
            """
        ) {
            let box = [search.x - dx, search.x + dx, search.y - dy, search.y + dy]
            for (index, value) in box.enumerated() { try $0.bind(value, at: index + 1) }
        } row: { row in
            let piece = StreetPiece(row)
            guard let foot = LineFoot(of: search.x, search.y, on: piece.line), foot.distance <= most else { return }
            found.append(Near(piece: piece, foot: foot))
        }
        return found.sorted { $0.foot.distance < $1.foot.distance }
    }
}
