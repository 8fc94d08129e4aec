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
    private static let rounds = 10

    /// The most features that the area may hold.
    static func most(for limit: Int) -> Int { min(limit * most, Limits.nearbyCandidates) }

    /// - Parameters:
    ///   - count: the number of features in the whole.
    ///   - isBounded: whether nothing beyond the whole is asked for.
    func area(count: Int, isBounded: Bool) async throws -> Envelope {
        let (least, most) = (limit * Self.least, Self.most(for: limit))
        let wanted = Double(least + most) / 2
        var share = min(1, (wanted / Double(count)).squareRoot())
        var area = around(share)
        for _ in 0..<Self.rounds {
            let inside = try await self.count(in: area)
            let isEnough = inside >= least || isBounded && share >= 1
            if isEnough, inside <= most { break }
            // At most four times as near or as far at once: features are crowded here and sparse there.
            let factor = inside == 0 ? 4 : (wanted / Double(inside)).squareRoot()
            share *= min(4, max(0.25, factor))
            if isBounded { share = min(1, share) }
            area = around(share)
        }
        return isBounded && share >= 1 ? whole : area
    }

    private func around(_ share: Double) -> Envelope {
        Envelope(
            xMin: place.x - whole.width * share / 2, yMin: place.y - whole.height * share / 2,
            xMax: place.x + whole.width * share / 2, yMax: place.y + whole.height * share / 2,
            spatialReference: .webMercator)
    }

    private func count(in area: Envelope) async throws -> Int {
        let parameters = QueryParameters()
        if let condition { parameters.whereClause = condition }
        parameters.geometry = area
        parameters.spatialRelationship = .envelopeIntersects
        return try await layer.table.queryFeatureCount(using: parameters)
    }
}
