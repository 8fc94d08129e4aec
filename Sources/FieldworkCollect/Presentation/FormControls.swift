import Fieldwork
import Foundation

/// Makes the controls of a form.
struct FormControls {
    let session: FormSession
    /// What was typed wins over the feature's own values: nothing typed is lost on a second showing.
    let posted: FormValues?
    /// Fields that were filled for the user, with where the value comes from.
    let filled: [String: String]
    /// The field whose value comes when it is found.
    var awaited: String?

    var views: [FieldView] {
        session.form.elements.enumerated().compactMap { index, element in view(element, at: index) }
    }

    private func view(_ element: FormElement, at index: Int) -> FieldView? {
        switch element {
        case let element as FieldFormElement: return session.isPutIn(element) ? view(of: element) : nil
        case let group as GroupFormElement:
            let fields = group.elements.compactMap { view($0, at: index) }
            guard !fields.isEmpty else { return nil }
            let names = group.elements.compactMap { ($0 as? FieldFormElement)?.fieldName }
            let hasProblem = session.problems.contains { names.contains($0.field) }
            return FieldView(
                name: "element-\(index)", label: group.label, hidden: !group.isVisible,
                group: FieldView.Group(
                    description: Self.given(group.description),
                    open: group.initialState == .expanded || hasProblem, fields: fields))
        case let text as TextFormElement:
            return FieldView(name: "element-\(index)", label: "", hidden: !text.isVisible, words: text.text)
        default: return nil
        }
    }

    /// The control of one field.
    func view(of element: FieldFormElement) -> FieldView {
        var view = FieldView(name: element.fieldName, label: element.label, hidden: !element.isVisible)
        if element.isEditable {
            view.input = input(element)
        } else {
            let shown = element.formattedValue
            view.fixed = shown.isEmpty ? FieldText.nothing : shown
        }
        return view
    }

    private func input(_ element: FieldFormElement) -> FieldView.Input {
        let field = AttributeForm.prefix + element.fieldName
        var view = FieldView.Input(
            field: field, required: element.isRequired,
            message: session.problems.first { $0.field == element.fieldName }?.text,
            about: Self.given(element.description),
            fill: element.fieldName == awaited ? "The address is looked for, and comes in here." : nil,
            filled: filled[element.fieldName])
        let input = FieldInput(element: element, layer: session.layer)
        let value = posted?[field] ?? input.text
        if let choices = input.choices {
            let picks = picks(element, choices: choices, typed: value)
            if isOpen(element, count: picks.count) {
                view.picks = FieldView.Picks(short: Self.isShort(picks), options: picks)
            } else {
                view.select = FieldView.Select(options: picks)
            }
        } else if isOfManyLines(element, value: value) {
            view.area = FieldView.Area(value: value, limit: Self.limit(input), hint: Self.hint(element))
        } else {
            view.line = line(element, input: input, value: value)
        }
        return view
    }

    private static func given(_ text: String) -> String? { text.isEmpty ? nil : text }

    // MARK: Typing

    /// The least and the greatest number, where the field's domain says so.
    private static func range(of element: FieldFormElement) -> (low: String?, high: String?) {
        guard let range = element.domain as? RangeDomain else { return (nil, nil) }
        return (
            Symbology.number(range.minValue).map(FieldText.number),
            Symbology.number(range.maxValue).map(FieldText.number)
        )
    }

    /// The author's words, and the limits where they are known.
    private static func hint(_ element: FieldFormElement) -> String? {
        var hints = [element.hint].filter { !$0.isEmpty }
        if case (let low?, let high?) = range(of: element) { hints.append("From \(low) to \(high)") }
        return hints.isEmpty ? nil : hints.joined(separator: ". ")
    }

    private static func limit(_ input: FieldInput) -> Int? { input.limit > 0 ? input.limit : nil }

    private static func isText(_ element: FieldFormElement) -> Bool {
        switch element.fieldType {
        case .int16, .int32, .int64, .float32, .float64, .date, .dateOnly, .timeOnly: false
        default: true
        }
    }

    private func isOfManyLines(_ element: FieldFormElement, value: String) -> Bool {
        guard Self.isText(element) else { return false }
        let isLong = (session.layer.field(named: element.fieldName)?.length ?? 0) > 255
        // A control of one line would drop the ends of lines.
        return element.input is TextAreaFormInput || value.contains("\n")
            || (isLong && !(element.input is TextBoxFormInput))
    }

    private func line(_ element: FieldFormElement, input: FieldInput, value: String) -> FieldView.Line {
        let (low, high) = Self.range(of: element)
        let hint = Self.hint(element)
        func line(
            _ type: String, mode: String? = nil, step: String? = nil, check: String, limit: Int? = nil
        ) -> FieldView.Line {
            FieldView.Line(
                value: value, type: type, mode: mode, step: step, check: check, limit: limit, low: low, high: high,
                hint: hint)
        }
        return switch element.fieldType {
        case .int16, .int32, .int64: line("text", mode: "numeric", check: "integer")
        case .float32, .float64: line("text", mode: "decimal", check: "number")
        case .date where input.isDayOnly: line("date", check: "date")
        case .date: line("datetime-local", step: "1", check: "date")
        case .dateOnly: line("date", check: "date")
        case .timeOnly: line("time", step: "1", check: "date")
        default: line("text", check: "text", limit: Self.limit(input))
        }
    }

    // MARK: Choices

    private func isOpen(_ element: FieldFormElement, count: Int) -> Bool {
        switch element.input {
        case is RadioButtonsFormInput, is SwitchFormInput: return true
        // A short list of the map's own classes is chosen by its symbols.
        default: return session.layer.popup == nil && count <= Limits.buttonChoices
        }
    }

    private func picks(_ element: FieldFormElement, choices: [AttributeForm.Choice], typed: String) -> [FormOption] {
        let symbology = session.layer.symbology
        var picks = choices.map { choice in
            FormOption(
                value: choice.code, text: choice.name, current: choice.code == typed,
                symbol: symbology.swatch(field: element.fieldName, value: choice.value)?.view())
        }
        if !typed.isEmpty, !choices.contains(where: { $0.code == typed }) {
            // A value outside its domain stays as it is until another one is chosen.
            picks.insert(FormOption(value: typed, text: typed, current: true), at: 0)
        }
        if let none = noValue(element, isEmpty: typed.isEmpty) {
            picks.append(FormOption(value: "", text: none, current: typed.isEmpty))
        }
        return picks
    }

    /// Whether the buttons stand in one row on a telephone.
    private static func isShort(_ picks: [FormOption]) -> Bool {
        picks.count <= Limits.shortChoices && picks.allSatisfy { $0.text.count <= Limits.shortChoiceCharacters }
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
