import FieldworkStore

/// Gives the pieces of a street their ranges of numbers from the houses that stand along them, where the source has none.
struct StreetRanges {
    private struct Piece {
        var id: Int64
        var line: [Double]
        var hasRange: Bool
        /// Number and metres along the line, of either side.
        var left: [(number: Int, along: Double)] = []
        var right: [(number: Int, along: Double)] = []
    }

    /// A house belongs to a piece of its street within so many metres.
    private static let reach = 120.0

    private let connection: StoreConnection

    init(_ connection: StoreConnection) { self.connection = connection }

    func fill(_ progress: (Int) throws -> Void) throws {
        let roads = try lastRoad()
        guard roads >= 0 else { return }
        for road in 0...roads {
            try progress(Int(road))
            var pieces: [Piece] = []
            try connection.run(
                "SELECT id, geom, left_from IS NOT NULL OR right_from IS NOT NULL FROM stage_piece WHERE road_id = ?"
            ) {
                try $0.bind(road, at: 1)
            } row: {
                pieces.append(
                    Piece(id: $0.integer(0), line: GeometryBytes.readLine($0.blob(1)), hasRange: $0.integer(2) != 0))
            }
            guard pieces.contains(where: { !$0.hasRange }) else { continue }
            try connection.run("SELECT number, x, y FROM stage_house WHERE road_id = ?") {
                try $0.bind(road, at: 1)
            } row: { row in
                Self.assign(Int(row.integer(0)), (row.double(1), row.double(2)), to: &pieces)
            }
            for piece in pieces where !piece.hasRange { try write(piece) }
        }
    }

    private func lastRoad() throws -> Int64 {
        let ofStreets = try connection.integer("SELECT max(road_id) FROM stage_piece") ?? -1
        return max(ofStreets, try connection.integer("SELECT max(road_id) FROM stage_house") ?? -1)
    }

    private static func assign(_ number: Int, _ place: (x: Double, y: Double), to pieces: inout [Piece]) {
        var best: (index: Int, foot: LineFoot)?
        for (index, piece) in pieces.enumerated() {
            guard let foot = LineFoot(of: place.x, place.y, on: piece.line) else { continue }
            if foot.distance < best?.foot.distance ?? reach { best = (index, foot) }
        }
        guard let best, !pieces[best.index].hasRange else { return }
        if best.foot.isLeft {
            pieces[best.index].left.append((number, best.foot.along))
        } else {
            pieces[best.index].right.append((number, best.foot.along))
        }
    }

    private func write(_ piece: Piece) throws {
        let sides = [Self.range(piece.left), Self.range(piece.right)]
        guard sides.contains(where: { $0 != nil }) else { return }
        try connection.run(
            """
            UPDATE stage_piece SET left_from = ?, left_to = ?, left_parity = ?, right_from = ?, right_to = ?, right_parity = ?
            WHERE id = ?
            """
        ) {
            for (index, side) in sides.enumerated() {
                guard let side else { continue }
                try $0.bind(Int64(side.from), at: 3 * index + 1)
                try $0.bind(Int64(side.to), at: 3 * index + 2)
                try $0.bind(side.parity.rawValue, at: 3 * index + 3)
            }
            try $0.bind(piece.id, at: 7)
        }
    }

    /// The numbers of one side in the direction of the line. A few on the wrong side of the road don't make it mixed.
    private static func range(_ houses: [(number: Int, along: Double)]) -> NumberRange? {
        guard !houses.isEmpty else { return nil }
        let odd = houses.filter { $0.number % 2 != 0 }
        let even = houses.filter { $0.number % 2 == 0 }
        let (main, other) = odd.count >= even.count ? (odd, even) : (even, odd)
        let isMixed = other.count * 3 > main.count
        let taken = isMixed ? houses : main
        guard let low = taken.min(by: { $0.number < $1.number }), let high = taken.max(by: { $0.number < $1.number })
        else { return nil }
        let rises = low.along <= high.along
        return NumberRange(
            from: rises ? low.number : high.number, to: rises ? high.number : low.number,
            parity: isMixed ? .both : main[0].number % 2 == 0 ? .even : .odd)
    }
}
