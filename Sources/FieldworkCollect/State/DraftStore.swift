import Foundation
import Synchronization

/// What was typed into forms and not saved, a file for each form: it is there again when the form is opened, also after the
/// process was killed. A draft that was cancelled can be brought back for a day.
final class DraftStore: Sendable {
    struct Pair: Sendable, Codable, Hashable {
        let name: String
        let value: String
    }

    struct Draft: Sendable, Codable, Hashable, Identifiable {
        /// Names the file; never part of what is shown.
        let id: String
        /// The form's address, which opens it again.
        let address: String
        /// What is edited, in words.
        let title: String
        var pairs: [Pair]
        var date: Date
        var discarded: Date?
        /// The global id of the feature that saving it makes, from when saving was begun: saved again after a crash, it is
        /// the same feature.
        var identity: UUID?
        /// Grows with each keeping.
        var revision: Int?
        /// The values that differ from what the form showed when it was opened.
        var typed: [String: Typed]?

        var form: FormValues { FormValues(pairs: pairs.map { ($0.name, $0.value) }) }
    }

    private let folder: URL
    /// The photos and files that wait in the forms.
    let photos: StagedPhotos
    private let drafts: Mutex<[String: Draft]>

    init(folder: URL) throws {
        self.folder = folder
        photos = StagedPhotos(folder: folder)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        var drafts: [String: Draft] = [:]
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        for file in files where file.pathExtension == "json" {
            guard let data = try? Data(contentsOf: file), let draft = try? JSONDecoder().decode(Draft.self, from: data)
            else { continue }
            drafts[draft.id] = draft
        }
        self.drafts = Mutex(drafts)
        for draft in drafts.values
        where draft.discarded.map({ -$0.timeIntervalSinceNow > Limits.discardedSeconds }) == true {
            remove(draft.address)
        }
    }

    static func id(of address: String) -> String { StableHash.hex(address) }

    /// The unfinished ones, the newest first.
    var open: [Draft] {
        drafts.withLock { $0.values.filter { $0.discarded == nil } }.sorted { $0.date > $1.date }
    }

    /// The unfinished draft of a form.
    func draft(_ address: String) -> Draft? {
        drafts.withLock { $0[Self.id(of: address)] }.flatMap { $0.discarded == nil ? $0 : nil }
    }

    func draft(id: String) -> Draft? { drafts.withLock { $0[id] } }

    /// Keeps what was typed. It is on disk when the call returns.
    @discardableResult
    func keep(_ form: FormValues, of address: String, title: String) throws -> Draft {
        var draft =
            self.draft(address)
            ?? Draft(id: Self.id(of: address), address: address, title: title, pairs: [], date: Date())
        draft.take(form)
        draft.date = Date()
        try write(draft)
        return draft
    }

    /// Keeps a form whose saving begins, with the id of the feature that it makes.
    /// - Returns: the id, and whether saving was begun before and its end isn't known.
    func beginSaving(_ form: FormValues, of address: String, title: String) throws -> (identity: UUID, isAgain: Bool) {
        var draft = try keep(form, of: address, title: title)
        if let identity = draft.identity { return (identity, true) }
        let identity = UUID()
        draft.identity = identity
        try write(draft)
        return (identity, false)
    }

    /// Sets one value of a draft, beginning one where there is none.
    func set(_ name: String, to value: String, of address: String, title: String) throws {
        var pairs = draft(address)?.form.pairs ?? []
        pairs.removeAll { $0.name == name }
        try keep(FormValues(pairs: pairs + [(name, value)]), of: address, title: draft(address)?.title ?? title)
    }

    /// Puts a draft aside; nil where there is none.
    func discard(_ address: String) throws -> Draft? {
        guard var draft = draft(address) else { return nil }
        draft.discarded = Date()
        try write(draft)
        return draft
    }

    func bringBack(id: String) throws -> Draft? {
        guard var draft = draft(id: id) else { return nil }
        draft.discarded = nil
        try write(draft)
        return draft
    }

    /// What was typed is saved: the draft has done its work, but for what another window typed meanwhile.
    func remove(_ address: String, savedBy form: FormValues? = nil) {
        if let form, let rest = draft(address)?.rest(after: form), (try? write(rest)) != nil {
            photos.removeAll(of: rest.id)
            return
        }
        let id = Self.id(of: address)
        drafts.withLock { drafts in
            drafts[id] = nil
            try? FileManager.default.removeItem(at: file(id))
            photos.removeAll(of: id)
        }
    }

    private func write(_ draft: Draft) throws {
        let data = try JSONEncoder().encode(draft)
        try drafts.withLock { drafts in
            guard drafts[draft.id] != nil || drafts.count < Limits.drafts else {
                throw CollectError(
                    .notAllowed, "There are \(Limits.drafts) unfinished forms on this device.",
                    nextStep: "Save or discard some of them.")
            }
            try data.write(to: file(draft.id), options: .atomic)
            drafts[draft.id] = draft
        }
    }

    private func file(_ id: String) -> URL { folder.appending(path: "\(id).json") }
}
