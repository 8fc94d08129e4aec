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
        try search.data.pieces(near: search.box(within: most)) { piece in
            guard let foot = LineFoot(of: search.x, search.y, on: piece.line), foot.distance <= most else { return }
            found.append(Near(piece: piece, foot: foot))
        }
        return found.sorted { $0.foot.distance < $1.foot.distance }
    }

    /// The names of the streets that come as near.
    func names(within most: Double) throws -> [Int64] {
        let roads = Set(try nearest(within: most).map(\.piece.road))
        let index = DocumentIndex(data: search.data)
        return Set(try roads.compactMap { try index.road($0)?.nameID }).sorted()
    }
}
