import Fieldwork
import Foundation
import Hummingbird

/// Which rows of a list are shown by their values: those with one value of a list of choices, and those whose number lies in
/// a range. What the address asks for is looked up in the layer; nothing of its text goes into a condition as it is.
struct ListFilter {
    private struct Choice {
        let field: Field
        let code: String
        let name: String
        let value: any Sendable
    }

    private let groups: [(field: Field, choices: [Choice])]
    private let numbers: [Field]
    private let chosen: Choice?
    private let ranged: Field?
    private let low: Double?
    private let high: Double?

    /// - Parameter columns: the fields of the list; what it doesn't show isn't filtered by.
    init(_ request: Request, layer: MapLayer, columns: [Field]) {
        let form = AttributeForm(layer: layer)
        groups = columns.compactMap { field in
            guard let choices = form.choices(field, typeID: nil), !choices.isEmpty else { return nil }
            return (field, choices.map { Choice(field: field, code: $0.code, name: $0.name, value: $0.value) })
        }
        let listed = Set(groups.map(\.field.name))
        numbers = columns.filter { field in
            [.int16, .int32, .int64, .float32, .float64].contains(field.type) && !listed.contains(field.name)
        }
        let query = request.uri.queryParameters
        let only = query["only"].map(String.init)
        chosen = groups.flatMap(\.choices).first { Self.key($0) == only }
        let range = query["range"].map(String.init)
        ranged = numbers.first { $0.name == range }
        low = ranged == nil ? nil : query["low"].flatMap { FormValues.number(String($0)) }
        high = ranged == nil ? nil : query["high"].flatMap { FormValues.number(String($0)) }
    }

    private static func key(_ choice: Choice) -> String { "\(choice.field.name)=\(choice.code)" }

    /// nil where all rows are shown.
    var condition: String? {
        var parts: [String] = []
        if let chosen, let literal = Self.literal(chosen.value) { parts.append("\(chosen.field.name) = \(literal)") }
        if let ranged, let low { parts.append("\(ranged.name) >= \(Self.digits(low))") }
        if let ranged, let high { parts.append("\(ranged.name) <= \(Self.digits(high))") }
        return parts.isEmpty ? nil : parts.joined(separator: " AND ")
    }

    static func literal(_ value: any Sendable) -> String? {
        switch FeatureSnapshot.Value(value) {
        case .integer(let number): String(number)
        case .real(let number): digits(number)
        case .text(let text): "'\(text.replacingOccurrences(of: "'", with: "''"))'"
        default: nil
        }
    }

    /// Without an exponent, which the grammar of conditions doesn't have to know.
    private static func digits(_ number: Double) -> String {
        number == number.rounded() && abs(number) < 1e15 ? String(Int64(number)) : "\(Decimal(number))"
    }

    /// For the address of another page of the same list.
    var address: String {
        var text = chosen.map { "&only=\(ChooseRoutes.escaped(Self.key($0)))" } ?? ""
        guard let ranged, low != nil || high != nil else { return text }
        text += "&range=\(ChooseRoutes.escaped(ranged.name))"
        if let low { text += "&low=\(Self.digits(low))" }
        if let high { text += "&high=\(Self.digits(high))" }
        return text
    }

    /// "Condition: Poor, Trunk diameter at least 10": what is said of the rows; nil where all are shown.
    var words: String? {
        var parts = chosen.map { ["\(AttributeForm.label($0.field)): \($0.name)"] } ?? []
        if let ranged {
            let limits = [
                low.map { "at least \(FieldText.number($0))" }, high.map { "at most \(FieldText.number($0))" },
            ].compactMap { $0 }
            if !limits.isEmpty { parts.append("\(AttributeForm.label(ranged)) \(limits.joined(separator: ", "))") }
        }
        return parts.isEmpty ? nil : parts.joined(separator: "; ")
    }

    /// The values that rows can be chosen by, as the form of the list shows them.
    var only: [ListChoices.Only] {
        groups.map { group in
            ListChoices.Only(
                label: AttributeForm.label(group.field),
                choices: group.choices.map { choice in
                    FormOption(
                        value: Self.key(choice), text: choice.name,
                        current: chosen.map { Self.key($0) == Self.key(choice) } ?? false)
                })
        }
    }

    /// The fields that rows can be chosen by a range of.
    var ranges: [FormOption] { numbers.map { FormOption($0, isCurrent: $0.name == ranged?.name) } }

    /// Whether a range is asked for.
    var isRanged: Bool { low != nil || high != nil }
    var lowText: String { low.map(FieldText.number) ?? "" }
    var highText: String { high.map(FieldText.number) ?? "" }
}

extension FormOption {
    /// A field as a choice.
    init(_ field: Field, isCurrent: Bool) {
        self.init(value: field.name, text: AttributeForm.label(field), current: isCurrent)
    }
}
