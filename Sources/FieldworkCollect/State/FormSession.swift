import Fieldwork
import Foundation

/// One showing, checking or saving of a feature's form. It stands on the SDK's form: the author's where there is one, else
/// one of the fields that the pop-up lets edit, else one of all. The feature is changed by what is applied, its table isn't.
struct FormSession {
    /// Why a value can't be saved.
    typealias Problem = AttributeForm.Problem

    let layer: MapLayer
    let feature: ArcGISFeature
    let form: FeatureForm
    /// Before anything was applied.
    let before: FeatureSnapshot
    private(set) var problems: [Problem] = []
    /// Fields that were typed into while others changed them on the way: nobody has decided yet which value stands.
    private(set) var overtaken: Set<String> = []
    /// What the controls show before anything is applied, by field.
    private(set) var opened: [String: String] = [:]
    /// Expressions of the author that nothing here can evaluate.
    private(set) var unsupported: [String] = []
    /// Those whose data isn't on this device now.
    private(set) var missing: [String] = []

    /// Opens the form of a feature of the layer.
    static func open(_ feature: Feature, layer: MapLayer) async throws -> FormSession {
        guard let feature = feature as? ArcGISFeature else {
            throw CollectError(.notAllowed, "This \(layer.noun) can't be edited.")
        }
        var session = FormSession(
            layer: layer, feature: feature,
            form: FeatureForm(feature: feature, definition: try definition(of: layer)), before: FeatureSnapshot(feature)
        )
        try await session.evaluate()
        for element in session.fieldElements { session.opened[element.fieldName] = session.input(of: element) }
        return session
    }

    private mutating func evaluate() async throws {
        let errors = try await form.evaluateExpressions().filter { !$0.elementLabel.isEmpty }
        func labels(_ isMeant: (FormExpressionEvaluationError) -> Bool) -> [String] {
            errors.filter(isMeant).map(\.elementLabel)
        }
        func isMissing(_ error: FormExpressionEvaluationError) -> Bool {
            if case ExpressionError.dataUnavailable? = error.error as? ExpressionError { true } else { false }
        }
        missing = labels(isMissing)
        unsupported = labels { !isMissing($0) }
    }

    private static func definition(of layer: MapLayer) throws -> FeatureFormDefinition {
        if let authored = layer.featureLayer?.featureFormDefinition ?? layer.table.featureFormDefinition {
            return authored
        }
        guard let popup = layer.popup else { return FeatureFormDefinition(featureTable: layer.table) }
        let elements = popup.fields.filter { $0.isVisible && $0.isEditable }.compactMap { field -> PopupInput? in
            guard let column = layer.field(named: field.fieldName) else { return nil }
            let isLong = [.multiLine, .richText].contains(field.stringFieldOption) && column.domain == nil
            return PopupInput(
                fieldName: column.name, label: field.label.isEmpty ? AttributeForm.label(column) : field.label,
                inputType: isLong && column.type == .text ? .init(type: "text-area") : nil)
        }
        return try FeatureFormDefinition.fromJSON(JSONEncoder().encode(PopupInputs(formElements: elements)))
    }

    private struct PopupInputs: Encodable {
        let formElements: [PopupInput]
    }

    private struct PopupInput: Encodable {
        struct Kind: Encodable {
            let type: String
        }

        let type = "field"
        let fieldName: String
        let label: String
        let inputType: Kind?
    }

    // MARK: Elements

    /// The elements of fields, those of groups in their place, without those that a related record is chosen by.
    var fieldElements: [FieldFormElement] {
        form.elements.flatMap { element -> [FieldFormElement] in
            switch element {
            case let element as FieldFormElement: [element]
            case let group as GroupFormElement: group.elements.compactMap { $0 as? FieldFormElement }
            default: []
            }
        }.filter(isPutIn)
    }

    /// Whether a field is put in by itself: keys of other tables are chosen as records.
    func isPutIn(_ element: FieldFormElement) -> Bool { !keyFields.contains(element.fieldName.lowercased()) }

    private var keyFields: Set<String> {
        let infos = layer.table.layerInfo?.relationshipInfos ?? []
        return Set(
            infos.filter { $0.role == .destination && $0.cardinality != .manyToMany }.map { $0.keyField.lowercased() })
    }

    mutating func forgetProblems() { problems = [] }

    var hasEdits: Bool { FeatureSnapshot(feature).attributes != before.attributes }

    // MARK: Values

    /// Takes over what was posted. What can't be read, and what the form doesn't take, is in `problems`.
    mutating func apply(_ posted: FormValues) async throws {
        var misread: [Problem] = []
        let base = FormBase(posted)
        // What one value lets edit is there only after it was set.
        for _ in 0..<2 {
            misread = []
            for element in fieldElements where element.isEditable {
                guard let text = posted[AttributeForm.prefix + element.fieldName] else { continue }
                if let complaint = put(text, into: element, base: base) { misread.append(complaint) }
            }
            try await evaluate()
        }
        let asked = Set(misread.map(\.field))
        problems = fieldElements.compactMap { element in
            if asked.contains(element.fieldName) { return misread.first { $0.field == element.fieldName } }
            return problem(of: element)
        }
    }

    private mutating func put(_ text: String, into element: FieldFormElement, base: FormBase) -> Problem? {
        let shown = input(of: element)
        // An untouched control is no edit: what it shows may be less exact than the value, or older.
        let name = AttributeForm.prefix + element.fieldName
        guard text.replacingOccurrences(of: "\r\n", with: "\n") != shown, base.isSame(name, text) != true else {
            return nil
        }
        if let now = opened[element.fieldName], base.isSame(name, now) == false {
            overtaken.insert(element.fieldName)
            return Problem(
                field: element.fieldName, label: element.label, text: Self.changed(to: element.formattedValue))
        }
        switch FieldInput(element: element, layer: layer).value(of: text) {
        case .success(let value):
            element.updateValue(value)
            return nil
        case .failure(let complaint):
            return Problem(field: element.fieldName, label: element.label, text: complaint.text)
        }
    }

    /// What is said where others changed a value while it was typed.
    static func changed(to value: String) -> String {
        "Someone changed this to \(value.isEmpty ? "no value" : String(value.prefix(80))). Save again to keep yours."
    }

    /// What the element's control shows for the present value.
    func input(of element: FieldFormElement) -> String { FieldInput(element: element, layer: layer).text }

    private func problem(of element: FieldFormElement) -> Problem? {
        guard let error = element.validationErrors.first as? FeatureFormError else { return nil }
        let isMissing =
            switch error {
            case .fieldIsRequired, .nullNotAllowed: true
            default: false
            }
        // A value that was there before stays as it is until another one is put in.
        let old = before.attributes[element.fieldName] ?? .null
        guard isMissing || FeatureSnapshot.Value(element.value) != old else { return nil }
        return Problem(
            field: element.fieldName, label: element.label,
            text: FieldInput(element: element, layer: layer).sentence(for: error))
    }

    /// "Condition from Good to Fair": what differs from before, for the journal.
    var changes: [String] {
        let text = FieldText(layer: layer)
        let now = FeatureSnapshot(feature)
        return layer.fields.compactMap { field in
            let (old, new) = (before.attributes[field.name] ?? .null, now.attributes[field.name] ?? .null)
            guard old != new else { return nil }
            let label = fieldElements.first { $0.fieldName == field.name }?.label ?? AttributeForm.label(field)
            let from = text.text(old.value(for: field.type), field: field)
            let to = text.text(new.value(for: field.type), field: field)
            return "\(label) from \(from.prefix(40)) to \(to.prefix(40))"
        }
    }
}
