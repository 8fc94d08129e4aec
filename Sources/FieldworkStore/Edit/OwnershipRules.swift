import FieldworkREST

/// Who may change or delete a feature that somebody else created (`ownershipBasedAccessControlForFeatures`), and who may
/// move features of a layer whose geometries stay as they are (`allowGeometryUpdates`).
struct OwnershipRules: Sendable {
    private let access: OwnershipAccess?
    private let editFields: EditFieldsDefinition
    /// The position of the field that names the creator.
    let creatorColumn: Int
    private let allowsGeometryUpdates: Bool

    /// nil when everybody may do everything.
    init?(layer: StoredLayer) {
        let definition = layer.definition
        guard let editFields = definition.editFields,
            let column = editFields.creatorField.flatMap(layer.index(of:)),
            definition.ownershipAccess != nil || !definition.allowsGeometryUpdates
        else { return nil }
        access = definition.ownershipAccess
        self.editFields = editFields
        creatorColumn = column
        allowsGeometryUpdates = definition.allowsGeometryUpdates
    }

    func check(_ action: OwnershipAccess.Action, creator: AttributeValue, editor: String?) throws(EditError) {
        guard let access, !access.allows(action, by: editor), !isOwner(editor, creator) else { return }
        throw EditError(
            code: 1013, description: "Only who created the feature may \(action == .delete ? "delete" : "change") it.")
    }

    func isOwner(_ editor: String?, _ creator: AttributeValue) -> Bool {
        guard let editor, !editor.isEmpty else { return false }
        return creator.textValue == editFields.name(of: editor)
    }
}
