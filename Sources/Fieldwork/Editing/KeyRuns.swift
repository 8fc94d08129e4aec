/// A set of object ids as runs of neighbours: as small as the ids are dense, however many there are.
struct KeyRuns: Sendable {
    private(set) var runs: [ClosedRange<Int64>] = []

    init(_ ids: some Sequence<Int64> = []) {
        for id in ids.sorted() { append(id...id) }
    }

    /// Adds the ids of others.
    mutating func formUnion(_ other: KeyRuns) {
        let all = (runs + other.runs).sorted { $0.lowerBound < $1.lowerBound }
        runs = []
        for run in all { append(run) }
    }

    /// - Parameter run: begins behind the beginnings of all others.
    private mutating func append(_ run: ClosedRange<Int64>) {
        guard let last = runs.last, last.upperBound == .max || run.lowerBound <= last.upperBound + 1 else {
            return runs.append(run)
        }
        runs[runs.count - 1] = last.lowerBound...max(last.upperBound, run.upperBound)
    }

    func contains(_ id: Int64) -> Bool {
        var (low, high) = (0, runs.count)
        while low < high {
            let middle = (low + high) / 2
            if runs[middle].upperBound < id { low = middle + 1 } else { high = middle }
        }
        return low < runs.count && runs[low].contains(id)
    }
}
