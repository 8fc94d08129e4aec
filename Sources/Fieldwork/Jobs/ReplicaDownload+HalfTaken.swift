import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation

/// Answers that were taken over in part: the process died over one, and when it was to be finished, edits made since stood
/// against the rest. The file's generation stays, so the service tells all of it again, but for what came as new and has
/// gone since.
extension ReplicaDownload {
    /// Takes note of what may be in the file though its generation does not have it.
    static func noteHalfTaken(_ answer: JSONValue, _ layers: [LayerDefinition], in record: inout ReplicaRecord) {
        for layer in layers {
            guard
                let json = (answer["edits"]?.arrayValue ?? []).first(where: {
                    $0["id"]?.integerValue == Int64(layer.id)
                })
            else { continue }
            let features = (json["features"]?["adds"]?.arrayValue ?? []).compactMap { feature in
                (try? ReplicaFeature(json: feature, layer: layer))?.globalID
            }
            let attachments = (json["attachments"]?["adds"]?.arrayValue ?? []).compactMap { item in
                item["globalId"]?.stringValue.flatMap(GUID.parse)
            }
            if !features.isEmpty { record.halfTaken[layer.id, default: []].formUnion(features) }
            if !attachments.isEmpty { record.halfTakenAttachments[layer.id, default: []].formUnion(attachments) }
        }
    }

    /// What was taken in part and, unless the answer at hand tells of it, has gone from the service. It tells of all that
    /// this sync handed in itself.
    func unnamed(
        of layer: LayerDefinition, _ record: inout ReplicaRecord
    ) -> (features: Set<UUID>, attachments: Set<UUID>) {
        // A sync that only sends is told of nothing else.
        guard parameters.receives(layer.id) else { return ([], []) }
        let features = record.halfTaken.removeValue(forKey: layer.id) ?? []
        let attachments = record.halfTakenAttachments.removeValue(forKey: layer.id) ?? []
        return (
            features.subtracting(sent.filter { $0.layerID == layer.id }.map(\.globalID)),
            attachments.subtracting(sentAttachments.filter { $0.layerID == layer.id }.map(\.globalID))
        )
    }
}
