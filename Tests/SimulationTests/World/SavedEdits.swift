import Foundation

/// What somebody saved and was told that it is kept. Each value is written once in a story, so that it can be found again
/// and told from every other.
struct SavedEdits {
    /// The geometry, as a field.
    static let place = "place"
    /// Whether the feature is there, as a field.
    static let existence = "existence"
    /// What is in a file.
    static let content = "content"
    static let added = "added"
    static let deleted = "deleted"
    /// It went with what it belongs to, and the service is not told of it.
    static let gone = "gone with its tree"
    /// The value of a field that is empty again.
    static let nothing = "nothing"
    /// What facts are about, beside whether a feature is there.
    static let fields = ["Species", "Note", "Remark", place]

    struct Key: Hashable {
        var layer: Int
        var id: UUID
        var field: String
    }

    /// One field of one feature, as an edit left it.
    struct Fact: Hashable {
        var key: Key
        var value: String

        init(_ layer: Int, _ id: UUID, _ field: String, _ value: String) {
            key = Key(layer: layer, id: id, field: field)
            self.value = value
        }
    }

    /// A file that is with a tree, by what is in it.
    struct File: Hashable, Comparable {
        var tree: UUID
        var id: UUID
        var content: String

        static func < (a: File, b: File) -> Bool { (a.content, a.id.uuidString) < (b.content, b.id.uuidString) }
    }

    /// Facts of a device that the service need not know yet.
    struct Pending {
        private(set) var values: [Key: String] = [:]
        /// Those that a sync may have carried to the service: from then on others may overrule them.
        private(set) var attempted: Set<Key> = []
        /// Those of them that the service had, as it turned out, when it was put back to a state without them.
        var takenBeforeRestoration: Set<Key> = []

        mutating func apply(_ facts: [Fact]) {
            for fact in facts {
                if [SavedEdits.deleted, SavedEdits.gone].contains(fact.value) {
                    let gone = values.keys.filter { $0.layer == fact.key.layer && $0.id == fact.key.id }
                    for key in gone { forget(key) }
                }
                values[fact.key] = fact.value
                attempted.remove(fact.key)
                takenBeforeRestoration.remove(fact.key)
            }
        }

        var keys: Set<Key> { Set(values.keys) }

        mutating func attempt() { attempted = Set(values.keys) }

        /// Gives what was handed in: all but the features that are still to be sent.
        mutating func handOver(except waiting: Set<UUID>) -> [Fact] {
            let keys = values.keys.filter { !waiting.contains($0.id) }
            return keys.compactMap { key in
                defer { forget(key) }
                return values[key].map { Fact(key.layer, key.id, key.field, $0) }
            }
        }

        /// Facts that nobody but this device can have changed since.
        var untouched: [Fact] {
            values.filter { !attempted.contains($0.key) }.map { Fact($0.key.layer, $0.key.id, $0.key.field, $0.value) }
        }

        /// Facts that a sync may have carried to the service.
        var sent: [Fact] {
            values.filter { attempted.contains($0.key) }.map { Fact($0.key.layer, $0.key.id, $0.key.field, $0.value) }
        }

        mutating func forget(_ keys: Set<Key>) {
            for key in keys { forget(key) }
        }

        private mutating func forget(_ key: Key) {
            values[key] = nil
            attempted.remove(key)
            takenBeforeRestoration.remove(key)
        }
    }

    /// What the service acknowledged: it has to be in the current state, in the history or in a conflict.
    private(set) var promised: Set<Fact> = []

    /// The same of files.
    private(set) var files: Set<File> = []
    /// Files that somebody detached.
    private(set) var deletedFiles: Set<UUID> = []
    /// The trees of all files that anybody made.
    private(set) var trees: [UUID: UUID] = [:]
    /// Features that somebody deleted and brought back before anybody else need have heard of it.
    private(set) var revived: Set<UUID> = []

    /// What devices have given, each with its device, in the order in which they gave it.
    private(set) var given: [(fact: Fact, device: Int)] = []
    /// What devices gave after the backup that was put back, and have to give again, each with its device.
    private(set) var reclaimed: [Fact: Int] = [:]
    /// Features and files of which something was given since: who looks for a former value finds another.
    private(set) var touched: Set<UUID> = []

    /// The service is again what it was at a backup.
    /// - Parameter owed: what devices gave since, and still have.
    mutating func goBack(to backup: SavedEdits, owed: [Fact: Int]) {
        (promised, files, deletedFiles) = (backup.promised, backup.files, backup.deletedFiles)
        reclaimed = owed
        touched = []
    }

    /// - Parameters:
    ///   - device: who gave it; nil for the office.
    ///   - unknown: deletions of what the service did not have.
    mutating func promise(_ facts: [Fact], of device: Int? = nil, except unknown: Set<Fact> = []) {
        touched.formUnion(facts.map(\.key.id))
        if let device { given += facts.map { (fact: $0, device: device) } }
        for fact in facts where ![Self.nothing, Self.gone].contains(fact.value) && !unknown.contains(fact) {
            guard fact.key.layer == OrchardService.files else {
                promised.insert(fact)
                continue
            }
            if fact.value == Self.deleted { deletedFiles.insert(fact.key.id) }
            guard fact.key.field == Self.content, let tree = trees[fact.key.id] else { continue }
            files.insert(File(tree: tree, id: fact.key.id, content: fact.value))
        }
    }

    /// A device gave what the service may have lost again with the state that was put back.
    mutating func reclaim(_ facts: [Fact], of device: Int) {
        given += facts.map { (fact: $0, device: device) }
        // Of a feature that it changed again only the last state is given again.
        let ids = Set(facts.map(\.key.id))
        reclaimed = reclaimed.filter { !ids.contains($0.key.key.id) }
        for fact in facts where fact.key.layer != OrchardService.files {
            if ![Self.nothing, Self.gone].contains(fact.value) { reclaimed[fact] = device }
        }
    }

    /// Somebody made a file, whether he may keep it or not.
    mutating func note(file: UUID, of tree: UUID) { trees[file] = tree }

    mutating func revive(_ facts: [Fact]) { revived.formUnion(facts.filter { $0.value == Self.added }.map(\.key.id)) }
}
