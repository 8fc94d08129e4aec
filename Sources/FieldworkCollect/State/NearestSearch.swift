import Fieldwork
import Foundation

/// Looks for an area around a place that holds the features of a list, but few more: features are counted until it does, for
/// that costs far less than to fetch those that the list doesn't show.
struct NearestSearch {
    let layer: MapLayer
    let place: Place
    /// Where the features are.
    let whole: Envelope
    /// How many are to be found.
    let limit: Int
    let condition: String?

    /// The area holds at least so many times the wanted number, for its corners are farther than what lies beside its edges.
    private static let least = 2
    /// The area holds at most so many times the wanted number, and no more than are looked at.
    private static let most = 8
    /// From then on an area will do that holds more, as long as all of them are looked at.
    private static let rounds = 10
    /// A small cluster far from the place takes this many halvings to be met.
    private static let mostRounds = 40

    /// The most features that the area may hold.
    static func most(for limit: Int) -> Int { min(limit * most, Limits.nearbyCandidates) }

    /// - Parameters:
    ///   - count: the number of features in the whole.
    ///   - isBounded: whether nothing beyond the whole is asked for.
    func area(count: Int, isBounded: Bool) async throws -> Envelope {
        let (least, most) = (limit * Self.least, Self.most(for: limit))
        let wanted = Double(least + most) / 2
        // Shares of the area around the place that reaches over the whole: one holds too few, the other too many or all.
        var (low, high, highCount) = (0.0, 1.0, count)
        var share = min(1, (wanted / Double(count)).squareRoot())
        for round in 0..<Self.mostRounds {
            if round >= Self.rounds, highCount <= Limits.nearbyCandidates { break }
            let inside = try await self.count(in: area(share, isBounded))
            if inside >= least, inside <= most { return area(share, isBounded) }
            if inside < least { low = max(low, share) } else { (high, highCount) = (share, inside) }
            guard low < high else { break }
            // At most four times as near or as far at once: features are crowded here and sparse there.
            let factor = inside == 0 ? 4 : (wanted / Double(inside)).squareRoot()
            let guess = share * min(4, max(0.25, factor))
            share = guess > low && guess < high ? guess : (low + high) / 2
        }
        return high >= 1 && isBounded ? whole : area(high, isBounded)
    }

    /// The part of the way from the place to the farthest edges of the whole.
    private func area(_ share: Double, _ isBounded: Bool) -> Envelope {
        let reach = (
            x: max(place.x - whole.xMin, whole.xMax - place.x, 1) * share,
            y: max(place.y - whole.yMin, whole.yMax - place.y, 1) * share
        )
        let box = (place.x - reach.x, place.y - reach.y, place.x + reach.x, place.y + reach.y)
        guard isBounded else {
            return Envelope(xMin: box.0, yMin: box.1, xMax: box.2, yMax: box.3, spatialReference: .webMercator)
        }
        return Envelope(
            xMin: max(box.0, whole.xMin), yMin: max(box.1, whole.yMin), xMax: min(box.2, whole.xMax),
            yMax: min(box.3, whole.yMax), spatialReference: .webMercator)
    }

    private func count(in area: Envelope) async throws -> Int {
        let parameters = QueryParameters()
        if let condition { parameters.whereClause = condition }
        parameters.geometry = area
        parameters.spatialRelationship = .envelopeIntersects
        return try await layer.table.queryFeatureCount(using: parameters)
    }
}
