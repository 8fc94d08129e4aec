public import Foundation
import Synchronization

/// A durable list of the edits that were made on this device, with what each feature was before and after: for telling what was done, for
/// what became of it, and for undo. Not part of the vendor's API.
///
/// The tables keep the edits themselves and send them. The journal remembers the steps that led there. Record an edit when its
/// table has it; the entry is on disk when ``record(_:of:as:before:title:detail:session:follows:photos:)`` returns:
///
/// ```swift
/// let journal = try EditJournal(fileURL: folder.appending(path: "edits.jsonl"), tables: [0: trees])
/// let before = FeatureSnapshot(tree)
/// tree.setAttributeValue("Good", forKey: "condition")
/// try await trees.update(tree)
/// if let reference = FeatureReference(tree, layer: 0) {
///     try journal.record(.update, of: tree, as: reference, before: before, title: "Maple", detail: "Condition: Good")
/// }
/// if let last = journal.last { try await journal.undo(last) }
/// ```
///
/// After edits were sent, ``settle(_:refusals:)`` writes down what became of them. ``beginTransaction(in:)`` opens a transaction that
/// outlives the process.
///
/// The file only grows until the journal is opened the next time: one line of JSON for each edit and for each change of what is known of
/// it. A line that a crash cut off is left out; one that a later version wrote stays as it is. At most a thousand entries are kept, and
/// beyond them those that are on no service. The bytes of attachments that were deleted lie beside it in the folder `kept` as long as an
/// entry names them.
///
/// One journal has a file at a time. The journal may be used from several tasks; edits of one feature are the caller's to put in order.
public final class EditJournal: Sendable {
    private enum Line: Codable {
        case entry(Entry)
        case progress(UUID, Entry.Progress)
        case undone(UUID)
        case alias(old: FeatureReference, new: FeatureReference)
        case began(UUID)
        case ended(UUID, isKept: Bool)
    }

    fileprivate struct Content {
        var entries: [Entry] = []
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

    /// The tables whose edits it holds, by the numbers that the caller gives them. A table may have several numbers.
    public let tables: [Int: ArcGISFeatureTable]
    /// The bytes of deleted attachments.
    let keptFiles: AttachmentFiles
    private let state: Mutex<State>

    /// Opens the journal, making the file when it is missing.
    ///
    /// Throws what Foundation throws for a file that can't be read or written.
    /// - Parameters:
    ///   - file: The file. Its folder is made when it is missing.
    ///   - tables: The tables whose edits it holds, by numbers that stay the same from one start to the next. Without them the journal
    ///     can be read and written, but nothing can be taken back.
    public init(fileURL file: URL, tables: [Int: ArcGISFeatureTable] = [:]) throws {
        self.tables = tables
        keptFiles = AttachmentFiles(
            folder: file.deletingLastPathComponent().appending(path: "kept", directoryHint: .isDirectory))
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        var content = Content()
        // A file that is there and can't be read is an error: it must not be taken for an empty one and written over.
        let data = FileManager.default.fileExists(atPath: file.path) ? try Data(contentsOf: file) : Data()
        let (lines, unread) = Self.lines(data)
        Self.apply(lines, to: &content)
        content.shorten()
        // Every step of the way to a feature with edits is needed, also those through ids of which no edit is left.
        let kept = Set(content.entries.map { content.current($0.feature) })
        content.aliases = content.aliases.filter { [content] in kept.contains(content.current($0.key)) }
        var compact = unread
        if let id = content.openTransaction { compact += try Self.bytes(.began(id)) }
        for entry in content.entries { compact += try Self.bytes(.entry(entry)) }
        for (old, new) in content.aliases { compact += try Self.bytes(.alias(old: old, new: new)) }
        try compact.write(to: file, options: .atomic)
        let handle = try FileHandle(forWritingTo: file)
        try handle.seekToEnd()
        state = Mutex(State(content: content, isUnfinished: content.openTransaction != nil, file: handle))
        // What can't be read may name contents too.
        guard unread.isEmpty else { return }
        keptFiles.sweep(keeping: Set(content.entries.flatMap { $0.photos?.deleted ?? [] }.compactMap(\.kept)))
    }

    /// How many edits of a journal are on no service, without opening it for writing; nil for a file that can't be read.
    public static func unsettledCount(in file: URL) -> Int? {
        guard let data = try? Data(contentsOf: file) else { return nil }
        var content = Content()
        apply(lines(data).read, to: &content)
        return content.entries.count { !$0.isSettled }
    }

    /// The lines of a file, and as they stand those that a later version wrote and this one can't read. A last line that was cut off is
    /// among neither.
    private static func lines(_ data: Data) -> (read: [Line], unread: Data) {
        let decoder = JSONDecoder()
        let end = UInt8(ascii: "\n")
        var read: [Line] = []
        var unread = Data()
        for bytes in data.split(separator: end) {
            if let line = try? decoder.decode(Line.self, from: bytes) {
                read.append(line)
            } else if (try? decoder.decode(AnyLine.self, from: bytes)) != nil {
                unread += bytes + [end]
            }
        }
        return (read, unread)
    }

    /// Whatever is an object of JSON: what a crash left of a line is none.
    private struct AnyLine: Decodable {
        private enum CodingKeys: CodingKey {}

        init(from decoder: any Decoder) throws { _ = try decoder.container(keyedBy: CodingKeys.self) }
    }

    /// The entries, the oldest first.
    public var entries: [Entry] { state.withLock { $0.content.entries } }

    /// The entry of an id; nil for an entry that is not kept any more.
    public func entry(id: UUID) -> Entry? { state.withLock { $0.content.entries.last { $0.id == id } } }

    /// The entry that an attempt to save has made already, so that the same attempt made twice is one edit; nil for none.
    public func entry(session: String?) -> Entry? {
        guard let session, !session.isEmpty else { return nil }
        return state.withLock { $0.content.entries.last { $0.session == session } }
    }

    /// The latest edit that can be taken back; nil for none.
    public var last: Entry? { state.withLock { $0.content.entries.last { $0.canUndo } } }

    /// How a feature is named now: one that was deleted and brought back may have got another id.
    public func current(_ reference: FeatureReference) -> FeatureReference {
        state.withLock { $0.content.current(reference) }
    }

    /// The features whose edits aren't on a service, with its reason where it refused them. Asking often costs little: they are
    /// gathered once after each change.
    public var unsent: [FeatureReference: String?] {
        state.withLock { state in
            if let known = state.unsent { return known }
            let now = state.content.unsent
            state.unsent = now
            return now
        }
    }

    /// Adds an edit, to the transaction that is open where one is.
    func append(_ entry: Entry) throws { try append([entry]) }

    /// Adds several at once.
    func append(_ entries: [Entry]) throws {
        try write { content in
            entries.map { entry in
                var entry = entry
                entry.transaction = content.openTransaction
                return .entry(entry)
            }
        }
    }

    /// The transaction that was begun and not ended; nil for none.
    public var openTransaction: UUID? { state.withLock { $0.content.openTransaction } }

    /// Whether the open transaction was begun by an earlier process, and nobody has said yet what is to become of it.
    public var isTransactionUnfinished: Bool { state.withLock { $0.content.openTransaction != nil && $0.isUnfinished } }

    func noteBegin(_ id: UUID) throws {
        try write([.began(id)])
        goOn()
    }

    /// The user goes on with an unfinished transaction.
    public func goOn() { state.withLock { $0.isUnfinished = false } }

    /// The edits of a transaction that isn't kept were never made.
    func noteEnd(isKept: Bool) throws {
        guard let id = openTransaction else { return }
        try write([.ended(id, isKept: isKept)])
    }

    func setProgress(_ progress: Entry.Progress, of ids: [UUID]) throws {
        try write(ids.map { .progress($0, progress) })
    }

    func setUndone(_ id: UUID) throws { try write([.undone(id)]) }

    func setAlias(_ old: FeatureReference, now new: FeatureReference) throws {
        guard old != new else { return }
        try write([.alias(old: old, new: new)])
    }

    private func write(_ lines: [Line]) throws { try write { _ in lines } }

    private func write(_ make: (Content) -> [Line]) throws {
        try state.withLock { state in
            let lines = make(state.content)
            guard !lines.isEmpty else { return }
            var bytes = Data()
            for line in lines { bytes += try Self.bytes(line) }
            let start = try state.file.offset()
            do {
                try state.file.write(contentsOf: bytes)
                try state.file.synchronize()
            } catch {
                // A full disk may have taken a part of a line: what is written next would stand behind it, and be lost with it.
                try? state.file.truncate(atOffset: start)
                throw error
            }
            Self.apply(lines, to: &state.content)
            state.content.shorten()
            state.unsent = nil
        }
    }

    /// Applies lines in their order; what became of many edits at once is looked up in one pass over them.
    private static func apply(_ lines: [Line], to content: inout Content) {
        var progress: [UUID: Entry.Progress] = [:]
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
    fileprivate mutating func change(_ id: UUID, _ body: (inout EditJournal.Entry) -> Void) {
        if let index = entries.lastIndex(where: { $0.id == id }) { body(&entries[index]) }
    }

    fileprivate mutating func setProgress(_ progress: [UUID: EditJournal.Entry.Progress]) {
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
