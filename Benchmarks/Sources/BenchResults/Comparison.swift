/// A figure whose ratio to the floor is worse than in an earlier result.
package struct Slower: Equatable, Sendable {
    package var title: String
    package var rows: Int
    package var now: Spread
    package var before: Spread
    package var day: String
    package var commit: String
    /// Of the machine, during the earlier run.
    package var load: String

    package var text: String {
        "slower than on \(day) (\(commit), load \(load)): \(title), \(rows) rows: \(now.times) the floor; then \(before.times)"
    }
}

extension BenchResult {
    /// Rounds that a spread needs: one or two say nothing of the noise.
    package static let fewestRounds = 3

    /// The least loss that is named, as a part of the ratio before. Two starts of one build differ by some hundredths, and
    /// the rounds of one run, which all ask the same process, don't show it.
    package static let leastLoss = 0.05

    /// The latest earlier result that has this figure on the same kind of machine, with the same rows and a ratio to the
    /// floor; nil where either has too few rounds.
    package func earlier(_ measured: Measured, in history: History) -> (result: BenchResult, measured: Measured)? {
        guard measured.timesFloor != nil, measured.rounds >= Self.fewestRounds else { return nil }
        for result in history.results.reversed() where result.date < date && result.machine == machine {
            if let found = result.figure(measured.name, rows: measured.rows), found.timesFloor != nil,
                found.rounds >= Self.fewestRounds
            {
                return (result, found)
            }
        }
        return nil
    }

    /// The figures whose ratio to the floor got worse by more than the spread: each round of now is worse than each round
    /// of then.
    package func slower(than history: History) -> [Slower] {
        figures.compactMap { measured in
            guard let now = measured.timesFloor, let (result, earlier) = earlier(measured, in: history),
                let before = earlier.timesFloor,
                Self.isWorse(now, than: before, isMoreBetter: measured.unit.isMoreBetter)
            else { return nil }
            let title = Figure(rawValue: measured.name)?.title ?? measured.name
            return Slower(
                title: title, rows: measured.rows, now: now, before: before, day: result.day, commit: result.commit,
                load: result.load)
        }
    }

    private static func isWorse(_ now: Spread, than before: Spread, isMoreBetter: Bool) -> Bool {
        if isMoreBetter {
            return now.most < before.least && now.median < before.median * (1 - leastLoss)
        }
        return now.least > before.most && now.median > before.median * (1 + leastLoss)
    }
}
