import FieldworkPublishing
import FieldworkREST
import Foundation

/// Backups of one folder again and again, each in a folder of its moment, of which the newest are kept.
struct BackupRounds: Sendable {
    let folder: URL
    let keep: Int

    /// How many are kept where nobody says.
    static let kept = 7

    /// The time between two rounds; nil for what is no time.
    static func interval(_ text: String) -> Duration? {
        let units: [Character: Int] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400]
        guard let unit = text.last.flatMap({ units[$0] }), let count = Int(text.dropLast()),
            (1...1_000_000).contains(count)
        else {
            return nil
        }
        return .seconds(count * unit)
    }

    /// - Parameters:
    ///   - interval: nil for one round.
    ///   - body: makes a backup in a folder; what it throws fails the round.
    func run(every interval: Duration?, _ body: (URL) async throws -> Void) async throws {
        guard let interval else { return try await round(body) }
        while true {
            let begun = ContinuousClock.now
            do {
                try await round(body)
            } catch let failure where !Task.isCancelled {
                Terminal.error(
                    "\(MomentText.text(milliseconds: Self.now)): \(CommandFailure(failure).message) The next round tries again."
                )
            }
            try Task.checkCancellation()
            try await Task.sleep(until: begun + interval, clock: .continuous)
        }
    }

    private static var now: Int64 { Int64(Date().timeIntervalSince1970) * 1_000 }

    private func round(_ body: (URL) async throws -> Void) async throws {
        // Colons are no part of a name everywhere.
        let name = MomentText.text(milliseconds: Self.now).replacing(":", with: "-")
        let partial = folder.appending(path: ".\(name).making", directoryHint: .isDirectory)
        let place = folder.appending(path: name, directoryHint: .isDirectory)
        defer { try? FileManager.default.removeItem(at: partial) }
        try FileManager.default.createDirectory(at: partial, withIntermediateDirectories: true)
        try await body(partial)
        guard rename(partial.path, place.path) == 0 else {
            throw CommandFailure(.cannotCreate, "\(place.path) can't be made: \(String(cString: strerror(errno))).")
        }
        try DurableFile.sync(folder)
        Terminal.output("The backup is whole: \(place.path)")
        try prune()
    }

    /// Deletes the oldest folders of moments; anything else in the folder is somebody's own.
    private func prune() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter {
            $0.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ/) != nil
        }.sorted()
        for name in names.dropLast(keep) {
            try FileManager.default.removeItem(at: folder.appending(path: name))
            Terminal.output("Deleted the backup \(name)")
        }
    }
}
