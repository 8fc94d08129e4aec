import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation

/// What became of this sync's own edits, of a layer of which nothing else is taken over now. The service has decided about
/// them and does not tell again: the file's state was not brought on, but the upload is done.
extension ReplicaDownload {
    /// - Parameter json: what the answer says of the layer.
    func takeDecided(
        _ json: JSONValue, _ layer: LayerDefinition, into record: inout ReplicaRecord, _ outcome: inout Outcome
    ) async throws {
        // What was refused is still this device's alone, however often the service says that it has none such.
        let own = Set(sent.filter { $0.layerID == layer.id && $0.change.operation != .delete }.map(\.globalID))
            .subtracting((record.refused[layer.id] ?? [:]).keys)
        let told = try ["adds", "updates"].flatMap { json["features"]?[$0]?.arrayValue ?? [] }
            .map { try ReplicaFeature(json: $0, layer: layer) }.filter { own.contains($0.globalID) }
        // Others are told of again, as adds or as updates, and come whole then.
        let here = try await records(of: told.map(\.globalID), layer)
        let pending = try await pending(layer, record)
        try await take(told.filter { here[$0.globalID] != nil }, layer, keeping: pending)
        // What the service deleted goes with the next answer that is taken over, unless that tells of it.
        let gone = (json["features"]?["deleteIds"]?.arrayValue ?? []).compactMap { $0.stringValue.flatMap(GUID.parse) }
        let held = (record.heldFeatures[layer.id] ?? []).subtracting(told.map(\.globalID)).union(own.intersection(gone))
        record.heldFeatures[layer.id] = held.isEmpty ? nil : held
        let ownAttachments = Set(sentAttachments.filter { $0.layerID == layer.id }.map(\.globalID))
        guard record.attachmentDirection == .bidirectional, !ownAttachments.isEmpty else { return }
        let part = Self.part(of: json["attachments"] ?? .null, of: ownAttachments)
        try await takeAttachments(["attachments": part], layer, into: &record, &outcome)
    }

    /// What a delta of attachments says of some of them.
    private static func part(of delta: JSONValue, of ids: Set<UUID>) -> JSONValue {
        func isOwn(_ text: String?) -> Bool { text.flatMap(GUID.parse).map(ids.contains) ?? false }
        var part = JSONObject()
        for kind in ["adds", "updates"] {
            let items = (delta[kind]?.arrayValue ?? []).filter { isOwn($0["globalId"]?.stringValue) }
            part.append(kind, .array(items))
        }
        part.append("deleteIds", .array((delta["deleteIds"]?.arrayValue ?? []).filter { isOwn($0.stringValue) }))
        return .object(part)
    }
}
