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
        case began(UUID)
        case ended(UUID, isKept: Bool)
    }

    fileprivate struct Content {
        var entries: [EditEntry] = []
        var aliases: [FeatureReference: FeatureReference] = [:]
        var openTransaction: UUID?
    }

    private struct State {
        var content: Content
        /// The transaction that is open was begun by an earlier process.
        var isUnfinished: Bool
        var file: FileHandle
        /// What isn't on a server, as it was asked for last; nil after a change.
        var unsent: [FeatureReference: String?]?
    }

    private let state: Mutex<State>

    /// Opens the journal, making it when it is missing. A line that was cut off by a crash is left out.
    init(file: URL) throws {
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        var content = Content()
        if let data = try? Data(contentsOf: file) {
            Self.apply(Self.lines(data), to: &content)
        }
        content.shorten()
        // Every step of the way to a feature with edits is needed, also those through ids of which no edit is left.
        let kept = Set(content.entries.map { content.current($0.feature) })
        content.aliases = content.aliases.filter { [content] in kept.contains(content.current($0.key)) }
        var compact = Data()
        if let id = content.openTransaction { compact += try Self.bytes(.began(id)) }
        for entry in content.entries { compact += try Self.bytes(.entry(entry)) }
        for (old, new) in content.aliases { compact += try Self.bytes(.alias(old: old, new: new)) }
        try compact.write(to: file, options: .atomic)
        let handle = try FileHandle(forWritingTo: file)
        try handle.seekToEnd()
        state = Mutex(State(content: content, isUnfinished: content.openTransaction != nil, file: handle))
    }

    /// The edits of a journal that are on no server, without opening it for writing; nil for a file that can't be read.
    static func unsettledCount(in file: URL) -> Int? {
        guard let data = try? Data(contentsOf: file) else { return nil }
        var content = Content()
        apply(lines(data), to: &content)
        return content.entries.count { !$0.isSettled }
    }

    private static func lines(_ data: Data) -> [Line] {
        let decoder = JSONDecoder()
        return data.split(separator: UInt8(ascii: "\n")).compactMap { try? decoder.decode(Line.self, from: $0) }
    }

    var entries: [EditEntry] { state.withLock { $0.content.entries } }

    func entry(id: UUID) -> EditEntry? { state.withLock { $0.content.entries.last { $0.id == id } } }

    func entry(session: String?) -> EditEntry? {
        guard let session, !session.isEmpty else { return nil }
        return state.withLock { $0.content.entries.last { $0.session == session } }
    }

    /// The last edit that can be taken back.
    var last: EditEntry? { state.withLock { $0.content.entries.last { $0.canUndo } } }

    /// Where a feature is found that got another id since.
    func current(_ reference: FeatureReference) -> FeatureReference {
        state.withLock { $0.content.current(reference) }
    }

    /// The features that aren't on a server yet, by reference, with the reason where it refused them. Each page asks for them:
    /// they are counted once after each change.
    var unsent: [FeatureReference: String?] {
        state.withLock { state in
            if let known = state.unsent { return known }
            let now = state.content.unsent
            state.unsent = now
            return now
        }
    }

    /// Adds an edit, to the transaction that is open where one is.
    func append(_ entry: EditEntry) throws { try append([entry]) }

    /// Adds several at once.
    func append(_ entries: [EditEntry]) throws {
        let transaction = openTransaction
        try write(
            entries.map { entry in
                var entry = entry
                entry.transaction = transaction
                return .entry(entry)
            })
    }

    /// The transaction that was begun and not ended.
    var openTransaction: UUID? { state.withLock { $0.content.openTransaction } }

    /// Whether the open transaction was begun by an earlier process, and nobody has said yet what is to become of it.
    var isTransactionUnfinished: Bool { state.withLock { $0.content.openTransaction != nil && $0.isUnfinished } }

    func beginTransaction(_ id: UUID) throws {
        try write([.began(id)])
        goOn()
    }

    /// The user goes on with an unfinished transaction.
    func goOn() { state.withLock { $0.isUnfinished = false } }

    /// The edits of a transaction that isn't kept were never made.
    func endTransaction(isKept: Bool) throws {
        guard let id = openTransaction else { return }
        try write([.ended(id, isKept: isKept)])
    }

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
            Self.apply(lines, to: &state.content)
            state.content.shorten()
            state.unsent = nil
        }
    }

    /// Applies lines in their order; what became of many edits at once is looked up in one pass over them.
    private static func apply(_ lines: [Line], to content: inout Content) {
        var progress: [UUID: EditEntry.Progress] = [:]
        for line in lines {
            if case .progress(let id, let now) = line {
                progress[id] = now
                continue
            }
            content.setProgress(progress)
            progress = [:]
            apply(line, to: &content)
        }
        content.setProgress(progress)
    }

    private static func apply(_ line: Line, to content: inout Content) {
        switch line {
        case .entry(let entry):
            content.entries.append(entry)
        case .progress(let id, let progress):
            content.setProgress([id: progress])
        case .undone(let id):
            content.change(id) { $0.isUndone = true }
        case .alias(let old, let new):
            content.aliases[old] = new
        case .began(let id):
            content.openTransaction = id
        case .ended(let id, let isKept):
            content.openTransaction = nil
            if !isKept { content.drop(id) }
        }
    }

    private static func bytes(_ line: Line) throws -> Data { try encoder.encode(line) + [UInt8(ascii: "\n")] }

    private static var encoder: JSONEncoder { JSONEncoder() }
}

extension EditJournal.Content {
    fileprivate mutating func change(_ id: UUID, _ body: (inout EditEntry) -> Void) {
        if let index = entries.lastIndex(where: { $0.id == id }) { body(&entries[index]) }
    }

    fileprivate mutating func setProgress(_ progress: [UUID: EditEntry.Progress]) {
        // Mostly it is about the latest ones.
        var left = progress.count
        for index in entries.indices.reversed() {
            guard left > 0 else { return }
            guard let now = progress[entries[index].id] else { continue }
            entries[index].progress = now
            left -= 1
        }
    }

    fileprivate func current(_ reference: FeatureReference) -> FeatureReference {
        var reference = reference
        var steps = 0
        while let next = aliases[reference], steps < 16 {
            reference = next
            steps += 1
        }
        return reference
    }

    fileprivate var unsent: [FeatureReference: String?] {
        var result: [FeatureReference: String?] = [:]
        for entry in entries {
            switch entry.progress {
            case .onDevice: result[current(entry.feature)] = .some(nil)
            case .refused(let reason) where !entry.isUndone: result[current(entry.feature)] = reason
            default: continue
            }
        }
        return result
    }

    /// Forgets the edits of a transaction; what they had taken back stands again.
    fileprivate mutating func drop(_ transaction: UUID) {
        let dropped = entries.filter { $0.transaction == transaction }
        entries.removeAll { $0.transaction == transaction }
        for id in dropped.compactMap(\.undoes) { change(id) { $0.isUndone = false } }
    }

    /// Drops the oldest edits above the greatest number, but none that isn't on a server, and none of the transaction that is
    /// open.
    fileprivate mutating func shorten() {
        var over = entries.count - Limits.journalEntries
        guard over > 0 else { return }
        let open = openTransaction
        entries.removeAll { entry in
            guard over > 0, entry.isSettled, open == nil || entry.transaction != open else { return false }
            over -= 1
            return true
        }
    }
}
