import FieldworkREST
import Foundation

/// Unsent edits of attachments, which are part of the unsent edits of their features.
extension LocalStore {
    /// Stages an edit of an attachment; a negative id or none is given one here.
    /// - Parameter base: the feature as the service has it, for one without unsent edits.
    /// - Returns: the edit as it stands now; nil when it cancels an earlier one out.
    @discardableResult
    func stage(
        _ attachment: AttachmentEdit, of base: FeatureRecord, in layer: LayerDefinition
    ) async throws -> AttachmentEdit? {
        do {
            return try await gate.run { [self] in
                let key = resolved(.init(layerID: layer.id, objectID: base.objectID))
                var edit: LocalEdit
                if let known = self.edit(key) {
                    edit = known
                } else {
                    edit = try await newEdit(key, base: base)
                    edit.current = edit.base
                }
                if edit.operation == .delete {
                    throw GeodatabaseError.itemNotFound(details: "The feature has been deleted.")
                }
                var own = named(attachment)
                if own.operation == .add, edit.attachments.contains(where: { own.isTwin(of: $0) }) {
                    // Its deletion, which is still to be sent, would take it along.
                    own.globalID = DeviceIDs.next()
                    own.attempt = nil
                }
                let isKnown = own.id >= 0 || edit.attachments.contains { $0.id == own.id }
                guard isKnown || own.operation == .add else {
                    throw GeodatabaseError.itemNotFound(details: "There is no attachment \(own.name) any more.")
                }
                let staged = try edit.stage(own)
                if edit.attachments.count > Limits.stagedAttachments {
                    throw GeodatabaseError.valueOutOfRange(details: "The feature has too many unsent attachments.")
                }
                try await keepOrDrop([edit])
                return staged
            }
        } catch {
            attachmentFiles.remove([attachment.content].compactMap(\.self))
            throw error
        }
    }

    private func named(_ attachment: AttachmentEdit) -> AttachmentEdit {
        var attachment = attachment
        attachment.id = attachment.id == 0 ? takeTemporaryID() : resolvedAttachment(attachment.id)
        return attachment
    }

    /// Marks edits of attachments as sent, on disk, before they are.
    /// - Parameter known: the attachments that each feature has in the service, where it gives no global ids.
    /// - Returns: their features' edits, and the turn of the request.
    func beginAttachments(
        _ chosen: [LocalEdit.Key: Set<Int64>], known: [LocalEdit.Key: [Int64]] = [:]
    ) async throws -> (edits: [LocalEdit], turn: EditTurn) {
        try await gate.run { [self] in
            let sent = chosen.compactMap { key, ids -> LocalEdit? in
                guard var edit = self.edit(key) else { return nil }
                for index in edit.attachments.indices where ids.contains(edit.attachments[index].id) {
                    let attachment = edit.attachments[index]
                    edit.attachments[index].refusal = nil
                    edit.attachments[index].attempt = .init(
                        revision: attachment.revision, operation: attachment.operation, name: attachment.name,
                        size: attachment.size, known: known[key] ?? [])
                }
                return edit
            }
            let turn = try await writeTurn(sent.map { .keep($0) })
            return (sent.sorted { $0.rowID < $1.rowID }, turn)
        }
    }

    /// Writes down what became of edits of attachments.
    func settleAttachments(_ settlements: [LocalEdit.Key: [Int64: AttachmentEdit.Settlement]]) async throws {
        try await gate.run { [self] in
            let changed = settlements.compactMap { key, own -> LocalEdit? in
                guard var edit = self.edit(key) else { return nil }
                edit.attachments = edit.attachments.compactMap { attachment in
                    guard let settlement = own[attachment.id] else { return attachment }
                    if case .applied(let id?) = settlement, id != attachment.id { note(id, for: attachment.id) }
                    return attachment.settled(settlement)
                }
                return edit
            }
            try await keepOrDrop(changed)
        }
    }

    /// Keeps what is left of edits; one that says nothing any more goes.
    private func keepOrDrop(_ edits: [LocalEdit]) async throws {
        try await write(
            edits.map { edit in
                let isIdle = edit.attempt == nil && edit.attachments.isEmpty
                if isIdle, edit.isWithoutChange(definition.layer(id: edit.key.layerID)) {
                    return .drop(edit, row: edit.isCached ? edit.base : nil)
                }
                return .keep(edit)
            })
    }
}

extension AttachmentEdit {
    /// Whether another one has the same global id.
    fileprivate func isTwin(of other: AttachmentEdit) -> Bool {
        globalID != nil && globalID == other.globalID && id != other.id
    }
}

extension LocalEdit {
    /// An update whose values are all those of the service.
    func isWithoutChange(_ layer: LayerDefinition?) -> Bool {
        guard let layer, operation == .update, let base, let current else { return false }
        return LocalEdit.changes(from: base, to: current, layer: layer).isEmpty && base.geometry == current.geometry
    }

    fileprivate mutating func stage(_ attachment: AttachmentEdit) throws -> AttachmentEdit? {
        guard let index = attachments.firstIndex(where: { $0.id == attachment.id }) else {
            attachments.append(attachment)
            return attachment
        }
        guard let merged = try attachments[index].followed(by: attachment) else {
            attachments.remove(at: index)
            return nil
        }
        attachments[index] = merged
        return merged
    }
}
