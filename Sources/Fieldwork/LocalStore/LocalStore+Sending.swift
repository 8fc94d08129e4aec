import FieldworkREST
import FieldworkStore
import Foundation

/// What is written down before edits go, and what is left of them after the answer.
extension LocalStore {
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
        let turn =
            lastTurn.map { EditTurn(sender: $0.sender, number: $0.number + 1) }
            ?? EditTurn(sender: DeviceIDs.next(), number: 1)
        try await write(changes, turn)
        return turn
    }

    /// Gives this device a new name among those that send edits.
    func beginTurns() async throws {
        try await gate.run { [self] in try await write([], EditTurn(sender: DeviceIDs.next(), number: 1)) }
    }

    /// Makes one edit of a delete that has not reached the service and of the add that brought its feature back while that was
    /// not known. A service carries out the adds of a request before its deletes: sent as two, the add would be refused, and the
    /// feature deleted.
    /// - Returns: the ids under which features were known, and those of the edits that they belong to now.
    func joinRestored() async throws -> [(former: LocalEdit.Key, now: LocalEdit.Key)] {
        try await gate.run { [self] in
            var joined: [(former: LocalEdit.Key, now: LocalEdit.Key)] = []
            for added in edits() where added.operation == .add {
                guard let deleted = delete(of: added.globalID, in: added.key.layerID), deleted.attempt == nil,
                    let layer = definition.layer(id: added.key.layerID), let record = added.current
                else { continue }
                var edit = deleted.restored(as: record, layer)
                edit.attachments += added.attachments
                edit.isCached = deleted.isCached || added.isCached
                try await write([.drop(added, row: nil), .keep(edit)])
                note(deleted.key.objectID, for: added.key)
                joined.append((added.key, deleted.key))
            }
            return joined
        }
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
                case .neverArrives:
                    present.firstSent = nil
                    changes.append(.keep(present))
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
            note(row.objectID, for: present.key)
        }
        let isSettled = attempt == nil || attempt?.revision == present.revision
        if isSettled, present.attachments.isEmpty {
            return [.drop(present, row: present.isCached ? row : nil)]
        }
        // What was changed here meanwhile, and attachments, which are sent once the service has their feature.
        var rest = present
        rest.key.objectID = row.objectID
        rest.rowID = takeRowID()
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
        let other = rest.key == present.key ? nil : unresolvedEdit(rest.key)
        // What arrived says all that was saved here.
        if rest.attachments.isEmpty, rest.isWithoutChange(layer) {
            return [.drop(present, row: present.isCached && other == nil ? row : nil)]
        }
        guard let other else { return [.drop(present, row: nil), .keep(rest)] }
        return [.drop(present, row: nil), .drop(other, row: nil), .keep(rest.joined(by: other, layer))]
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
            if other.operation == .delete { joined.setAside = attachments + other.setAside }
            return joined
        }
        joined.current = current.applying(
            LocalEdit.changes(from: base, to: theirs, layer: layer),
            base.geometry == theirs.geometry ? .unchanged : theirs.geometry.map { .geometry($0) } ?? .null)
        joined.attachments += other.attachments
        return joined
    }
}
