import Foundation

/// What one run of `bench` measured, as a file of `Benchmarks/results` keeps it.
package struct BenchResult: Codable, Equatable, Sendable {
    package var date: Date
    /// The commit that the measured program was built from.
    package var commit: String
    package var machine: Machine
    /// The load of the machine (`Machine.load`).
    package var loadBefore: [Double]
    package var loadAfter: [Double]
    package var rows: Int
    package var rounds: Int
    /// The length of one measurement.
    package var seconds: Double
    package var peers: [PeerProgram]
    package var figures: [Measured]

    package init(
        date: Date, commit: String, machine: Machine, loadBefore: [Double], loadAfter: [Double], rows: Int, rounds: Int,
        seconds: Double, peers: [PeerProgram] = [], figures: [Measured]
    ) {
        // A file keeps whole seconds.
        self.date = Date(timeIntervalSince1970: date.timeIntervalSince1970.rounded(.down))
        (self.commit, self.machine, self.rows, self.rounds) = (commit, machine, rows, rounds)
        (self.loadBefore, self.loadAfter, self.seconds) = (loadBefore, loadAfter, seconds)
        (self.peers, self.figures) = (peers, figures)
    }

    /// Such as 2026-11-29.
    package var day: String { String(date.formatted(.iso8601).prefix(10)) }

    /// The averages of the last minute before and after, such as "1.2 to 2.3".
    package var load: String {
        [loadBefore, loadAfter].map { $0.first.map { String(format: "%.1f", $0) } ?? "?" }.joined(separator: " to ")
    }

    package func figure(_ name: String, rows: Int? = nil) -> Measured? {
        figures.first { $0.name == name && (rows == nil || $0.rows == rows) }
    }
}

/// A figure of a run.
package struct Measured: Codable, Equatable, Sendable {
    /// A `Figure`, or one that had a place there when the file was written.
    package var name: String
    /// The rows that it was measured on, where the parts of a run differ.
    package var rows: Int
    package var unit: Unit
    package var rounds: Int
    package var value: Spread
    /// What it stands beside, in the same unit.
    package var floor: Spread?
    /// The ratios of each round to the floor.
    package var timesFloor: Spread?
    /// The ratios of each round to the same of other programs, by their names.
    package var timesPeers: [String: Spread]?

    package init?(
        _ figure: Figure, rows: Int, _ rounds: Rounds, floor: Rounds? = nil, peers: [String: Rounds] = [:]
    ) {
        guard let value = Spread(rounds) else { return nil }
        (name, unit, self.rows, self.rounds) = (figure.rawValue, figure.unit, rows, rounds.values.count)
        self.value = value.short
        self.floor = floor.flatMap { Spread($0) }?.short
        timesFloor = floor.flatMap { Spread(rounds.over($0)) }?.short
        let times = peers.compactMapValues { Spread(rounds.over($0))?.short }
        timesPeers = times.isEmpty ? nil : times
    }
}

/// Another program that was asked for the same.
package struct PeerProgram: Codable, Equatable, Sendable {
    package var name: String
    package var version: String
    /// Where it reads its rows, and in how many processes.
    package var reads: String

    package init(name: String, version: String, reads: String) {
        (self.name, self.version, self.reads) = (name, version, reads)
    }
}
