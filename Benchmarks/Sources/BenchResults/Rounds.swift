import Foundation

/// The middle of several rounds, with the least and the most as the noise.
package struct Rounds: Sendable {
    package var values: [Double]

    package init(_ values: [Double] = []) { self.values = values }

    package mutating func add(_ value: Double) { values.append(value) }

    package var median: Double {
        let sorted = values.sorted()
        return sorted.isEmpty ? .nan : sorted[sorted.count / 2]
    }

    package var text: String { Spread(self)?.text ?? "not measured" }

    /// The ratio of each round: both figures of it were taken within seconds, so that it has less of the machine's moods than a
    /// ratio of medians.
    package func over(_ other: Rounds) -> Rounds { Rounds(zip(values, other.values).map { $0 / $1 }) }

    /// Such as "1.74 times (1.60 to 1.91)".
    package func times(_ other: Rounds) -> String { Spread(over(other))?.times ?? "not measured" }
}

/// The median of some rounds, the least and the most of them.
package struct Spread: Codable, Equatable, Sendable {
    package var median: Double
    package var least: Double
    package var most: Double

    package init(median: Double, least: Double, most: Double) {
        (self.median, self.least, self.most) = (median, least, most)
    }

    /// Nil without rounds, and where one of them is no number, for which JSON has no word.
    package init?(_ rounds: Rounds) {
        guard let least = rounds.values.min(), let most = rounds.values.max(), rounds.values.allSatisfy(\.isFinite)
        else { return nil }
        self.init(median: rounds.median, least: least, most: most)
    }

    /// Small figures need their fractions.
    package var text: String { text(median < 2 ? 2 : median < 20 ? 1 : 0) }

    package var times: String { String(format: "%.2f times (%.2f to %.2f)", median, least, most) }

    private func text(_ digits: Int) -> String {
        String(format: "%.\(digits)f (%.\(digits)f to %.\(digits)f)", median, least, most)
    }

    /// With four digits that count, so that a recorded file can be read.
    var short: Spread { Spread(median: Self.short(median), least: Self.short(least), most: Self.short(most)) }

    private static func short(_ value: Double) -> Double { Double(String(format: "%.4g", value)) ?? value }
}
