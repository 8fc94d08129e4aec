import Foundation

/// One form may be open in several windows: what each of them typed is kept beside what the others did.
extension DraftStore.Draft {
    /// Who typed a value, and at which of the draft's revisions.
    struct Typed: Sendable, Codable, Hashable {
        /// The id of the form as one window opened it.
        let form: String
        let revision: Int
    }

    /// What a form says of itself, which is no part of what was typed.
    private static let unkept = ["session", seenName]
    /// The name under which a form posts the revision of the draft that it was opened with.
    static let seenName = "seen"

    private static func seen(_ form: FormValues) -> Int { form[seenName].flatMap { Int($0) } ?? 0 }

    /// Takes over what a window posted. What another one typed since this one was opened stays, where this one typed nothing.
    mutating func take(_ posted: FormValues) {
        let (own, seen, old) = (posted["session"] ?? "", Self.seen(posted), form)
        var base = FormBase(posted)
        var now: [String: Typed] = [:]
        revision = (revision ?? 0) + 1
        var kept = posted.pairs.filter { !Self.unkept.contains($0.name) }
        for index in kept.indices {
            let (name, value) = kept[index]
            let before = typed?[name]
            if base.isSame(name, value) == false {
                now[name] = old[name] == value ? before : Typed(form: own, revision: revision ?? 0)
            } else if let before, before.form != own, before.revision > seen, let theirs = old[name] {
                kept[index].value = theirs
                base.take(name, from: FormBase(old))
                now[name] = before
            }
        }
        if !base.text.isEmpty {
            kept.removeAll { $0.name == FormBase.name }
            kept.append((FormBase.name, base.text))
        }
        pairs = kept.map { DraftStore.Pair(name: $0.name, value: $0.value) }
        typed = now
    }

    /// What is left of the draft when a window has saved its form: what others typed since that one was opened. nil for nothing.
    func rest(after saved: FormValues) -> DraftStore.Draft? {
        let (own, seen) = (saved["session"] ?? "", Self.seen(saved))
        let theirs = (typed ?? [:]).filter { $0.value.form != own && $0.value.revision > seen }
        guard !theirs.isEmpty else { return nil }
        var rest = self
        rest.pairs = pairs.filter { theirs[$0.name] != nil || $0.name == FormBase.name }
        rest.typed = theirs
        rest.identity = nil
        return rest
    }
}
