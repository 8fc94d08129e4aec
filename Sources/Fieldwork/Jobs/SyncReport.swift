import FieldworkGeometry
import FieldworkREST
import FieldworkStore

/// What one sync sent and brought, and what became of it: what a person has to know before a file may be said to be as its
/// service. Not part of the vendor's API.
package struct SyncReport: Sendable, Hashable {
    /// Numbers of edits.
    package struct Count: Sendable, Hashable {
        package var adds = 0
        package var updates = 0
        package var deletes = 0
        package var attachments = 0

        package var total: Int { adds + updates + deletes + attachments }
    }

    /// What was sent, with what the service refused.
    package var sent = Count()
    /// What others had changed.
    package var received = Count()
    /// The conflicts that the service found in what was sent, by their numbers at the service.
    package var conflictIDs: [Int64] = []
    /// Contents of attachments that the service did not give; the next sync asks for them again.
    package var missingContents = 0
    /// The replica was ended at the service: it takes edits, and tells of no changes any more.
    package var isEnded = false

    /// Takes note of the service's answer to some edits.
    mutating func take(
        _ answer: JSONValue, _ edits: [OutgoingEdit], _ attachments: [OutgoingAttachment], of layers: [LayerDefinition]
    ) {
        for edit in edits {
            switch edit.change.operation {
            case .add: sent.adds += 1
            case .update: sent.updates += 1
            case .delete: sent.deletes += 1
            }
        }
        sent.attachments += attachments.count
        let known = Set(conflictIDs)
        conflictIDs += (answer["conflicts"]?.arrayValue ?? []).compactMap(\.integerValue).filter { !known.contains($0) }
        if answer["replicaState"]?.stringValue == "retired" { isEnded = true }
        // The answer tells of this device's own edits too, as the service has them now.
        let own = Set(edits.map { GUID.normalForm($0.globalID) })
        let ownAttachments = Set(attachments.map { GUID.normalForm($0.globalID) })
        for layer in answer["edits"]?.arrayValue ?? [] {
            let key = Self.key(of: layer, layers)
            received.adds += Self.features(layer["features"]?["adds"], key, without: own)
            received.updates += Self.features(layer["features"]?["updates"], key, without: own)
            received.deletes += Self.ids(layer["features"]?["deleteIds"], without: own)
            for kind in ["adds", "updates"] {
                let items = (layer["attachments"]?[kind]?.arrayValue ?? []).compactMap { $0["globalId"] }
                received.attachments += Self.ids(.array(items), without: ownAttachments)
            }
            received.attachments += Self.ids(layer["attachments"]?["deleteIds"], without: ownAttachments)
        }
        // All rows of a layer, where the service no longer knows what this device lacks.
        for layer in answer["layers"]?.arrayValue ?? [] {
            received.updates += Self.features(layer["features"], Self.key(of: layer, layers), without: own)
        }
    }

    /// The name of a layer's global ids.
    private static func key(of json: JSONValue, _ layers: [LayerDefinition]) -> String? {
        layers.first { Int64($0.id) == json["id"]?.integerValue }?.globalIDField
    }

    private static func features(_ list: JSONValue?, _ key: String?, without own: Set<String>) -> Int {
        (list?.arrayValue ?? []).count { feature in !isOwn(key.flatMap { feature["attributes"]?[$0] }, own) }
    }

    private static func ids(_ list: JSONValue?, without own: Set<String>) -> Int {
        (list?.arrayValue ?? []).count { !isOwn($0, own) }
    }

    private static func isOwn(_ id: JSONValue?, _ own: Set<String>) -> Bool {
        id?.stringValue.flatMap(GUID.parse).map { own.contains(GUID.normalForm($0)) } ?? false
    }
}
