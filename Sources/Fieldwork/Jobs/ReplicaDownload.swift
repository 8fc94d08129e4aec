import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation

/// What a sync brings: the answer of the service, taken over into the file. An edit that was made here meanwhile, or that
/// the service refused, keeps its fields: it goes with the next sync.
struct ReplicaDownload: Sendable {
    let session: GeodatabaseSession
    let sent: [OutgoingEdit]
    let sentAttachments: [OutgoingAttachment]
    let parameters: SyncGeodatabaseParameters
    let downloads: any FileDownloading

    /// Contents of attachments on their way into the file; a sync that is repeated finds them.
    var contents: URL { session.file.url.appendingPathExtension("contents") }

    func discardContents() { try? FileManager.default.removeItem(at: contents) }

    /// What became of an answer.
    struct Outcome {
        /// The edits that the service refused, layer by layer.
        var results: [SyncLayerResult] = []
        /// How many contents of attachments the service did not give.
        var refusedContents = 0
        /// The layers of which nothing was taken over but what became of this sync's own edits.
        var behind: Set<Int> = []
        /// The line broke over the content of an attachment; all else was taken over.
        var failure: ServiceError?
    }

    /// Takes over an answer and brings the record up to date, which the caller keeps.
    func takeOver(_ answer: JSONValue, into record: inout ReplicaRecord) async throws -> Outcome {
        var outcome = Outcome()
        let changed = answer["edits"]?.arrayValue ?? []
        // A service that no longer knows what this device lacks sends all rows of a layer.
        let whole = answer["layers"]?.arrayValue ?? []
        let behind = try await layersBehind(changed + whole, record)
        outcome.behind = behind
        for layer in session.file.definition.layers {
            let json = (changed + whole).first { $0["id"]?.integerValue == Int64(layer.id) }
            let refusedFeatures = json.map { self.refusals(in: $0, layer) } ?? []
            let refusedAttachments = json.map { self.attachmentRefusals(in: $0, layer) } ?? []
            let refusals = refusedFeatures + featureResults(of: refusedAttachments)
            if parameters.sends(layer.id) {
                record.note(refusals, of: layer.id)
                let asked = Dictionary(
                    sent.filter { $0.layerID == layer.id }.map { ($0.globalID, $0.change.operation) }
                ) { _, last in last }
                for id in (record.refused[layer.id] ?? [:]).keys { record.refusedFields[id] = nil }
                let refusedIDs = Set(refusedFeatures.compactMap(\.globalID))
                for edit in sent where edit.layerID == layer.id && refusedIDs.contains(edit.globalID) {
                    if edit.change.operation == .update {
                        record.refusedFields[edit.globalID] = edit.change.changedFields
                    }
                }
                record.refused[layer.id] = Dictionary(
                    refusedFeatures.compactMap(\.globalID).map { ($0, asked[$0] ?? .update) }
                ) { _, last in last }
                record.refusedAttachments[layer.id] = Dictionary(
                    refusedAttachments.map { ($0.globalID, $0.operation) }
                ) { _, last in last }
            }
            if !refusals.isEmpty {
                outcome.results.append(
                    SyncLayerResult(layerID: layer.id, tableName: layer.name, editResults: refusals))
            }
            if behind.contains(layer.id) {
                try await takeDecided(json ?? .null, layer, into: &record, &outcome)
                continue
            }
            let unnamed = unnamed(of: layer, &record)
            if json != nil || record.heldFeatures[layer.id] != nil || !unnamed.features.isEmpty {
                let pending = try await pending(layer, record)
                let attachments = try await pendingAttachments(layer, record)
                let held = (record.heldFeatures[layer.id] ?? []).union(unnamed.features)
                let stays: Set<UUID>
                if let rows = json?["features"]?.arrayValue {
                    stays = try await takeWhole(rows, layer, keeping: pending, attachments)
                } else {
                    stays = try await take(json ?? .null, layer, held, keeping: pending, attachments)
                }
                record.heldFeatures[layer.id] = stays.isEmpty ? nil : stays
            }
            if record.attachmentDirection == .bidirectional,
                parameters.receives(layer.id) || json?["attachments"] != nil
            {
                try await takeAttachments(
                    json ?? .null, layer, unlessNamed: unnamed.attachments, into: &record, &outcome)
            }
        }
        record.acceptsGzip = answer["acceptsGzip"] == .bool(true)
        if let generation = answer["replicaServerGen"]?.integerValue, behind.isEmpty {
            record.serverGeneration = generation
        }
        for layer in answer["layerServerGens"]?.arrayValue ?? [] {
            guard let id = layer["id"]?.integerValue.flatMap({ Int(exactly: $0) }), !behind.contains(id) else {
                continue
            }
            record.layerGenerations[id] = layer["serverGen"]?.integerValue ?? record.layerGenerations[id]
        }
        return outcome
    }

    // MARK: Results

    private func refusals(in json: JSONValue, _ layer: LayerDefinition) -> [FeatureEditResult] {
        let lists: [(String, EditOperation)] = [
            ("addResults", .add), ("updateResults", .update), ("deleteResults", .delete),
        ]
        return lists.flatMap { name, operation in
            (json[name]?.arrayValue ?? []).filter { $0["success"]?.boolValue != true }.map { result in
                let id = (result["globalId"] ?? result["globalID"])?.stringValue.flatMap(GUID.parse)
                let reason = result["error"]?["description"]?.stringValue ?? "The service refused the edit."
                let own = sent.first { $0.layerID == layer.id && $0.globalID == id }
                return FeatureEditResult(
                    operation: operation, objectID: own?.change.objectID ?? -1, globalID: id,
                    error: GeodatabaseError.invalidArgument(details: reason))
            }
        }
    }

    private struct RefusedAttachment {
        var globalID: UUID
        var operation: AttachmentEdit.Operation
        var info: AttachmentInfo?
        var reason: String
    }

    private func attachmentRefusals(in json: JSONValue, _ layer: LayerDefinition) -> [RefusedAttachment] {
        let lists: [(String, AttachmentEdit.Operation)] = [
            ("addResults", .add), ("updateResults", .update), ("deleteResults", .delete),
        ]
        return lists.flatMap { name, operation in
            (json["attachmentResults"]?[name]?.arrayValue ?? []).compactMap { result in
                guard result["success"]?.boolValue != true,
                    let id = (result["globalId"] ?? result["globalID"])?.stringValue.flatMap(GUID.parse)
                else { return nil }
                let own = sentAttachments.first { $0.layerID == layer.id && $0.globalID == id }
                return RefusedAttachment(
                    globalID: id, operation: operation, info: own?.info,
                    reason: result["error"]?["description"]?.stringValue ?? "The service refused the attachment.")
            }
        }
    }

    /// A result a feature whose attachments were refused.
    private func featureResults(of refused: [RefusedAttachment]) -> [FeatureEditResult] {
        Dictionary(grouping: refused) { $0.info?.parentObjectID ?? -1 }.sorted { $0.key < $1.key }.map { id, refused in
            let results = refused.map { one in
                EditResult(
                    operation: EditOperation(one.operation), objectID: one.info?.id ?? -1, globalID: one.globalID,
                    error: GeodatabaseError.invalidArgument(details: one.reason))
            }
            return FeatureEditResult(
                operation: .update, objectID: id, globalID: refused.first?.info?.parentGlobalID,
                error: results.first?.error, attachmentResults: results)
        }
    }

    // MARK: Changes

    /// The fields of each feature that are this device's still.
    func pending(_ layer: LayerDefinition, _ record: ReplicaRecord) async throws -> [UUID: FeatureChange] {
        let refused = record.refused[layer.id] ?? [:]
        var pending: [UUID: FeatureChange] = [:]
        for edit in sent where edit.layerID == layer.id && refused[edit.globalID] != nil {
            pending[edit.globalID] = edit.change
        }
        // Those of earlier syncs are this device's as well, though this one does not send them.
        for id in refused.keys where pending[id] == nil {
            pending[id] = try await session.refusedChange(of: id, in: layer, record)
        }
        for change in try await ownChanges(of: layer, record) {
            guard let id = change.globalID else { continue }
            var change = change
            if let earlier = pending[id] {
                change.changedFields += earlier.changedFields
                if earlier.operation == .add { change.operation = .add }
            }
            pending[id] = change
        }
        return pending
    }

    /// The layers of which nothing is taken over now: the answer tells of features that this device has deleted, and the
    /// service has not decided about that. If it keeps one for the sake of what it tells here, it has to tell again; and what
    /// was taken in part could not be told again.
    private func layersBehind(_ answer: [JSONValue], _ record: ReplicaRecord) async throws -> Set<Int> {
        var behind: Set<Int> = []
        for layer in session.file.definition.layers {
            guard let json = answer.first(where: { $0["id"]?.integerValue == Int64(layer.id) }) else { continue }
            let changes = try await ownChanges(of: layer, record)
            let deleted = Set(changes.filter { $0.operation == .delete }.compactMap(\.globalID))
            if deleted.isEmpty { continue }
            let lists = [json["features"]] + ["adds", "updates"].map { json["features"]?[$0] }
            let tells = lists.flatMap { $0?.arrayValue ?? [] }.contains { feature in
                (try? ReplicaFeature(json: feature, layer: layer)).map { deleted.contains($0.globalID) } ?? false
            }
            if tells { behind.insert(layer.id) }
        }
        return behind.isEmpty || record.syncModel == .layer ? behind : Set(session.file.definition.layers.map(\.id))
    }

    /// - Parameter held: features whose deletion was told before and that stayed for the sake of their attachments.
    /// - Returns: those that stay now.
    private func take(
        _ json: JSONValue, _ layer: LayerDefinition, _ held: Set<UUID>, keeping pending: [UUID: FeatureChange],
        _ attachments: PendingAttachments
    ) async throws -> Set<UUID> {
        let features = try ["adds", "updates"].flatMap { json["features"]?[$0]?.arrayValue ?? [] }
            .map { try ReplicaFeature(json: $0, layer: layer) }
        let gone = (json["features"]?["deleteIds"]?.arrayValue ?? []).compactMap { $0.stringValue.flatMap(GUID.parse) }
        let all = Set(gone).union(held.subtracting(features.map(\.globalID)))
        // A feature whose attachment the service has not taken is where that attachment is.
        let staying = all.intersection(attachments.parents)
        try await take(features, gone: Array(all.subtracting(staying)), layer, keeping: pending)
        return staying.union(held.intersection(all).filter { pending[$0].map { $0.operation != .delete } ?? false })
    }

    /// Takes over all rows of a layer: what is not among them is no longer part of this replica.
    private func takeWhole(
        _ rows: [JSONValue], _ layer: LayerDefinition, keeping pending: [UUID: FeatureChange],
        _ attachments: PendingAttachments
    ) async throws -> Set<UUID> {
        let features = try rows.map { try ReplicaFeature(json: $0, layer: layer) }
        let present = Set(features.map(\.globalID))
        let query = FeatureQuery(outFields: layer.globalIDField.map { [$0] }, returnsGeometry: false)
        let here = try await onDevice { try await session.file.records(query, in: layer.id) }.compactMap(\.globalID)
        // What was added or changed here is not told of as gone: the service has not decided about it.
        let all = Set(here).subtracting(present).filter { pending[$0].map { $0.operation == .delete } ?? true }
        let staying = all.intersection(attachments.parents)
        try await take(features, gone: Array(all.subtracting(staying)), layer, keeping: pending)
        return staying
    }

    private func take(
        _ features: [ReplicaFeature], gone: [UUID], _ layer: LayerDefinition, keeping pending: [UUID: FeatureChange]
    ) async throws {
        for start in stride(from: 0, to: features.count, by: Limits.idsPerCondition) {
            let part = Array(features[start..<min(start + Limits.idsPerCondition, features.count)])
            try await take(part, layer, keeping: pending)
        }
        // A feature that was edited here meanwhile stays until the service has decided about that edit.
        let deletes = gone.filter { pending[$0] == nil || pending[$0]?.operation == .delete }
        for start in stride(from: 0, to: deletes.count, by: Limits.idsPerCondition) {
            let part = Array(deletes[start..<min(start + Limits.idsPerCondition, deletes.count)])
            let rows = Array(try await objectIDs(of: part, layer).values)
            try await session.barUndo(of: rows, in: layer.id)
            let ids = rows.map { FeatureIdentifier.objectID($0) }
            try await ReplicaFeature.takeOver(
                [LayerEdits(layerID: layer.id, deletes: .features(ids))], into: session.file)
        }
    }

    func take(
        _ features: [ReplicaFeature], _ layer: LayerDefinition, keeping pending: [UUID: FeatureChange]
    ) async throws {
        let rows = try await records(of: features.map(\.globalID), layer)
        let here = rows.mapValues(\.objectID)
        let edits = features.compactMap { feature -> FeatureEdit? in
            var edit = feature.edit(keepsObjectID: false)
            edit.objectID = here[feature.globalID]
            guard let own = pending[feature.globalID] else { return edit }
            switch own.operation {
            case .delete: return nil
            case .add: return here[feature.globalID] == nil ? edit : nil
            case .update:
                edit.attributes.removeAll { own.changedFields.contains($0.name) }
                if own.changedFields.contains(FeatureChange.geometryName) { edit.geometry = .unchanged }
                return edit
            }
        }
        if !edits.isEmpty {
            let changed = edits.filter { edit in
                edit.globalID.flatMap { rows[$0] }.map { Self.changes(edit, $0, layer) } ?? false
            }
            try await session.barUndo(of: changed.compactMap(\.objectID), in: layer.id)
            try await ReplicaFeature.takeOver([LayerEdits(layerID: layer.id, adds: edits)], into: session.file)
        }
    }

    /// Whether more comes with a feature than who handed it in and when, which the service writes down by itself.
    private static func changes(_ edit: FeatureEdit, _ row: FeatureRecord, _ layer: LayerDefinition) -> Bool {
        let own = layer.trackedFields
        if case .geometry(let geometry) = edit.geometry, geometry != row.geometry { return true }
        if case .null = edit.geometry, row.geometry != nil { return true }
        return edit.attributes.contains { attribute in
            attribute.name != layer.objectIDField && !own.contains(attribute.name)
                && attribute.value != row.attributes[attribute.name] ?? .null
        }
    }

    /// The rows on this device of global ids.
    func records(of ids: [UUID], _ layer: LayerDefinition) async throws -> [UUID: FeatureRecord] {
        if ids.isEmpty { return [:] }
        let rows = try await onDevice { try await session.file.records(FeatureQuery(globalIDs: ids), in: layer.id) }
        return Dictionary(rows.compactMap { row in row.globalID.map { ($0, row) } }) { first, _ in first }
    }

    private func objectIDs(of ids: [UUID], _ layer: LayerDefinition) async throws -> [UUID: Int64] {
        try await records(of: ids, layer).mapValues(\.objectID)
    }
}
