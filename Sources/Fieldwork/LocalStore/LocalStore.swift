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
        /// The last turn that this device has taken; nil before the first.
        var turn: EditTurn?
        var nextRowID: Int64
        var nextTemporaryID: Int64
        /// The service's ids of features that were added here, by their temporary ids.
        var objectIDs: [LocalEdit.Key: Int64] = [:]
        /// The service's ids of attachments that were added here, by their temporary ids.
        var attachmentIDs: [Int64: Int64] = [:]
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
        memory = Mutex(
            Memory(
                edits: Dictionary(uniqueKeysWithValues: edits.map { ($0.key, $0) }), turn: journal.turn,
                nextRowID: (edits.map(\.rowID).max() ?? 0) + 1,
                nextTemporaryID: min(-1, (edits.flatMap(\.localIDs).min() ?? 0) - 1)))
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

    /// Adds features under temporary ids.
    func add(_ records: [FeatureRecord], to layer: LayerDefinition, isCached: Bool) async throws -> [FeatureRecord] {
        try await gate.run { [self] in
            let edits = memory.withLock { memory in
                records.map { record in
                    var record = record
                    record.objectID = memory.nextTemporaryID
                    record.attributes[layer.objectIDField] = .integer(record.objectID)
                    memory.nextTemporaryID -= 1
                    var edit = LocalEdit(
                        key: .init(layerID: layer.id, objectID: record.objectID), rowID: memory.takeRowID(),
                        globalID: record.globalID, operation: .add)
                    edit.current = record
                    edit.isCached = isCached
                    return edit
                }
            }
            try await write(edits.map { .keep($0) })
            return edits.compactMap(\.current)
        }
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
                    edit.attachments = []
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
            key: key, rowID: memory.withLock { $0.takeRowID() }, globalID: base.globalID, operation: .update)
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

    // MARK: Sending

    /// Marks edits as sent, on disk, before they are: after a crash nobody takes them for never sent.
    /// - Returns: the edits as they are sent, and the turn of the request.
    func beginAttempt(_ edits: [LocalEdit]) async throws -> (edits: [LocalEdit], turn: EditTurn) {
        try await gate.run { [self] in
            let sent = edits.compactMap { edit -> LocalEdit? in
                guard var edit = self.edit(edit.key) else { return nil }
                edit.attempt = .init(revision: edit.revision, operation: edit.operation, record: edit.current)
                edit.refusal = nil
                return edit
            }
            return (sent, try await writeTurn(sent.map { .keep($0) }))
        }
    }

    /// Takes a turn without edits.
    func takeTurn() async throws -> EditTurn { try await gate.run { [self] in try await writeTurn([]) } }

    /// Writes changes, and with them the next turn.
    func writeTurn(_ changes: [LocalFile.Change]) async throws -> EditTurn {
        let turn = memory.withLock { memory in
            memory.turn.map { EditTurn(sender: $0.sender, number: $0.number + 1) }
                ?? EditTurn(sender: DeviceIDs.next(), number: 1)
        }
        try await write(changes, turn)
        return turn
    }

    /// Gives this device a new name among those that send edits.
    func beginTurns() async throws {
        try await gate.run { [self] in try await write([], EditTurn(sender: DeviceIDs.next(), number: 1)) }
    }

    enum Settlement: Sendable {
        /// The service has the version that was sent; with it the row as it stands there, nil for a deleted one.
        case applied(FeatureRecord?)
        /// The service has the feature, in the version that was sent last or in one that was sent before.
        case found(FeatureRecord)
        /// The service has an earlier version of this add; with it the row as it stands there.
        case arrivedBefore(FeatureRecord)
        /// The service said no.
        case refused(String)
        /// The edit has not reached the service.
        case notSent
        /// Nor will it.
        case neverArrives

        fileprivate var row: FeatureRecord? {
            switch self {
            case .applied(let row): row
            case .found(let row), .arrivedBefore(let row): row
            case .refused, .notSent, .neverArrives: nil
            }
        }
    }

    func settle(_ settlements: [(edit: LocalEdit, settlement: Settlement)]) async throws {
        try await gate.run { [self] in
            var changes: [LocalFile.Change] = []
            var touched: Set<LocalEdit.Key> = []
            for (sent, settlement) in settlements {
                let keys =
                    [resolved(sent.key)]
                    + [settlement.row?.objectID].compactMap(\.self).map {
                        LocalEdit.Key(layerID: sent.key.layerID, objectID: $0)
                    }
                // Two edits of one feature settle one after the other.
                if !touched.isDisjoint(with: keys) {
                    try await write(changes)
                    (changes, touched) = ([], [])
                }
                touched.formUnion(keys)
                guard var present = self.edit(sent.key) else { continue }
                let attempt = present.attempt ?? sent.attempt
                present.attempt = nil
                switch settlement {
                case .notSent:
                    if attempt?.operation == .add { present.firstSent = present.firstSent ?? attempt?.record }
                    changes.append(.keep(present))
                case .neverArrives: changes.append(.keep(present))
                case .refused(let reason):
                    present.refusal = reason
                    changes.append(.keep(present))
                case .applied(let row): changes += settled(present, attempt, row)
                case .found(let row): changes += settled(present, present.firstAttempt ?? attempt, row)
                case .arrivedBefore(let row):
                    let layer = definition.layer(id: present.key.layerID)
                    let rest = present.current.map { current in
                        layer.map { LocalEdit.changes(from: row, to: current, layer: $0).isEmpty } ?? true
                            && current.geometry == row.geometry
                    }
                    // What of it has not arrived is sent as an update.
                    let arrived = LocalEdit.Attempt(revision: -1, operation: .add, record: row)
                    changes += settled(present, present.firstAttempt ?? (rest == true ? nil : arrived), row)
                }
            }
            try await write(changes)
        }
    }

    /// What is left of an edit after the service took it: nothing, or what was changed here since it was sent.
    private func settled(
        _ present: LocalEdit, _ attempt: LocalEdit.Attempt?, _ row: FeatureRecord?
    ) -> [LocalFile.Change] {
        guard let row, let layer = definition.layer(id: present.key.layerID) else {
            return [.drop(present, row: nil)]
        }
        if row.objectID != present.key.objectID {
            memory.withLock { $0.objectIDs[present.key] = row.objectID }
        }
        let isSettled = attempt == nil || attempt?.revision == present.revision
        if isSettled, present.attachments.isEmpty {
            return [.drop(present, row: present.isCached ? row : nil)]
        }
        // What was changed here meanwhile, and attachments, which are sent once the service has their feature.
        var rest = present
        rest.key.objectID = row.objectID
        rest.rowID = memory.withLock { $0.takeRowID() }
        rest.globalID = row.globalID ?? present.globalID
        rest.base = row
        rest.firstSent = nil
        if isSettled {
            rest.operation = .update
            rest.current = row
        } else if let current = present.current {
            rest.operation = .update
            let changes = LocalEdit.changes(from: attempt?.record, to: current, layer: layer)
            let movesGeometry = current.geometry != attempt?.record?.geometry
            rest.current = row.applying(
                changes, movesGeometry ? current.geometry.map { .geometry($0) } ?? .null : .unchanged)
        }
        let other = rest.key == present.key ? nil : memory.withLock { $0.edits[rest.key] }
        // What arrived says all that was saved here.
        if rest.attachments.isEmpty, rest.isWithoutChange(layer) {
            return [.drop(present, row: present.isCached && other == nil ? row : nil)]
        }
        guard let other else { return [.drop(present, row: nil), .keep(rest)] }
        return [.drop(present, row: nil), .drop(other, row: nil), .keep(rest.joined(by: other, layer))]
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

    /// The id under which an attachment is known now.
    func resolvedAttachment(_ id: Int64) -> Int64 { memory.withLock { $0.attachmentIDs[id] ?? id } }

    func note(_ id: Int64, for temporaryID: Int64) { memory.withLock { $0.attachmentIDs[temporaryID] = id } }

    func takeTemporaryID() -> Int64 {
        memory.withLock { memory in
            defer { memory.nextTemporaryID -= 1 }
            return memory.nextTemporaryID
        }
    }

    /// Writes changes: to disk, then to the memory. Contents of attachments that no edit names any more go last.
    func write(_ changes: [LocalFile.Change], _ turn: EditTurn? = nil) async throws {
        if changes.isEmpty, turn == nil { return }
        try await onDevice { try await LocalFile.write(changes, turn, to: file, definition: definition) }
        let unused = memory.withLock { memory -> Set<UUID> in
            memory.turn = turn ?? memory.turn
            var unused: Set<UUID> = []
            for change in changes {
                unused.formUnion(memory.edits[change.edit.key].map { [$0].contents } ?? [])
                if case .drop(let edit, _) = change { memory.edits[edit.key] = nil }
            }
            for change in changes {
                guard case .keep(let edit) = change else { continue }
                memory.edits[edit.key] = edit
                unused.subtract([edit].contents)
            }
            return unused
        }
        attachmentFiles.remove(unused)
    }
}

extension LocalEdit {
    /// Of a new feature an earlier version may have arrived instead of the one that was sent last: what was changed since that
    /// is sent again.
    fileprivate var firstAttempt: Attempt? { firstSent.map { Attempt(revision: -1, operation: .add, record: $0) } }

    /// With what was edited of the same feature under its id in the service, while its add was not known to have arrived.
    fileprivate func joined(by other: LocalEdit, _ layer: LayerDefinition) -> LocalEdit {
        var joined = self
        joined.revision = max(revision, other.revision) + 1
        joined.isCached = isCached || other.isCached
        guard other.operation != .delete, let base = other.base, let theirs = other.current, let current else {
            (joined.operation, joined.current, joined.attachments) = (other.operation, other.current, other.attachments)
            return joined
        }
        joined.current = current.applying(
            LocalEdit.changes(from: base, to: theirs, layer: layer),
            base.geometry == theirs.geometry ? .unchanged : theirs.geometry.map { .geometry($0) } ?? .null)
        joined.attachments += other.attachments
        return joined
    }
}

extension LocalStore.Memory {
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
    fileprivate var localIDs: [Int64] { [key.objectID] + attachments.map(\.id) }
}

extension [LocalEdit] {
    /// The files that the edits' attachments need.
    fileprivate var contents: Set<UUID> { Set(flatMap { $0.attachments.compactMap(\.content) }) }
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
