import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import Synchronization

/// The unsent edits and cached rows of one service on this device. Every change is on disk before its call returns; what
/// properties answer synchronously is a copy in memory, which changes after the disk.
final class LocalStore: Sendable {
    fileprivate struct Memory {
        var edits: [LocalEdit.Key: LocalEdit]
        /// The edits that are deletes, by the global ids of their features.
        var deletes: [UUID: LocalEdit.Key] = [:]
        /// The last turn that this device has taken; nil before the first.
        var turn: EditTurn?
        var nextRowID: Int64
        var nextTemporaryID: Int64
        /// The service's ids of features that were added here, by their temporary ids.
        var objectIDs: [LocalEdit.Key: Int64] = [:]
        /// The service's ids of attachments that were added here, by their temporary ids.
        var attachmentIDs: [Int64: Int64] = [:]
        /// How many senders read each of these contents just now.
        var heldContents: [UUID: Int] = [:]
    }

    let definition: ServiceDefinition
    let attachmentFiles: AttachmentFiles
    private let file: GeoPackageFile
    let gate = SerialGate()
    /// Held over the requests of a round of sending, by which edits may be in doubt.
    let sending = SerialGate()
    private let memory: Mutex<Memory>

    private init(
        _ file: GeoPackageFile, _ definition: ServiceDefinition, _ journal: LocalFile.Journal,
        _ contents: AttachmentFiles
    ) {
        let edits = journal.edits
        self.file = file
        attachmentFiles = contents
        self.definition = definition
        var memory = Memory(
            edits: [:], turn: journal.turn, nextRowID: (edits.map(\.rowID).max() ?? 0) + 1,
            nextTemporaryID: min(-1, (edits.flatMap(\.localIDs).min() ?? 0) - 1))
        for edit in edits { memory.keep(edit) }
        self.memory = Mutex(memory)
    }

    static func open(in folder: URL, definition: ServiceDefinition) async throws -> LocalStore {
        let (file, journal) = try await onDevice { try await LocalFile(folder: folder).open(definition) }
        let contents = AttachmentFiles(folder: folder.appending(path: "attachments", directoryHint: .isDirectory))
        contents.sweep(keeping: journal.edits.contents)
        return LocalStore(file, definition, journal, contents)
    }

    // MARK: Reading

    var hasEdits: Bool { memory.withLock { !$0.edits.isEmpty } }

    /// The unsent edits in the order in which they began.
    func edits(in layerIDs: Set<Int>? = nil) -> [LocalEdit] {
        memory.withLock { memory in
            memory.edits.values.filter { layerIDs?.contains($0.key.layerID) ?? true }.sorted { $0.rowID < $1.rowID }
        }
    }

    func edit(_ key: LocalEdit.Key) -> LocalEdit? { memory.withLock { $0.edits[$0.resolved(key)] } }

    /// The rows on this device that a query means.
    func records(_ query: FeatureQuery, in layerID: Int) async throws -> [FeatureRecord] {
        // Values were written as they are to be read.
        try await onDevice { try await file.records(query, in: layerID) }
    }

    func count(_ query: FeatureQuery, in layerID: Int) async throws -> Int {
        try await onDevice { try await file.count(query, in: layerID) }
    }

    /// nil when there are none with a place.
    func extent(_ query: FeatureQuery, in layerID: Int) async throws -> Envelope? {
        try await onDevice { try await file.extent(query, in: layerID).extent }
    }

    /// How many rows are on this device, without waiting; 0 when the file can't be read.
    func countNow(in layerID: Int) -> Int { (try? file.countNow(in: layerID)) ?? 0 }

    // MARK: A user's edits

    /// Adds features under temporary ids. One that was deleted here, and of whose delete the service has not been told, is that
    /// feature again.
    func add(_ records: [FeatureRecord], to layer: LayerDefinition, isCached: Bool) async throws -> [FeatureRecord] {
        try await gate.run { [self] in
            var restored: Set<LocalEdit.Key> = []
            let edits = records.map { record in
                guard let deleted = delete(of: record.globalID, in: layer.id), deleted.attempt == nil,
                    restored.insert(deleted.key).inserted
                else { return newAdd(record, to: layer, isCached: isCached) }
                return deleted.restored(as: record, layer)
            }
            try await write(edits.map { .keep($0) })
            return edits.compactMap(\.current)
        }
    }

    /// The edit by which a feature is deleted here.
    func delete(of globalID: UUID?, in layerID: Int) -> LocalEdit? {
        guard let globalID else { return nil }
        return memory.withLock { memory in
            memory.deletes[globalID].flatMap { $0.layerID == layerID ? memory.edits[$0] : nil }
        }
    }

    private func newAdd(_ record: FeatureRecord, to layer: LayerDefinition, isCached: Bool) -> LocalEdit {
        var record = record
        record.objectID = takeTemporaryID()
        record.attributes[layer.objectIDField] = .integer(record.objectID)
        var edit = LocalEdit(
            key: .init(layerID: layer.id, objectID: record.objectID), rowID: takeRowID(), globalID: record.globalID,
            operation: .add)
        edit.current = record
        edit.isCached = isCached
        return edit
    }

    /// What an update changes of a feature.
    struct Update: Sendable {
        var objectID: Int64
        /// The version that the change started from.
        var base: FeatureRecord
        var attributes: [(name: String, value: AttributeValue)]
        var geometry: FeatureEdit.GeometryEdit
    }

    func update(_ updates: [Update], in layer: LayerDefinition) async throws {
        try await gate.run { [self] in
            var pending: [LocalEdit.Key: LocalEdit] = [:]
            for update in updates {
                let key = resolved(.init(layerID: layer.id, objectID: update.objectID))
                var edit: LocalEdit
                if let known = pending[key] ?? self.edit(key) {
                    edit = known
                } else {
                    edit = try await newEdit(key, base: update.base)
                }
                guard let current = edit.current ?? edit.base, edit.operation != .delete else {
                    throw GeodatabaseError.itemNotFound(details: "The feature has been deleted.")
                }
                edit.current = current.applying(update.attributes, update.geometry)
                edit.revision += 1
                edit.refusal = nil
                pending[key] = edit
            }
            try await write(pending.values.sorted { $0.rowID < $1.rowID }.map { .keep($0) })
        }
    }

    func delete(_ features: [FeatureRecord], in layer: LayerDefinition) async throws {
        try await gate.run { [self] in
            var changes: [LocalEdit.Key: LocalFile.Change] = [:]
            for feature in features {
                let key = resolved(.init(layerID: layer.id, objectID: feature.objectID))
                if changes[key] != nil { continue }
                guard var edit = self.edit(key) else {
                    var edit = try await newEdit(key, base: feature)
                    edit.operation = .delete
                    changes[key] = .keep(edit)
                    continue
                }
                if edit.operation == .add, edit.attempt == nil, edit.firstSent == nil {
                    changes[key] = .drop(edit, row: nil)
                } else if edit.operation != .delete {
                    // An add that was sent and not answered may have arrived, or still arrive.
                    edit.operation = .delete
                    (edit.attachments, edit.setAside) = ([], edit.attachments)
                    edit.current = nil
                    edit.refusal = nil
                    edit.revision += 1
                    changes[key] = .keep(edit)
                }
            }
            try await write(Array(changes.values))
        }
    }

    func newEdit(_ key: LocalEdit.Key, base: FeatureRecord) async throws -> LocalEdit {
        let isCached = try await onDevice {
            try await !file.objectIDs(FeatureQuery(objectIDs: [key.objectID]), in: key.layerID).isEmpty
        }
        var base = base
        base.objectID = key.objectID
        var edit = LocalEdit(
            key: key, rowID: takeRowID(), globalID: base.globalID, operation: .update)
        edit.revision = 0
        edit.base = base
        edit.isCached = isCached
        return edit
    }

    /// Forgets unsent edits. Rows go back to the service's last known version.
    func undo(in layerIDs: Set<Int>?) async throws {
        try await gate.run { [self] in
            try await write(
                edits(in: layerIDs).map { .drop($0, row: $0.isCached && $0.operation != .add ? $0.base : nil) })
        }
    }

    /// Forgets the unsent edits of some features.
    func undo(_ keys: [LocalEdit.Key]) async throws {
        try await gate.run { [self] in
            let edits = Set(keys.map(resolved)).compactMap { self.edit($0) }
            try await write(edits.map { .drop($0, row: $0.isCached && $0.operation != .add ? $0.base : nil) })
        }
    }

    // MARK: Cache

    /// Takes over rows of the service, except those that have unsent edits.
    func cache(_ records: [FeatureRecord], of layer: LayerDefinition, clears: Bool) async throws {
        try await gate.run { [self] in
            let edited = Set(edits(in: [layer.id]).map(\.key.objectID))
            try await onDevice {
                if clears { try await LocalFile.clear(layer, in: file, keeping: edited.contains) }
                try await LocalFile.cache(records.filter { !edited.contains($0.objectID) }, of: layer, in: file)
            }
        }
    }

    /// The same, as rows that have all fields.
    func cache(_ rows: [FeatureEdit], of layer: LayerDefinition) async throws {
        try await gate.run { [self] in
            let edited = Set(edits(in: [layer.id]).map(\.key.objectID))
            let others = edited.isEmpty ? rows : rows.filter { !edited.contains($0.objectID ?? 0) }
            try await onDevice { try await LocalFile.cache(others, of: layer, in: file) }
        }
    }

    /// Forgets cached rows, except those that have unsent edits and those of some ids.
    func forgetCached(of layer: LayerDefinition, except ids: KeyRuns) async throws {
        try await gate.run { [self] in
            let edited = Set(edits(in: [layer.id]).map(\.key.objectID))
            try await onDevice {
                try await LocalFile.clear(layer, in: file) { ids.contains($0) || edited.contains($0) }
            }
        }
    }

    // MARK: Both

    /// The id under which a feature is known now.
    func resolved(_ key: LocalEdit.Key) -> LocalEdit.Key { memory.withLock { $0.resolved(key) } }

    /// The edit of exactly this id, also where the feature has another one by now.
    func unresolvedEdit(_ key: LocalEdit.Key) -> LocalEdit? { memory.withLock { $0.edits[key] } }

    func note(_ objectID: Int64, for temporaryKey: LocalEdit.Key) {
        memory.withLock { $0.objectIDs[temporaryKey] = objectID }
    }

    /// The id under which an attachment is known now.
    func resolvedAttachment(_ id: Int64) -> Int64 { memory.withLock { $0.attachmentIDs[id] ?? id } }

    func note(_ id: Int64, for temporaryID: Int64) { memory.withLock { $0.attachmentIDs[temporaryID] = id } }

    func takeRowID() -> Int64 { memory.withLock { $0.takeRowID() } }

    func takeTemporaryID() -> Int64 {
        memory.withLock { memory in
            defer { memory.nextTemporaryID -= 1 }
            return memory.nextTemporaryID
        }
    }

    /// The last turn that this device has taken; nil before the first.
    var lastTurn: EditTurn? { memory.withLock { $0.turn } }

    /// Writes changes: to disk, then to the memory. Contents of attachments that no edit names any more go last.
    func write(_ changes: [LocalFile.Change], _ turn: EditTurn? = nil) async throws {
        if changes.isEmpty, turn == nil { return }
        try await onDevice { try await LocalFile.write(changes, turn, to: file, definition: definition) }
        let unused = memory.withLock { memory -> Set<UUID> in
            memory.turn = turn ?? memory.turn
            var unused: Set<UUID> = []
            for change in changes {
                unused.formUnion(memory.edits[change.edit.key].map { [$0].contents } ?? [])
                if case .drop(let edit, _) = change { memory.drop(edit) }
            }
            for change in changes {
                guard case .keep(let edit) = change else { continue }
                memory.keep(edit)
                unused.subtract([edit].contents)
            }
            return unused.filter { memory.heldContents[$0] == nil }
        }
        attachmentFiles.remove(unused)
    }

    // MARK: Contents on their way

    /// Attachments of a feature as they are now. Their contents stay on disk until they are released, though the user
    /// replaces or deletes them meanwhile.
    func hold(_ ids: Set<Int64>, of key: LocalEdit.Key) -> [AttachmentEdit] {
        memory.withLock { memory in
            let attachments = (memory.edits[memory.resolved(key)]?.attachments ?? []).filter { ids.contains($0.id) }
            for content in attachments.compactMap(\.content) { memory.heldContents[content, default: 0] += 1 }
            return attachments
        }
    }

    /// Ends what `hold` began: what no edit names any more goes.
    func release(_ attachments: [AttachmentEdit]) {
        let unused = memory.withLock { memory -> Set<UUID> in
            var free: Set<UUID> = []
            for content in attachments.compactMap(\.content) {
                let rest = (memory.heldContents[content] ?? 0) - 1
                memory.heldContents[content] = rest > 0 ? rest : nil
                if rest <= 0 { free.insert(content) }
            }
            return free.isEmpty ? free : free.subtracting(Array(memory.edits.values).contents)
        }
        attachmentFiles.remove(unused)
    }
}

extension LocalStore.Memory {
    fileprivate mutating func keep(_ edit: LocalEdit) {
        drop(edit)
        edits[edit.key] = edit
        if edit.operation == .delete, let id = edit.globalID { deletes[id] = edit.key }
    }

    fileprivate mutating func drop(_ edit: LocalEdit) {
        if let id = edit.globalID, deletes[id] == edit.key { deletes[id] = nil }
        edits[edit.key] = nil
    }

    fileprivate mutating func takeRowID() -> Int64 {
        defer { nextRowID += 1 }
        return nextRowID
    }

    fileprivate func resolved(_ key: LocalEdit.Key) -> LocalEdit.Key {
        objectIDs[key].map { LocalEdit.Key(layerID: key.layerID, objectID: $0) } ?? key
    }
}

extension LocalEdit {
    /// The ids that this device has given or the service has.
    fileprivate var localIDs: [Int64] { [key.objectID] + (attachments + setAside).map(\.id) }
}

extension [LocalEdit] {
    /// The files that the edits' attachments need.
    fileprivate var contents: Set<UUID> { Set(flatMap { ($0.attachments + $0.setAside).compactMap(\.content) }) }
}

extension FeatureRecord {
    /// The record with some values replaced.
    func applying(
        _ changes: [(name: String, value: AttributeValue)], _ geometry: FeatureEdit.GeometryEdit
    ) -> FeatureRecord {
        var result = self
        for (name, value) in changes { result.attributes[name] = value }
        switch geometry {
        case .unchanged: break
        case .null: result.geometry = nil
        case .geometry(let geometry): result.geometry = geometry
        }
        return result
    }
}
