package import FieldworkREST
import Foundation

/// Which points a crowded level shows: each feature has a rank for good, and a level shows those below some rank. So the same
/// features are there in all tiles of a level and at all deeper levels: nothing flickers, and tiles agree at their borders.
package enum Thinning {
    /// How many more features each step leaves out.
    private static let factor = 2.5
    private static let multiplier: Int64 = 2_654_435_761
    private static let ranks: Int64 = 1 << 32
    /// Products of smaller ids stay within 64 bits.
    private static let ids: Int64 = 1 << 31

    /// Steps that leave the densest tile of a level as full as it may be; 0 shows all. Places are denser than the mean:
    /// fourfold counts.
    /// - Parameter width: metres of the plane that the layer covers.
    package static func steps(total: Int, width: Double, height: Double, level: Int) -> Int {
        let side = 2 * WebMercator.halfSide / Double(1 << min(max(level, 0), Limits.tileLevel))
        let tiles = max(1, width / side) * max(1, height / side)
        let densest = min(Double(total), 4 * Double(total) / tiles)
        guard densest > Double(Limits.tileFeatures) else { return 0 }
        return Int((log(densest / Double(Limits.tileFeatures)) / log(factor)).rounded(.up))
    }

    /// The rank of a feature: consecutive ids spread evenly over the ranks.
    package static func rank(of objectID: Int64) -> Int64 {
        ((objectID % ids) &* multiplier) % ranks
    }

    private static func ranksShown(_ steps: Int) -> Int64 { Int64(Double(ranks) / pow(factor, Double(steps))) }

    /// Whether a feature is among those that are left after so many steps.
    package static func shows(_ objectID: Int64, steps: Int) -> Bool {
        steps <= 0 || rank(of: objectID) < ranksShown(steps)
    }

    /// The condition that chooses the features of so many steps, for a store to find; nil for all of them.
    package static func condition(steps: Int, field: String) -> SQLExpression? {
        guard steps > 0 else { return nil }
        let id = SQLExpression.function(.mod, [.field(field), .literal(.integer(ids))])
        let rank = SQLExpression.function(
            .mod, [.binary(.multiply, id, .literal(.integer(multiplier))), .literal(.integer(ranks))])
        return .binary(.less, rank, .literal(.integer(ranksShown(steps))))
    }
}
