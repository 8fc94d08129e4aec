import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation

/// One edit of this device on its way to the service.
struct OutgoingEdit: Sendable {
    var layerID: Int
    var change: FeatureChange
    var globalID: UUID
    /// The feature as it is now; nil for a delete.
    var record: FeatureRecord?
}

/// What a sync sends: the net edits since the last one, each with only the fields that it changed.
struct ReplicaUploadDocument: Sendable {
    let session: GeodatabaseSession
    var record: ReplicaRecord
    let parameters: SyncGeodatabaseParameters

    private var layers: [LayerDefinition] { session.file.definition.layers }

    /// The layers whose edits go with this sync.
    var sentLayers: Set<Int> { Set(layers.map(\.id).filter(parameters.sends)) }

    /// The edits up to a generation of the file, and those that the service refused before.
    func edits(through generation: Int64) async throws -> [OutgoingEdit] {
        var edits: [OutgoingEdit] = []
        for layer in layers where parameters.sends(layer.id) {
            edits += try await outgoing(changes(of: layer, through: generation), layer)
        }
        return edits
    }

    /// The changes of a layer that the service has not: those since the last sync, and those that it refused.
    func changes(of layer: LayerDefinition, through generation: Int64) async throws -> [FeatureChange] {
        // An upload that is repeated has what it had, though the same features were changed again since.
        var changes = try await session.netChanges(
            of: layer.id, after: record.sentGeneration(of: layer.id), through: generation)
        let known = Set(changes.compactMap(\.globalID))
        changes = changes.compactMap { change in
            guard let id = change.globalID, let refused = record.refused[layer.id]?[id] else { return change }
            var change = change
            // What was changed since goes with what was refused: alone it would leave that behind for good.
            if change.operation == .update {
                let earlier = record.refusedFields[id] ?? Self.allFields(of: layer)
                change.changedFields += earlier.filter { !change.changedFields.contains($0) }
            }
            guard refused == .add else { return change }
            // The service need not hear of the end of what it never had.
            if change.operation == .delete { return nil }
            change.operation = .add
            return change
        }
        for id in (record.refused[layer.id] ?? [:]).keys where !known.contains(id) {
            if let change = try await session.refusedChange(of: id, in: layer, record) { changes.append(change) }
        }
        return changes
    }

    /// The names of all that an update can change.
    static func allFields(of layer: LayerDefinition) -> [String] {
        layer.fields.map(\.name) + [FeatureChange.geometryName]
    }

    private func outgoing(_ changes: [FeatureChange], _ layer: LayerDefinition) async throws -> [OutgoingEdit] {
        var rows: [Int64: FeatureRecord] = [:]
        let ids = changes.filter { $0.operation != .delete }.map(\.objectID)
        for start in stride(from: 0, to: ids.count, by: Limits.idsPerCondition) {
            let part = Array(ids[start..<min(start + Limits.idsPerCondition, ids.count)])
            let found = try await onDevice {
                try await session.file.records(FeatureQuery(objectIDs: part), in: layer.id)
            }
            for row in found { rows[row.objectID] = row }
        }
        let isComplete = changes.allSatisfy { $0.operation == .delete || rows[$0.objectID] != nil }
        let deletedHere =
            isComplete ? [] : try await session.deleted(in: layer.id, since: record.sentGeneration(of: layer.id))
        return changes.compactMap { change in
            let row = change.operation == .delete ? nil : rows[change.objectID]
            guard let globalID = row?.globalID ?? change.globalID else { return nil }
            var change = change
            if change.operation == .update, row != nil {
                // Who edited when, the service writes down by itself. What was done and undone leaves nothing else: then
                // it goes, so that the service tells what it has there.
                let told = change.changedFields.filter { !layer.trackedFields.contains($0) }
                if !told.isEmpty { change.changedFields = told }
            }
            if change.operation != .delete, row == nil {
                // What the service took from this device when it had the edit is not deleted here.
                guard deletedHere.contains(change.objectID) || change.generation == 0 else { return nil }
                // Deleted since: the deletion goes now.
                change.operation = .delete
            }
            return OutgoingEdit(layerID: layer.id, change: change, globalID: globalID, record: row)
        }
    }

    // MARK: On the wire

    /// - Parameter edits: how the request names the edits; nil for none.
    func form(_ edits: EditsSender.Member?) -> [(name: String, value: String)] {
        var form: [(name: String, value: String)] = [
            ("replicaID", record.replicaID.uuidString), ("returnIdsForAdds", "true"),
            ("rollbackOnFailure", String(parameters.rollsBackOnFailure)), ("dataFormat", "json"), ("async", "false"),
            ("transportType", "esriTransportTypeEmbedded"), ("returnAttachmentsDataByUrl", "true"),
        ]
        if record.syncModel == .layer {
            let layers = self.layers.filter { parameters.direction(of: $0.id) != .none }.map { layer -> JSONValue in
                [
                    "id": .integer(Int64(layer.id)),
                    "serverGen": .integer(record.layerGenerations[layer.id] ?? record.serverGeneration),
                    "syncDirection": .string(parameters.direction(of: layer.id).rawValue),
                ]
            }
            form.append(("syncLayers", JSONValue.array(layers).text))
        } else {
            form.append(("replicaServerGen", String(record.serverGeneration)))
            form.append(("syncDirection", parameters.geodatabaseSyncDirection.rawValue))
        }
        form.append(("knownRestoration", String(record.newestRestoration)))
        let whole = record.wholeLayers.filter(parameters.receives).sorted()
        if !whole.isEmpty { form.append(("wholeLayers", JSONValue.array(whole.map { .integer(Int64($0)) }).text)) }
        if let edits { form.append(edits) }
        // A sync that only fetches leaves the upload to the next one.
        if let upload = record.pendingUpload, !sentLayers.isEmpty { form.append(("uploadId", upload.id.uuidString)) }
        return form
    }

    /// The edits of all layers.
    /// - Parameter contents: how the edits of attachments name their contents.
    func json(
        _ edits: [OutgoingEdit], _ attachments: [OutgoingAttachment], _ contents: [UUID: OutgoingAttachment.Content]
    ) -> JSONValue {
        let byLayer = Dictionary(grouping: edits, by: \.layerID)
        let attachments = Dictionary(grouping: attachments, by: \.layerID)
        return .array(
            layers.compactMap { layer in
                guard byLayer[layer.id] != nil || attachments[layer.id] != nil else { return nil }
                let edits = byLayer[layer.id] ?? []
                func features(_ operation: FeatureChange.Operation) -> JSONValue {
                    .array(edits.filter { $0.change.operation == operation }.map { feature($0, layer) })
                }
                let deletes = edits.filter { $0.change.operation == .delete }
                    .map { JSONValue.string(GUID.normalForm($0.globalID)) }
                var object = JSONObject()
                object.append("id", .integer(Int64(layer.id)))
                object.append(
                    "features", ["adds": features(.add), "updates": features(.update), "deletes": .array(deletes)])
                if let own = attachments[layer.id] {
                    object.append("attachments", OutgoingAttachment.json(own, contents))
                }
                return .object(object)
            })
    }

    private func feature(_ edit: OutgoingEdit, _ layer: LayerDefinition) -> JSONValue {
        var attributes = JSONObject()
        let isWhole = edit.change.operation == .add
        let changed = Set(edit.change.changedFields)
        for field in layer.fields where field.name != layer.objectIDField && field.type != .geometry {
            guard isWhole || field.name == layer.globalIDField || changed.contains(field.name) else { continue }
            attributes.append(field.name, edit.record?.attributes[field.name]?.json ?? .null)
        }
        if let name = layer.globalIDField, attributes[name] == nil {
            attributes.append(name, .string(GUID.normalForm(edit.globalID)))
        }
        var object = JSONObject()
        object.append("attributes", .object(attributes))
        if !layer.isTable, isWhole || changed.contains(FeatureChange.geometryName) {
            object.append("geometry", edit.record?.geometry.map { GeoServicesJSON.json(for: $0) } ?? .null)
        }
        return .object(object)
    }
}

extension GeodatabaseSession {
    /// The features that were deleted on this device after a generation of the file, not by the service's word.
    func deleted(in layerID: Int, since generation: Int64) async throws -> Set<Int64> {
        let changes = try await onDevice { try await file.changes(after: generation, in: layerID, limit: .max) }
        return Set(changes.filter { $0.operation == .delete }.map(\.objectID))
    }

    /// What was refused is an edit of this device with all fields that it would have changed, until the service takes it: which
    /// of them did it the service did not say. Files of earlier versions don't tell them: then the feature counts whole.
    /// - Returns: nil for a feature that was new and is no longer here.
    func refusedChange(
        of id: UUID, in layer: LayerDefinition, _ record: ReplicaRecord
    ) async throws -> FeatureChange? {
        let rows = try await onDevice { try await file.records(FeatureQuery(globalIDs: [id]), in: layer.id) }
        let isNew = record.isRefusedAdd(id, layer)
        guard let row = rows.first else {
            if isNew { return nil }
            return FeatureChange(generation: 0, operation: .delete, objectID: 0, globalID: id, changedFields: [])
        }
        return FeatureChange(
            generation: 0, operation: isNew ? .add : .update, objectID: row.objectID, globalID: id,
            changedFields: record.refusedFields[id] ?? ReplicaUploadDocument.allFields(of: layer))
    }
}
