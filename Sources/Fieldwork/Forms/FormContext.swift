import FieldworkREST
import Foundation
import Synchronization

/// What the elements of one form share: the feature, its layer, the way back to the form.
final class FormContext: Sendable {
    private struct Reference: Sendable {
        weak var form: FeatureForm?
    }

    let feature: ArcGISFeature
    let layer: LayerDefinition?
    let usesEditableExpressions: Bool
    let showsAttachmentElements: Bool
    private let reference = Mutex(Reference())

    init(feature: ArcGISFeature, definition: FeatureFormDefinition) {
        self.feature = feature
        layer = feature.table?.definition
        usesEditableExpressions = definition.usesEditableExpressions
        showsAttachmentElements = definition.supportsAttachmentElements
    }

    func connect(_ form: FeatureForm) { reference.withLock { $0.form = form } }

    var timeZone: TimeZone { feature.table?.timeZone ?? .current }

    /// Whether the feature is one that its table does not have yet.
    var isNew: Bool { feature.origin == nil }

    /// Whether the service and its table let the field be set.
    func accepts(_ field: FieldDefinition) -> Bool {
        guard let table = feature.table, field.isEditable, isNew ? table.canAdd : table.canUpdate(feature) else {
            return false
        }
        switch field.type {
        case .oid, .globalID, .geometry, .raster: return false
        default: return true
        }
    }

    /// Whether the service and its table let attachments of the feature be changed.
    var acceptsAttachments: Bool {
        guard let table = feature.table as? ArcGISFeatureTable, table.hasAttachments else { return false }
        return isNew ? table.canAdd : feature.canEditAttachments
    }

    /// What an expression of the form says. Throws `ExpressionError`.
    func text(of name: String) async throws -> String? {
        guard let form = reference.withLock({ $0.form }) else { return nil }
        return try await FormEvaluator(form: form).text(of: name)
    }

    /// Whether the field must have a value, whatever the form says.
    func needs(_ field: FieldDefinition) -> Bool {
        if layer?.typeIDField?.lowercased() == field.name.lowercased(), layer?.types.isEmpty == false { return true }
        return !field.isNullable && !(isNew && !field.defaultValue.isNull)
    }

    /// The domain of a field for the feature as it is now.
    func domain(of field: FieldDefinition) -> DomainDefinition? {
        ValueFormatter(layer: layer, timeZone: timeZone).domain(of: field, attributes: feature.attributes)
    }

    /// Sets the value of an element in the feature, and lets the form know.
    func set(_ value: (any Sendable)?, of element: FieldFormElement) {
        feature.setAttributeValue(value, forKey: element.fieldName)
        reference.withLock { $0.form }?.showValues()
    }

    /// Something else was changed that the form counts as an edit.
    func noteChange() { reference.withLock { $0.form }?.showValues() }
}
