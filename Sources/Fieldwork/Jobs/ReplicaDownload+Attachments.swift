import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation

/// What a sync brings of attachments. One with an edit that the service has not decided about is this device's still.
extension ReplicaDownload {
    /// The attachments whose edits are this device's still, and the features that they need.
    struct PendingAttachments {
        var ids: Set<UUID> = []
        var parents: Set<UUID> = []
    }

    /// What this sync did not carry, the service has not decided about.
    func decidedGeneration(of layer: LayerDefinition, _ record: ReplicaRecord) -> Int64 {
        let sent = record.sentGeneration(of: layer.id)
        return parameters.sends(layer.id) ? record.pendingUpload?.throughGeneration ?? sent : sent
    }

    /// From where on changes are this device's still. An upload whose answer is not known may have brought what was added
    /// before it and deleted since: from there on the delete counts for itself.
    private func openGenerations(of layer: LayerDefinition, _ record: ReplicaRecord) -> [Int64] {
        let decided = decidedGeneration(of: layer, record)
        guard let through = record.pendingUpload?.throughGeneration, through > decided else { return [decided] }
        return [decided, through]
    }

    /// What became of the features that are this device's still, one entry each.
    func ownChanges(of layer: LayerDefinition, _ record: ReplicaRecord) async throws -> [FeatureChange] {
        var changes: [FeatureChange] = []
        var known: Set<UUID> = []
        for generation in openGenerations(of: layer, record) {
            let found = try await session.kept(
                session.netChanges(of: layer.id, after: generation), in: layer.id, since: generation)
            changes += found.filter { change in change.globalID.map { !known.contains($0) } ?? true }
            known.formUnion(found.compactMap(\.globalID))
        }
        return changes
    }

    func pendingAttachments(
        _ layer: LayerDefinition, _ record: ReplicaRecord
    ) async throws -> PendingAttachments {
        var pending = PendingAttachments(ids: Set((record.refusedAttachments[layer.id] ?? [:]).keys))
        for generation in openGenerations(of: layer, record) {
            let changes = try await session.netAttachmentChanges(of: layer.id, after: generation)
            pending.ids.formUnion(changes.compactMap(\.globalID))
        }
        let infos = try await session.attachments(Array(pending.ids), in: layer.id)
        pending.parents = Set(infos.values.compactMap(\.parentGlobalID))
        return pending
    }

    /// What of a layer's attachments and their features is this device's still.
    private func own(_ layer: LayerDefinition, _ record: ReplicaRecord) async throws -> AttachmentDownload.Own {
        let changes = try await ownChanges(of: layer, record)
        return AttachmentDownload.Own(
            attachments: try await pendingAttachments(layer, record).ids,
            deletedFeatures: Set(changes.filter { $0.operation == .delete }.compactMap(\.globalID)))
    }

    /// - Parameters:
    ///   - json: what the answer says of a layer; null for nothing.
    ///   - unnamed: attachments that have gone, unless the answer tells of them.
    func takeAttachments(
        _ json: JSONValue, _ layer: LayerDefinition, unlessNamed unnamed: Set<UUID> = [],
        into record: inout ReplicaRecord, _ outcome: inout Outcome
    ) async throws {
        let download = AttachmentDownload(
            session: session, layer: layer, downloads: downloads, folder: contents, failure: outcome.failure)
        let known = record
        let own: () async throws -> AttachmentDownload.Own = { try await self.own(layer, known) }
        var awaited: AttachmentDownload.Awaited
        if let whole = json["attachments"]?.arrayValue {
            awaited = try await download.takeWhole(whole, keeping: own)
        } else {
            let delta = json["attachments"]
            let told = (delta?["deleteIds"]?.arrayValue ?? []).compactMap { $0.stringValue.flatMap(GUID.parse) }
            let items = ["adds", "updates"].flatMap { delta?[$0]?.arrayValue ?? [] }
            let named = Set(items.compactMap { $0["globalId"]?.stringValue.flatMap(GUID.parse) })
            let gone = told + unnamed.subtracting(named).subtracting(told)
            let newer = named.union(gone)
            // Of what this sync handed in the service has what this device has, or else it tells of it.
            let decided = Set(sentAttachments.filter { $0.layerID == layer.id }.map(\.globalID))
                .subtracting((record.refusedAttachments[layer.id] ?? [:]).keys)
            let older = (record.awaitedAttachments[layer.id] ?? [:]).filter {
                !newer.contains($0.key) && !decided.contains($0.key)
            }
            // A sync that only sends fetches nothing that it need not.
            let fetched = parameters.receives(layer.id) ? older : [:]
            awaited = try await download.take(
                fetched.sorted { $0.key.uuidString < $1.key.uuidString }.map(\.value) + items, gone: gone,
                keeping: own)
            if fetched.isEmpty { awaited.items.merge(older) { newer, _ in newer } }
        }
        record.awaitedAttachments[layer.id] = awaited.items.isEmpty ? nil : awaited.items
        outcome.refusedContents += awaited.refusals
        outcome.failure = awaited.failure
    }
}
