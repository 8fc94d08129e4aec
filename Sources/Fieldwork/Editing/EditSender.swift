import FieldworkGeometry
import FieldworkREST
import Foundation

/// Tells a service of the unsent edits, each exactly once. An edit is marked as sent before it is; one that is marked and
/// has no known answer is looked up in the service before anything is sent again.
struct EditSender: Sendable {
    private typealias Outcome = (edit: LocalEdit, settlement: LocalStore.Settlement, error: (any Error)?)

    let session: ServiceSession
    var watch: SendingWatch?
    private var local: LocalStore { session.local }

    func send(_ layerIDs: Set<Int>?) async throws -> [(layerID: Int, results: [FeatureEditResult])] {
        var outcomes: [Outcome] = []
        let isFenced = try await EditFence(session: session).close()
        let uncertain = try await settleUncertain(
            local.edits(in: layerIDs).filter { $0.attempt != nil }, isFenced: isFenced)
        outcomes += uncertain
        for (former, now) in try await local.joinRestored() {
            for feature in session.registry.take(former) { session.registry.note(feature, as: now) }
        }
        let unknown = Set(uncertain.filter { $0.error != nil }.map(\.edit.key))
        let ready = local.edits(in: layerIDs).filter { !unknown.contains($0.key) }
        let (idle, changed) = ready.split { edit in edit.isWithoutChange(session.service.layer(id: edit.key.layerID)) }
        try await local.settle(idle.filter(\.attachments.isEmpty).map { ($0, .applied($0.base)) })
        watch?.expect(edits: changed.count)
        let sender = AttachmentSender(session: session, watch: watch)
        sender.expect(layerIDs)
        for usesGlobalIDs in [true, false] {
            let group = changed.filter { edit in
                session.service.layer(id: edit.key.layerID).map(session.keepsGlobalIDs) == usesGlobalIDs
                    && (edit.globalID != nil || !usesGlobalIDs)
            }
            if group.isEmpty { continue }
            outcomes += try await send(group, usesGlobalIDs: usesGlobalIDs)
            watch?.answered(edits: group.count)
        }
        var (attachments, failure) = try await sender.send(layerIDs)
        if let failure {
            // Only what was not done at all may be reported as one failure.
            if outcomes.isEmpty, attachments.isEmpty { throw failure }
            attachments.merge(sender.unsent(layerIDs, because: failure)) { $0 + $1 }
        }
        return report(outcomes, attachments)
    }

    // MARK: Edits without an answer

    /// Finds out what became of edits whose answer was lost.
    /// - Parameter isFenced: whether what has not arrived never will.
    private func settleUncertain(_ edits: [LocalEdit], isFenced: Bool) async throws -> [Outcome] {
        if edits.isEmpty { return [] }
        var outcomes: [Outcome] = []
        var settlements: [(edit: LocalEdit, settlement: LocalStore.Settlement)] = []
        for (layer, own) in group(edits) {
            let known = try await ServiceLookup(session: session).rows(of: own, in: layer)
            for edit in own {
                guard let attempt = edit.attempt else { continue }
                if attempt.operation == .add, !session.keepsGlobalIDs(layer) {
                    outcomes.append((edit, .notSent, Self.mayExist(layer)))
                    continue
                }
                let row = known[edit.key]
                if edit.operation == .add, local.delete(of: edit.globalID, in: layer.id) != nil {
                    // What is there is the feature before its delete: while it was there the add was refused.
                    settlements.append((edit, isFenced ? .neverArrives : .notSent))
                    continue
                }
                if Self.hasArrived(attempt, of: edit, row: row, layer: layer) {
                    let settlement = Self.arrival(attempt, row)
                    settlements.append((edit, settlement))
                    outcomes.append((edit, settlement, nil))
                } else if isFenced, attempt.operation == .add, edit.operation == .delete {
                    // It was deleted before the service had it, and the service never will.
                    settlements.append((edit, .applied(nil)))
                    outcomes.append((edit, .applied(nil), nil))
                } else {
                    settlements.append((edit, isFenced ? .neverArrives : .notSent))
                }
            }
        }
        try await local.settle(settlements)
        return outcomes
    }

    private static func hasArrived(
        _ attempt: LocalEdit.Attempt, of edit: LocalEdit, row: FeatureRecord?, layer: LayerDefinition
    ) -> Bool {
        switch attempt.operation {
        case .add: return row != nil
        case .delete: return row == nil
        case .update:
            guard let row, let sent = attempt.record else { return false }
            let isSame = LocalEdit.changes(from: edit.base, to: sent, layer: layer)
                .allSatisfy { row.attributes[$0.name] ?? .null == $0.value }
            return isSame && (sent.geometry == edit.base?.geometry || sent.geometry == row.geometry)
        }
    }

    private static func arrival(_ attempt: LocalEdit.Attempt, _ row: FeatureRecord?) -> LocalStore.Settlement {
        switch attempt.operation {
        case .add: row.map { .found($0) } ?? .applied(nil)
        case .update: .applied(row)
        case .delete: .applied(nil)
        }
    }

    private static func mayExist(_ layer: LayerDefinition) -> ServiceError {
        .unknown(
            details: "The answer to this new feature was lost, and \(layer.name) has no global ids to look it up by: "
                + "it may be in the service already.")
    }

    // MARK: Sending

    private func send(_ edits: [LocalEdit], usesGlobalIDs: Bool) async throws -> [Outcome] {
        let (sent, turn) = try await local.beginAttempt(edits)
        let request = EditRequest(sent, service: session.service, usesGlobalIDs: usesGlobalIDs)
        let answer: [JSONValue]
        do {
            answer = try await session.applyEdits(
                request.json, usesGlobalIDs: usesGlobalIDs, turn, also: request.parameters)
        } catch let error as ServiceError {
            // The service refused the whole request: nothing was done. After any other failure that is not known.
            if case .serverFailure = error { try await local.settle(sent.map { ($0, .notSent) }) }
            throw error
        } catch let error as ArcGISChallengeCancellationError {
            // The service wanted to know who asks, and did nothing.
            try await local.settle(sent.map { ($0, .notSent) })
            throw error
        }
        let answered = try await confirmed(request.outcomes(answer))
        try await local.settle(answered.map { ($0.edit, $0.settlement) })
        return answered
    }

    /// The outcomes with the rows as they stand in the service now, and with refusals that only say that the edit had
    /// arrived before.
    private func confirmed(_ outcomes: [EditRequest.Outcome]) async throws -> [Outcome] {
        var rows: [LocalEdit.Key: FeatureRecord] = [:]
        var isComplete = true
        for (layer, own) in group(outcomes.map(\.edit)) {
            let wanted = own.filter { edit in
                outcomes.contains { $0.edit.key == edit.key && ($0.error != nil || edit.operation != .delete) }
            }
            let ids = Dictionary(
                outcomes.compactMap { outcome in outcome.objectID.map { (outcome.edit.key, $0) } },
                uniquingKeysWith: { $1 })
            do {
                rows.merge(try await ServiceLookup(session: session).rows(of: wanted, in: layer, objectIDs: ids)) { $1 }
            } catch {
                // The edits are made; only what the service added to them is not known yet.
                isComplete = false
            }
        }
        return outcomes.map { outcome in
            let edit = outcome.edit
            let row = rows[edit.key]
            guard let error = outcome.error else {
                return (
                    edit, .applied(edit.operation == .delete ? nil : row ?? edit.assumedRow(outcome.objectID, session)),
                    nil
                )
            }
            if edit.operation == .add, let row { return (edit, .arrivedBefore(row), nil) }
            if edit.operation == .delete, row == nil, isComplete { return (edit, .applied(nil), nil) }
            return (edit, .refused(error.description), ServiceError(error))
        }
    }

    private func group(_ edits: [LocalEdit]) -> [(LayerDefinition, [LocalEdit])] {
        session.service.layers.compactMap { layer in
            let own = edits.filter { $0.key.layerID == layer.id }
            return own.isEmpty ? nil : (layer, own)
        }
    }

    // MARK: Reporting

    /// Writes results back to the objects that were handed over, and makes the results that the caller sees.
    private func report(
        _ outcomes: [Outcome], _ attachments: AttachmentSender.Results
    ) -> [(layerID: Int, results: [FeatureEditResult])] {
        session.service.layers.compactMap { layer in
            let own = outcomes.filter { $0.edit.key.layerID == layer.id }
            var others = attachments.filter { $0.key.layerID == layer.id }
            if own.isEmpty, others.isEmpty { return nil }
            let results = own.map { outcome -> FeatureEditResult in
                var objectID = outcome.edit.key.objectID
                if let row = outcome.settlement.row {
                    for feature in session.registry.take(outcome.edit.key) {
                        feature.adopt(row, layer: layer)
                        // An edit made meanwhile is still to be sent: its answer belongs to the same object.
                        if local.edit(.init(layerID: layer.id, objectID: row.objectID)) != nil {
                            session.registry.note(feature, as: .init(layerID: layer.id, objectID: row.objectID))
                        }
                    }
                    objectID = row.objectID
                }
                return FeatureEditResult(
                    operation: outcome.edit.operation.publicOperation, objectID: objectID,
                    globalID: outcome.edit.globalID, error: outcome.error,
                    attachmentResults: others.removeValue(forKey: .init(layerID: layer.id, objectID: objectID)) ?? [])
            }
            // Features of which nothing but attachments was sent.
            let rest = others.sorted { $0.key.objectID < $1.key.objectID }.map { key, results in
                FeatureEditResult(
                    operation: .update, objectID: key.objectID, globalID: local.edit(key)?.globalID, error: nil,
                    attachmentResults: results)
            }
            return (layer.id, results + rest)
        }
    }
}

extension LocalStore.Settlement {
    /// The service's row that the feature is now.
    fileprivate var row: FeatureRecord? {
        switch self {
        case .applied(let row): row
        case .found(let row), .arrivedBefore(let row): row
        case .refused, .notSent, .neverArrives: nil
        }
    }
}

extension LocalEdit.Operation {
    fileprivate var publicOperation: EditOperation {
        switch self {
        case .add: .add
        case .update: .update
        case .delete: .delete
        }
    }
}

extension LocalEdit {
    /// The row as it must stand in the service, as far as is known here.
    fileprivate func assumedRow(_ objectID: Int64?, _ session: ServiceSession) -> FeatureRecord? {
        guard var row = current, let layer = session.service.layer(id: key.layerID) else { return nil }
        row.objectID = objectID ?? key.objectID
        row.attributes[layer.objectIDField] = .integer(row.objectID)
        return row
    }
}

extension Array {
    fileprivate func split(_ isFirst: (Element) -> Bool) -> (first: [Element], rest: [Element]) {
        (filter(isFirst), filter { !isFirst($0) })
    }
}
