import FieldworkGeometry
import FieldworkREST
import Foundation

/// The value of one field.
///
/// What changes is in `Streamed`, which locks for itself.
public final class FieldFormElement: FormElement, @unchecked Sendable {
    /// Whether there must be a value.
    @Streamed public internal(set) var isRequired = false
    /// The present value; nil for none.
    @Streamed public internal(set) var value: (any Sendable)?
    /// Whether the element has been visible since the form was opened; only then is its value cleared when it is hidden.
    @Streamed var wasVisible = false
    let field: FieldDefinition?
    private let ownDomain: DomainDefinition?

    override init(_ json: JSONValue, _ context: FormContext?) {
        field = json["fieldName"]?.stringValue.flatMap { context?.layer?.field(named: $0) }
        let domain = json["domain"].flatMap { try? DomainDefinition(json: $0) }
        if case .inherited = domain?.kind { ownDomain = nil } else { ownDomain = domain }
        super.init(json, context)
    }

    /// The field.
    public var fieldName: String { field?.name ?? json["fieldName"]?.stringValue ?? "" }
    /// The field's type; nil when the table has no such field.
    public var fieldType: FieldType? { field.map { FieldType($0.type) } }
    /// What an empty input shows.
    public var hint: String { json["hint"]?.stringValue ?? "" }
    /// What people see above it: as it was authored, else the field's alias.
    public override var label: String { json["label"]?.stringValue ?? field?.alias ?? fieldName }
    /// Whether the value is calculated where nobody may put it in.
    public var hasValueExpression: Bool { expression("valueExpression") != nil }

    /// The values that are offered: those of the form, else of the feature's type, else of the field.
    public var domain: Domain? {
        guard let field else { return nil }
        let types = context?.layer.flatMap { FormValues.typeDomain(of: field, in: $0) }
        let definition = ownDomain ?? types ?? context?.domain(of: field)
        return definition.map { Domain.make($0, type: field.type) }
    }

    /// How the value is put in.
    public var input: FormInput {
        FormInput.make(json["inputType"], field: field, domain: domain, layer: context?.layer)
    }

    /// The value as people read it.
    public var formattedValue: String {
        guard let value else { return "" }
        if let coded = domain as? CodedValueDomain,
            let known = coded.codedValues.first(where: { FormValues.areEqual($0.code, value) })
        {
            return known.name
        }
        let timeZone = context?.timeZone ?? .current
        var format = ValueFormatter.Format()
        if let picker = input as? DateTimePickerFormInput, !picker.includesTime {
            format.date = PopupDateFormat(day: .shortDate, clock: .none)
        }
        return ValueFormatter(layer: nil, timeZone: timeZone).text(value, format: format)
    }

    /// Why the value can't be saved: `FeatureFormError`s. None for an element that is hidden or not editable.
    public var validationErrors: [any Error] {
        isVisible && isEditable ? FormValidation(element: self).errors() : []
    }

    /// Sets the value; nil clears it. The feature has it at once, its table after `finishEditing`. A value that the field
    /// can't have is kept, and reported by `validationErrors`. Does nothing when the element is not editable.
    public func updateValue(_ value: (any Sendable)?) {
        guard isEditable else { return }
        context?.set(value, of: self)
    }
}

/// Values of forms.
enum FormValues {
    /// Whether two values are the same to a field: numbers by their size, whatever their type.
    static func areEqual(_ one: (any Sendable)?, _ other: (any Sendable)?) -> Bool {
        switch (one, other) {
        case (nil, nil): return true
        case (let one?, let other?):
            if let first = exactInteger(one), let second = exactInteger(other) { return first == second }
            if let first = RendererFields.number(one), let second = RendererFields.number(other) {
                return first == second
            }
            if let first = one as? any Hashable, let second = other as? any Hashable {
                return AnyHashable(first) == AnyHashable(second)
            }
            return false
        default: return false
        }
    }

    private static func exactInteger(_ value: any Sendable) -> Int64? {
        (value as? any BinaryInteger).flatMap { Int64(exactly: $0) }
    }

    /// The types of a layer as a domain, for the field that says the type.
    static func typeDomain(of field: FieldDefinition, in layer: LayerDefinition) -> DomainDefinition? {
        guard layer.typeIDField?.lowercased() == field.name.lowercased(), !layer.types.isEmpty else { return nil }
        return DomainDefinition(
            name: "types", kind: .codedValues(layer.types.map { .init(code: $0.id, name: $0.name) }))
    }
}
