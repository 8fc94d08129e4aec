import FieldworkGeometry
import FieldworkREST
import Foundation

/// The unsent edits of one feature: what the service has to be told about it, and all that is needed to tell it once.
struct LocalEdit: Sendable, Hashable {
    enum Operation: String, Sendable {
        case add, update, delete
    }

    struct Key: Sendable, Hashable {
        var layerID: Int
        /// Negative until the service has given its own.
        var objectID: Int64
    }

    var key: Key
    /// The row of the journal.
    var rowID: Int64
    var globalID: UUID?
    var operation: Operation
    /// Counts the local edits of the feature.
    var revision: Int64 = 1
    /// The service's version that the edits started from; nil for an add.
    var base: FeatureRecord?
    /// The version that the user sees; nil for a delete.
    var current: FeatureRecord?
    /// The edit that was sent and whose answer is not known; nil when none is on its way.
    var attempt: Attempt?
    /// The version of this new feature that was sent first, where no answer came and the service did not have it: it may arrive
    /// late, instead of what was sent after it.
    var firstSent: FeatureRecord?
    /// Whether the row was cached before the edit, and stays so after it.
    var isCached = false
    /// Why the service refused the edit when it was sent last.
    var refusal: String?
    /// Unsent edits of the feature's attachments; none for a deleted feature.
    var attachments: [AttachmentEdit] = []
    /// Those that a feature which was deleted here had: they come back with it.
    var setAside: [AttachmentEdit] = []

    struct Attempt: Sendable, Hashable {
        var revision: Int64
        var operation: Operation
        /// The version that was sent.
        var record: FeatureRecord?
    }

    /// The edit of a feature that is added again after it was deleted here: to the service, which has not been told of the delete,
    /// it is the same feature, with its id, its attachments and what is related to it.
    func restored(as record: FeatureRecord, _ layer: LayerDefinition) -> LocalEdit {
        var edit = self
        edit.operation = base == nil ? .add : .update
        edit.revision += 1
        edit.refusal = nil
        (edit.attachments, edit.setAside) = (setAside, [])
        var current = base ?? record
        for change in Self.changes(from: base, to: record, layer: layer) {
            current.attributes[change.name] = change.value
        }
        current.geometry = record.geometry
        current.objectID = key.objectID
        current.attributes[layer.objectIDField] = .integer(key.objectID)
        edit.current = current
        return edit
    }

    /// The fields in which two versions differ. Values that neither may send (ids, what the service fills) are left out.
    static func changes(
        from base: FeatureRecord?, to current: FeatureRecord, layer: LayerDefinition
    ) -> [(name: String, value: AttributeValue)] {
        layer.fields.compactMap { field in
            guard isSent(field, of: layer) else { return nil }
            let value = current.attributes[field.name] ?? .null
            return value == base?.attributes[field.name] ?? .null ? nil : (field.name, value)
        }
    }

    private static func isSent(_ field: FieldDefinition, of layer: LayerDefinition) -> Bool {
        guard field.isEditable, field.name != layer.objectIDField, field.name != layer.globalIDField else {
            return false
        }
        switch field.type {
        case .oid, .globalID, .geometry, .raster: return false
        default: break
        }
        let tracking = layer.editFields
        return ![
            tracking?.creationDateField, tracking?.creatorField, tracking?.editDateField, tracking?.editorField,
        ].contains { $0?.lowercased() == field.name.lowercased() }
    }
}
