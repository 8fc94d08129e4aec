import FieldworkGeometry
import FieldworkREST
import Foundation

/// Why the service refused an edit of this device, and since when the file has it.
extension ReplicaRecord {
    struct Refusal: Sendable, Hashable {
        /// In the service's words.
        var reason: String
        /// The file's own generation up to which the service had its edits when this one was refused first: what a feature was
        /// there is what the service had.
        var base: Int64
    }

    /// Takes note of what the service refused of a layer now, in place of what it refused before.
    mutating func note(_ results: [FeatureEditResult], of layer: Int) {
        let former = refusals
        let known = Array((refused[layer] ?? [:]).keys) + Array((refusedAttachments[layer] ?? [:]).keys)
        for id in known { refusals[id] = nil }
        let base = sentGeneration(of: layer)
        for result in results.flatMap({ [$0 as EditResult] + $0.attachmentResults }) {
            guard let id = result.globalID, let error = result.error else { continue }
            let reason = (error as? any ArcGISError)?.details ?? "The service gave no reason."
            refusals[id] = Refusal(reason: reason, base: former[id]?.base ?? base)
        }
    }

    var refusalsJSON: JSONValue {
        var object = JSONObject()
        for (id, refusal) in refusals.sorted(by: { $0.key.uuidString < $1.key.uuidString }) {
            object.append(
                GUID.normalForm(id), ["reason": .string(refusal.reason), "base": .integer(refusal.base)])
        }
        return .object(object)
    }

    static func refusals(_ json: JSONValue?) -> [UUID: Refusal] {
        var refusals: [UUID: Refusal] = [:]
        for member in json?.objectValue?.members ?? [] {
            guard let id = GUID.parse(member.key), let reason = member.value["reason"]?.stringValue else { continue }
            refusals[id] = Refusal(reason: reason, base: member.value["base"]?.integerValue ?? 0)
        }
        return refusals
    }
}
