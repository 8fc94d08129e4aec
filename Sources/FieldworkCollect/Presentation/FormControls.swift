import Fieldwork
import Foundation

/// The controls of a form, as templates read them. Each control names its own kind and denies the others, so that one inside
/// a group never reads the group's.
struct FormControls {
    let session: FormSession
    /// What was typed wins over the feature's own values: nothing typed is lost on a second showing.
    let posted: FormValues?
    /// Fields that were filled for the user, with where the value comes from.
    let filled: [String: String]
    /// The field whose value comes when it is found.
    var awaited: String?

    private static let kinds = ["picks", "select", "line", "area", "fixed", "group", "words"]

    private static func control(_ kind: String, _ values: Values) -> Values {
        var control: Values = [:]
        for other in kinds { control[other] = false }
        control[kind] = values
        return control
    }

    var values: [Values] {
        session.form.elements.enumerated().compactMap { index, element in self.element(element, at: index) }
    }

    /// The control of one field alone.
    func control(of element: FieldFormElement) -> [Values] { [field(element)] }

    private func element(_ element: FormElement, at index: Int) -> Values? {
        switch element {
        case let element as FieldFormElement: return session.isPutIn(element) ? field(element) : nil
        case let group as GroupFormElement:
            let fields = group.elements.compactMap { self.element($0, at: index) }
            guard !fields.isEmpty else { return nil }
            let names = group.elements.compactMap { ($0 as? FieldFormElement)?.fieldName }
            let hasProblem = session.problems.contains { names.contains($0.field) }
            return Self.control(
                "group",
                [
                    "label": group.label, "description": group.description, "hidden": !group.isVisible,
                    "element": "element-\(index)",
                    "hasDescription": !group.description.isEmpty,
                    "open": group.initialState == .expanded || hasProblem, "fields": fields,
                ])
        case let text as TextFormElement:
            return Self.control("words", ["text": text.text, "hidden": !text.isVisible, "element": "element-\(index)"])
        default: return nil
        }
    }

    private func field(_ element: FieldFormElement) -> Values {
        let input = FieldInput(element: element, layer: session.layer)
        guard element.isEditable else {
            let shown = element.formattedValue
            return Self.control(
                "fixed",
                [
                    "label": element.label, "value": shown.isEmpty ? FieldText.nothing : shown,
                    "name": element.fieldName, "hidden": !element.isVisible,
                ])
        }
        let typed = posted?[AttributeForm.prefix + element.fieldName]
        let message = session.problems.first { $0.field == element.fieldName }?.text
        var values: Values = [
            "name": element.fieldName, "field": AttributeForm.prefix + element.fieldName, "label": element.label,
            "required": element.isRequired, "message": message.orFalse, "hint": false, "unit": "", "limit": false,
            "low": false, "high": false, "mode": false, "step": false, "fix": false, "hidden": !element.isVisible,
            "filled": filled[element.fieldName].orFalse,
            "fill": element.fieldName == awaited ? "The address is looked for, and comes in here." : false,
            "about": element.description,
            "hasAbout": !element.description.isEmpty,
        ]
        if let choices = input.choices {
            let options = options(element, choices: choices, typed: typed ?? input.text)
            values["options"] = options
            values["short"] = Self.isShort(options)
            return Self.control(isOpen(element, count: options.count) ? "picks" : "select", values)
        }
        values["value"] = typed ?? input.text
        hint(element, &values)
        return kind(element, input: input, &values)
    }

    /// The author's words, and the limits where they are known.
    private func hint(_ element: FieldFormElement, _ values: inout Values) {
        var hints = [element.hint].filter { !$0.isEmpty }
        if let range = element.domain as? RangeDomain {
            let low = Symbology.number(range.minValue).map(FieldText.number)
            let high = Symbology.number(range.maxValue).map(FieldText.number)
            values["low"] = low.orFalse
            values["high"] = high.orFalse
            if let low, let high { hints.append("From \(low) to \(high)") }
        }
        if !hints.isEmpty { values["hint"] = hints.joined(separator: ". ") }
    }

    private func kind(_ element: FieldFormElement, input: FieldInput, _ values: inout Values) -> Values {
        switch element.fieldType {
        case .int16, .int32, .int64: values.merge(["type": "text", "mode": "numeric", "check": "integer"]) { $1 }
        case .float32, .float64: values.merge(["type": "text", "mode": "decimal", "check": "number"]) { $1 }
        case .date where input.isDayOnly: values.merge(["type": "date", "check": "date"]) { $1 }
        case .date: values.merge(["type": "datetime-local", "check": "date", "step": "1"]) { $1 }
        case .dateOnly: values.merge(["type": "date", "check": "date"]) { $1 }
        case .timeOnly: values.merge(["type": "time", "check": "date", "step": "1"]) { $1 }
        default:
            values.merge(["type": "text", "check": "text"]) { $1 }
            if input.limit > 0 { values["limit"] = input.limit }
            let isLong = (session.layer.field(named: element.fieldName)?.length ?? 0) > 255
            // A control of one line would drop the ends of lines.
            let hasLines = (values["value"] as? String)?.contains("\n") == true
            if element.input is TextAreaFormInput || hasLines || (isLong && !(element.input is TextBoxFormInput)) {
                return Self.control("area", values)
            }
        }
        return Self.control("line", values)
    }

    // MARK: Choices

    private func isOpen(_ element: FieldFormElement, count: Int) -> Bool {
        switch element.input {
        case is RadioButtonsFormInput, is SwitchFormInput: return true
        // A short list of the map's own classes is chosen by its symbols.
        default: return session.layer.popup == nil && count <= Limits.buttonChoices
        }
    }

    private func options(_ element: FieldFormElement, choices: [AttributeForm.Choice], typed: String) -> [Values] {
        let symbology = session.layer.symbology
        var options = choices.map { choice -> Values in
            [
                "value": choice.code, "text": choice.name, "current": choice.code == typed,
                "symbol": symbology.classOf(field: element.fieldName, value: choice.value).map(\.values).orFalse,
            ]
        }
        if !typed.isEmpty, !choices.contains(where: { $0.code == typed }) {
            // A value outside its domain stays as it is until another one is chosen.
            options.insert(["value": typed, "text": typed, "current": true, "symbol": false], at: 0)
        }
        if let none = noValue(element, isEmpty: typed.isEmpty) {
            options.append(["value": "", "text": none, "current": typed.isEmpty, "symbol": false])
        }
        return options
    }

    /// Whether the buttons stand in one row on a telephone.
    private static func isShort(_ options: [Values]) -> Bool {
        options.count <= Limits.shortChoices
            && options.allSatisfy { ($0["text"] as? String).map { $0.count <= Limits.shortChoiceCharacters } ?? false }
    }

    /// What to have no value is called; nil where that isn't offered. A list without a value always shows that it has none.
    private func noValue(_ element: FieldFormElement, isEmpty: Bool) -> String? {
        switch element.input {
        case let input as RadioButtonsFormInput:
            guard input.noValueOption == .show, !element.isRequired else { return nil }
            return input.noValueLabel.isEmpty ? "None" : input.noValueLabel
        case let input as ComboBoxFormInput:
            let name = input.noValueLabel.isEmpty ? "None" : input.noValueLabel
            if input.noValueOption == .show, !element.isRequired { return name }
            return isEmpty ? "Choose" : nil
        case is SwitchFormInput: return nil
        default: return element.isRequired ? nil : "None"
        }
    }
}
