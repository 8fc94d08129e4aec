import FieldworkGeometry
import FieldworkREST
import Foundation
import Synchronization

/// The editing of one feature, as a definition wants it. What is changed is in the feature at once, and in its table after
/// `finishEditing`.
///
/// What changes is behind a lock or in `Streamed`, which locks for itself.
public final class FeatureForm: @unchecked Sendable {
    /// The state to go back to.
    private struct Original: Sendable {
        var attributes: [String: any Sendable]
        var geometry: Geometry?
    }

    /// The feature.
    public let feature: ArcGISFeature
    /// What the form is made of.
    public let definition: FeatureFormDefinition
    /// The elements, in order.
    public let elements: [FormElement]
    /// All attachments of the feature. nil where the table has none, and where the form has elements of its own for them.
    public let defaultAttachmentsElement: AttachmentsFormElement?
    /// The title with the feature's present values in it.
    @Streamed public internal(set) var title = ""
    /// Whether something differs from the state when the form was made or finished last.
    @Streamed public internal(set) var hasEdits = false
    let context: FormContext
    let expressions: any ExpressionEvaluator
    /// Evaluations follow each other.
    let gate = SerialGate()
    private let original: Mutex<Original>

    /// A form by the definition of the feature's layer or table, and where they have none one of all editable fields.
    public convenience init(feature: ArcGISFeature) {
        let table = feature.table
        let authored = (table?.layer as? FeatureLayer)?.featureFormDefinition ?? table?.featureFormDefinition
        self.init(
            feature: feature,
            definition: authored ?? table.map(FeatureFormDefinition.init(featureTable:)) ?? FeatureFormDefinition())
    }

    /// A form by a definition.
    public convenience init(feature: ArcGISFeature, definition: FeatureFormDefinition) {
        self.init(feature: feature, definition: definition, expressions: ArcGISEnvironment.expressionEvaluator)
    }

    init(feature: ArcGISFeature, definition: FeatureFormDefinition, expressions: any ExpressionEvaluator) {
        self.feature = feature
        self.definition = definition
        self.expressions = expressions
        let context = FormContext(feature: feature, definition: definition)
        self.context = context
        elements = definition.elementsJSON.compactMap { FormElement.make($0, context) }
        let hasDefault = feature.table?.attachmentSource != nil && !definition.supportsAttachmentElements
        defaultAttachmentsElement = hasDefault ? AttachmentsFormElement(["type": "attachment"], context) : nil
        original = Mutex(Original(attributes: feature.attributes, geometry: feature.geometry))
        context.connect(self)
        for element in allElements { showRules(of: element) }
        defaultAttachmentsElement?.isEditable = context.acceptsAttachments
        showValues()
    }

    /// What the form is for.
    public var description: String { definition.description }

    /// Whether the value of a field stays when its element is hidden.
    public var preservesFieldValuesWhenHidden: Bool { definition.preservesFieldValuesWhenHidden }

    /// All elements, those of groups after their group.
    var allElements: [FormElement] {
        elements.flatMap { [$0] + (($0 as? GroupFormElement)?.elements ?? []) }
    }

    var attachmentElements: [AttachmentsFormElement] {
        allElements.compactMap { $0 as? AttachmentsFormElement } + [defaultAttachmentsElement].compactMap(\.self)
    }

    var originalAttributes: [String: any Sendable] { original.withLock { $0.attributes } }

    // MARK: Values

    /// What is known without an expression: constants, and what the service demands.
    private func showRules(of element: FormElement) {
        if let element = element as? AttachmentsFormElement {
            element.isEditable = wantsEditable(element) && context.acceptsAttachments
        }
        guard let element = element as? FieldFormElement, let field = element.field else { return }
        element.isEditable = wantsEditable(element) && context.accepts(field)
        element.isRequired = context.needs(field)
    }

    private func wantsEditable(_ element: FormElement) -> Bool {
        let named = element.expression("editableExpression")
        return named.map { FormEvaluator.constant($0) ?? false } ?? !context.usesEditableExpressions
    }

    /// Shows the feature's present values in the elements.
    func showValues() {
        let attributes = feature.attributes
        for element in allElements {
            switch element {
            case let element as FieldFormElement:
                let value = attributes[element.fieldName]
                if !FormValues.areEqual(element.value, value) { element.value = value }
            case let element as TextFormElement:
                let text = filled(element.template)
                if element.text != text { element.text = text }
            default: break
            }
        }
        let title = filled(definition.title)
        if self.title != title { self.title = title }
        let differs = differsFromOriginal(attributes)
        if hasEdits != differs { hasEdits = differs }
    }

    private func filled(_ template: String) -> String {
        let attributes = feature.attributes
        let formatter = ValueFormatter(layer: context.layer, timeZone: context.timeZone)
        return TextTemplate(template).filled { name in
            guard case .field(let key) = name else { return "" }
            let spelled = context.layer?.field(named: key)?.name ?? key
            return formatter.text(attributes[spelled], field: spelled, format: .init(), attributes: attributes)
        }
    }

    private func differsFromOriginal(_ attributes: [String: any Sendable]) -> Bool {
        let (known, geometry) = original.withLock { ($0.attributes, $0.geometry) }
        let names = Set(known.keys).union(attributes.keys)
        return names.contains { !FormValues.areEqual(known[$0], attributes[$0]) } || geometry != feature.geometry
            || attachmentElements.contains(where: \.hasEdits)
    }

    /// Why values can't be saved, by field name: `FeatureFormError`s. Hidden elements and those that are not editable have
    /// none.
    public var validationErrors: [String: [any Error]] {
        var result: [String: [any Error]] = [:]
        for element in allElements.compactMap({ $0 as? FieldFormElement }) {
            let errors = element.validationErrors
            if !errors.isEmpty { result[element.fieldName, default: []] += errors }
        }
        return result
    }

    // MARK: The end

    /// Adds the feature to its table, or updates it there. It is on this device's disk when the call returns; the service
    /// is told by `applyEdits`. Attachments that were staged are kept after it; when one can't be, the call throws, the
    /// feature is saved, and what was not kept is still staged. Throws a `FeatureFormError` and saves nothing while a value
    /// is not valid, or attachments that the form's author demands are missing.
    public func finishEditing() async throws {
        guard let table = feature.table else {
            throw CommonError.illegalState(details: "The feature has no table to be kept in.")
        }
        for element in allElements.compactMap({ $0 as? FieldFormElement }) {
            if let error = element.validationErrors.first { throw error }
        }
        for element in attachmentElements { try await element.checkCount() }
        if feature.origin == nil { try await table.add(feature) } else { try await table.update(feature) }
        original.withLock { $0 = Original(attributes: feature.attributes, geometry: feature.geometry) }
        // Shown also when an attachment can't be kept.
        defer { showValues() }
        for element in attachmentElements { try await element.commit() }
    }

    /// Goes back to the values when the form was made or finished last, and forgets attachments that were staged.
    public func discardEdits() {
        let (attributes, geometry) = original.withLock { ($0.attributes, $0.geometry) }
        feature.state.withLock { state in
            state.attributes = attributes
            state.geometry = geometry
        }
        for element in attachmentElements { element.discard() }
        showValues()
    }
}
