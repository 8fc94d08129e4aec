import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation

/// One edit of an attachment on its way to the service.
struct OutgoingAttachment: Sendable {
    var layerID: Int
    var globalID: UUID
    var operation: AttachmentEdit.Operation
    /// As it is now; nil for a delete.
    var info: AttachmentInfo?
    /// Whether the bytes go along, or only what is said of them.
    var carriesContent: Bool

    /// Deleted since: the deletion goes now.
    mutating func wasDeleted() { (operation, info, carriesContent) = (.delete, nil, false) }

    /// How an edit names a content: the bytes themselves, or the id of an upload.
    typealias Content = (name: String, value: JSONValue)

    fileprivate func json(_ content: Content?) -> JSONValue {
        var object = JSONObject()
        object.append("globalId", .string(GUID.normalForm(globalID)))
        if let info {
            object.append("parentGlobalId", JSONValue(info.parentGlobalID.map(GUID.normalForm)))
            object.append("name", .string(info.name))
            object.append("contentType", .string(info.contentType))
            object.append("keywords", .string(info.keywords))
        }
        if let content { object.append(content.name, content.value) }
        return .object(object)
    }

    /// The member `attachments` of a layer's edits.
    static func json(_ edits: [OutgoingAttachment], _ contents: [UUID: Content]) -> JSONValue {
        func list(_ operation: AttachmentEdit.Operation) -> JSONValue {
            .array(edits.filter { $0.operation == operation }.map { $0.json(contents[$0.globalID]) })
        }
        let deletes = edits.filter { $0.operation == .delete }.map { JSONValue.string(GUID.normalForm($0.globalID)) }
        return ["adds": list(.add), "updates": list(.update), "deletes": .array(deletes)]
    }
}

extension ReplicaUploadDocument {
    /// The edits of attachments up to a generation of the file, and those that the service refused before.
    func attachments(through generation: Int64) async throws -> [OutgoingAttachment] {
        guard record.attachmentDirection != .none else { return [] }
        var edits: [OutgoingAttachment] = []
        for layer in session.file.definition.layers where parameters.sends(layer.id) && layer.hasAttachments {
            var operations = record.refusedAttachments[layer.id] ?? [:]
            var contents = Set(operations.keys)
            for change in try await session.netAttachmentChanges(of: layer.id, through: generation) {
                guard let id = change.globalID else { continue }
                operations[id] = AttachmentEdit.Operation(change.operation, after: operations[id])
                if change.changesContent { contents.insert(id) }
            }
            let infos = try await session.attachments(Array(operations.keys), in: layer.id)
            let refused = Set((record.refusedAttachments[layer.id] ?? [:]).keys)
            let isComplete = operations.allSatisfy { $0.value == .delete || infos[$0.key] != nil }
            let later =
                isComplete ? [] : try await session.netAttachmentChanges(of: layer.id, after: generation, through: .max)
            let deletedHere = refused.union(later.filter { $0.operation == .delete }.compactMap(\.globalID))
            edits += operations.sorted { $0.key.uuidString < $1.key.uuidString }.compactMap { id, operation in
                let info = operation == .delete ? nil : infos[id]
                // What the service took from this device when it had the edit is not deleted here; what was deleted here since
                // goes now as a deletion.
                guard operation == .delete || info != nil || deletedHere.contains(id) else { return nil }
                return OutgoingAttachment(
                    layerID: layer.id, globalID: id, operation: info == nil ? .delete : operation, info: info,
                    carriesContent: info != nil && (operation == .add || contents.contains(id)))
            }
        }
        return edits
    }
}

extension AttachmentEdit.Operation {
    /// What the service is to be asked after it refused an earlier edit of the same attachment.
    init(_ later: FeatureChange.Operation, after refused: AttachmentEdit.Operation?) {
        switch (refused, later) {
        case (_, .delete): self = .delete
        // What it refused to delete it has.
        case (.delete?, .add), (.update?, .add): self = .update
        case (.add?, _), (nil, .add): self = .add
        case (_, .update): self = .update
        }
    }
}

extension GeodatabaseSession {
    /// The attachments of global ids that are there.
    func attachments(_ ids: [UUID], in layerID: Int) async throws -> [UUID: AttachmentInfo] {
        var found: [UUID: AttachmentInfo] = [:]
        for start in stride(from: 0, to: ids.count, by: Limits.idsPerCondition) {
            let part = Array(ids[start..<min(start + Limits.idsPerCondition, ids.count)])
            let page = try await onDevice {
                try await file.attachments(AttachmentQuery(globalIDs: part), in: layerID)
            }
            for info in page.attachments { if let id = info.globalID { found[id] = info } }
        }
        return found
    }
}
