import BenchResults
import Foundation
import Synchronization

/// Keeps the figures of a run for its result.
final class Recorder: Sendable {
    private struct Content {
        var figures: [Measured] = []
        var peers: [PeerProgram] = []
    }

    private let content = Mutex(Content())

    var figures: [Measured] { content.withLock { $0.figures } }
    var peers: [PeerProgram] { content.withLock { $0.peers } }

    func add(_ measured: Measured) { content.withLock { $0.figures.append(measured) } }
    func add(_ peer: PeerProgram) { content.withLock { $0.peers.append(peer) } }
}

extension Bench {
    /// Keeps a figure for the result of this run. - rows: those of the layer, if it isn't the one of the whole run.
    func record(
        _ figure: Figure, _ rounds: Rounds, floor: Rounds? = nil, peers: [String: Rounds] = [:], rows: Int? = nil
    ) {
        if let measured = Measured(figure, rows: rows ?? features, rounds, floor: floor, peers: peers) {
            recorder.add(measured)
        }
    }

    /// Keeps a figure, and prints it in a line of its own.
    func report(
        _ figure: Figure, _ rounds: Rounds, floor: Rounds? = nil, peers: [String: Rounds] = [:], rows: Int? = nil
    ) {
        record(figure, rounds, floor: floor, peers: peers, rows: rows)
        var text = "  \(figure.title), \(figure.unit.rawValue): \(rounds.text)"
        if let floor { text += ", \(rounds.times(floor)) the floor, which is \(floor.text)" }
        print(text)
        for (name, peer) in peers.sorted(by: { $0.key < $1.key }) { print("    \(rounds.times(peer)) \(name)") }
    }

    /// Compares the run with the recorded ones of this kind of machine, and records it where that is wanted.
    func conclude(loadBefore: [Double]) throws {
        let result = BenchResult(
            date: Date(), commit: try commit ?? Self.currentCommit(), machine: .current(), loadBefore: loadBefore,
            loadAfter: Machine.load(), rows: features, rounds: rounds, seconds: seconds, peers: recorder.peers,
            figures: recorder.figures)
        if isRecorded { print("recorded as \(try History.record(result, in: results).path)") }
        let history: History
        do {
            history = try History(folder: results)
        } catch {
            // A comparison fails nothing.
            return print("not compared with earlier results: \(error)")
        }
        let compared = result.figures.filter { result.earlier($0, in: history) != nil }
        let slower = result.slower(than: history)
        for figure in slower { print(figure.text) }
        print(
            compared.isEmpty
                ? "no earlier result of this kind of machine and these rows is in \(results.relativePath)"
                : "\(compared.count) ratios to the floor were compared with earlier results; slower by more than the spread: "
                    + "\(slower.count)")
    }

    /// The commit of the working copy, which `make bench` builds before it measures.
    private static func currentCommit() throws -> String {
        guard let git = Offline.tool("git") else { return "unknown" }
        let words = ["describe", "--always", "--dirty", "--abbrev=12", "--exclude", "*"]
        let text = (try? output(of: git, words)) ?? ""
        return text.isEmpty ? "unknown" : text
    }
}
