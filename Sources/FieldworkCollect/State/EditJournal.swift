import Foundation
import Synchronization

/// The edits made on this device, in a file that only grows until the next start: one line of JSON for each edit and for
/// each change of its progress. It is for undo and for telling; the edits themselves are kept by the SDK.
final class EditJournal: Sendable {
    private enum Line: Codable {
        case entry(EditEntry)
        case progress(UUID, EditEntry.Progress)
        case undone(UUID)
        case alias(old: FeatureReference, new: FeatureReference)
    }

    private struct State {
        var entries: [EditEntry] = []
        var aliases: [FeatureReference: FeatureReference] = [:]
        var file: FileHandle
    }

    private let state: Mutex<State>

    /// Opens the journal, making it when it is missing. A line that was cut off by a crash is left out.
    init(file: URL) throws {
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        var entries: [EditEntry] = []
        var aliases: [FeatureReference: FeatureReference] = [:]
        if let data = try? Data(contentsOf: file) {
            for bytes in data.split(separator: UInt8(ascii: "\n")) {
                guard let line = try? Self.decoder.decode(Line.self, from: bytes) else { continue }
                Self.apply(line, to: &entries, &aliases)
            }
        }
        entries = Array(entries.suffix(Limits.journalEntries))
        let kept = Set(entries.map(\.feature))
        aliases = aliases.filter { kept.contains($0.value) || kept.contains($0.key) }
        var compact = Data()
        for entry in entries { compact += try Self.bytes(.entry(entry)) }
        for (old, new) in aliases { compact += try Self.bytes(.alias(old: old, new: new)) }
        try compact.write(to: file, options: .atomic)
        let handle = try FileHandle(forWritingTo: file)
        try handle.seekToEnd()
        state = Mutex(State(entries: entries, aliases: aliases, file: handle))
    }

    var entries: [EditEntry] { state.withLock { $0.entries } }

    func entry(id: UUID) -> EditEntry? { state.withLock { $0.entries.last { $0.id == id } } }

    func entry(session: String?) -> EditEntry? {
        guard let session, !session.isEmpty else { return nil }
        return state.withLock { $0.entries.last { $0.session == session } }
    }

    /// The last edit that can be taken back.
    var last: EditEntry? { state.withLock { $0.entries.last { $0.canUndo } } }

    /// Where a feature is found that got another id since.
    func current(_ reference: FeatureReference) -> FeatureReference {
        state.withLock { state in
            var reference = reference
            var steps = 0
            while let next = state.aliases[reference], steps < 16 {
                reference = next
                steps += 1
            }
            return reference
        }
    }

    func append(_ entry: EditEntry) throws { try write([.entry(entry)]) }

    func setProgress(_ progress: EditEntry.Progress, of ids: [UUID]) throws {
        try write(ids.map { .progress($0, progress) })
    }

    func setUndone(_ id: UUID) throws { try write([.undone(id)]) }

    func setAlias(_ old: FeatureReference, now new: FeatureReference) throws {
        guard old != new else { return }
        try write([.alias(old: old, new: new)])
    }

    private func write(_ lines: [Line]) throws {
        guard !lines.isEmpty else { return }
        try state.withLock { state in
            var bytes = Data()
            for line in lines { bytes += try Self.bytes(line) }
            try state.file.write(contentsOf: bytes)
            try state.file.synchronize()
            for line in lines { Self.apply(line, to: &state.entries, &state.aliases) }
            if state.entries.count > Limits.journalEntries { state.entries.removeFirst() }
        }
    }

    private static func apply(
        _ line: Line, to entries: inout [EditEntry], _ aliases: inout [FeatureReference: FeatureReference]
    ) {
        switch line {
        case .entry(let entry):
            entries.append(entry)
        case .progress(let id, let progress):
            if let index = entries.lastIndex(where: { $0.id == id }) { entries[index].progress = progress }
        case .undone(let id):
            if let index = entries.lastIndex(where: { $0.id == id }) { entries[index].isUndone = true }
        case .alias(let old, let new):
            aliases[old] = new
        }
    }

    private static func bytes(_ line: Line) throws -> Data { try encoder.encode(line) + [UInt8(ascii: "\n")] }

    private static var encoder: JSONEncoder { JSONEncoder() }
    private static var decoder: JSONDecoder { JSONDecoder() }
}
