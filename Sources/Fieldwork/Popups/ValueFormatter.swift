import FieldworkGeometry
import FieldworkREST
import Foundation

/// How values are shown to people: by the name of their code, else as a format says, else as they are.
struct ValueFormatter: Sendable {
    /// Where a number or a moment is shown.
    struct Format: Sendable {
        /// Decimals: at least and at most; nil as stored.
        var decimals: ClosedRange<Int>?
        var groupsThousands = false
        var date: PopupDateFormat?

        init() {}

        /// The old `format` and the newer `fieldFormat` of a field; the newer comes first.
        init(format: JSONValue?, fieldFormat: JSONValue?) {
            if let places = format?["places"]?.integerValue {
                let places = Int(clamping: min(max(0, places), Int64(Limits.decimalPlaces)))
                decimals = places...places
            }
            groupsThousands = format?["digitSeparator"]?.boolValue ?? false
            date = format?["dateFormat"]?.stringValue.flatMap(PopupDateFormat.init(name:))
            switch fieldFormat?["type"]?.stringValue {
            case "number": readNumber(fieldFormat)
            case "date-time": readDate(fieldFormat)
            default: break
            }
        }

        private mutating func readNumber(_ json: JSONValue?) {
            let least = Self.places(json?["minimumFractionDigits"]) ?? 0
            let most = Self.places(json?["maximumFractionDigits"]) ?? max(2, least)
            decimals = min(least, most)...most
            groupsThousands = json?["useGrouping"]?.stringValue != "never"
        }

        private mutating func readDate(_ json: JSONValue?) {
            let is24 = json?["hour12"]?.stringValue == "never"
            let clock: PopupDateFormat.Clock =
                switch json?["timeStyle"]?.stringValue {
                case nil: .none
                case "short": is24 ? .shortTime24 : .shortTime
                default: is24 ? .longTime24 : .longTime
                }
            let day: PopupDateFormat.Day =
                switch json?["dateStyle"]?.stringValue {
                case "full": .longDate
                case "long": .longMonthDayYear
                case "medium": .dayShortMonthYear
                default: .shortDate
                }
            date = PopupDateFormat(day: day, clock: clock)
        }

        private static func places(_ json: JSONValue?) -> Int? {
            json?.integerValue.map { Int(clamping: min(max(0, $0), Int64(Limits.decimalPlaces))) }
        }
    }

    let layer: LayerDefinition?
    let timeZone: TimeZone

    /// The text of a field's value; empty for none.
    /// - Parameter attributes: of the whole feature, whose type decides between domains.
    func text(
        _ value: (any Sendable)?, field name: String, format: Format, attributes: [String: any Sendable]
    ) -> String {
        guard let value else { return "" }
        guard let field = layer?.field(named: name) else { return text(value, format: format) }
        if let code = codeName(value, field: field, attributes: attributes) { return code }
        return text(value, format: format, type: field.type)
    }

    /// The name of a coded value: by the domain of the feature's type, else of the field; of a type, its own.
    func codeName(
        _ value: any Sendable, field: FieldDefinition, attributes: [String: any Sendable]
    ) -> String? {
        guard let layer, let stored = try? AttributeConversion.stored(value, in: field.unrestricted) else { return nil }
        if let typeField = layer.typeIDField, layer.field(named: typeField)?.name == field.name {
            let known = layer.types.first { AttributeConversion.normalised($0.id, type: field.type) == stored }
            if let known { return known.name }
        }
        guard case .codedValues(let values) = domain(of: field, attributes: attributes)?.kind else { return nil }
        return values.first { AttributeConversion.normalised($0.code, type: field.type) == stored }?.name
    }

    /// The domain of a field for a feature with these attributes.
    func domain(of field: FieldDefinition, attributes: [String: any Sendable]) -> DomainDefinition? {
        guard let layer, let typeField = layer.typeIDField.flatMap(layer.field(named:)),
            let value = attributes[typeField.name],
            let id = try? AttributeConversion.stored(value, in: typeField.unrestricted)
        else { return field.domain }
        let type = layer.types.first { AttributeConversion.normalised($0.id, type: typeField.type) == id }
        let own = type?.domains.first { $0.key.lowercased() == field.name.lowercased() }?.value
        if let own, case .inherited = own.kind { return field.domain }
        return own ?? field.domain
    }

    /// The text of a value without a field of its own.
    func text(_ value: any Sendable, format: Format, type: FieldworkREST.FieldType? = nil) -> String {
        switch value {
        case let text as String: text
        case let date as Date: (format.date ?? .standard).text(date, in: timeZone)
        case let id as UUID: GUID.normalForm(id)
        case let flag as Bool: flag ? "true" : "false"
        case let number as any BinaryInteger: NumberText.text(Double(number), whole: Int64(exactly: number), format)
        case let number as Float: NumberText.text(Double(number), shortest: "\(number)", format)
        case let number as any BinaryFloatingPoint: NumberText.text(Double(number), format)
        case let data as Data: data.isEmpty ? "" : "\(data.count) bytes"
        default: "\(value)"
        }
    }
}

/// Numbers as text, in US English.
enum NumberText {
    /// - Parameters:
    ///   - whole: the exact value of an integer, which may have more digits than a double.
    ///   - shortest: the shortest digits that tell the number from its neighbours.
    static func text(
        _ number: Double, whole: Int64? = nil, shortest: String? = nil, _ format: ValueFormatter.Format
    ) -> String {
        var text: String
        if let decimals = format.decimals {
            text = fixed(number, whole: whole, decimals)
        } else if let whole {
            text = String(whole)
        } else if number == number.rounded(), abs(number) < 1e15 {
            text = String(Int64(number))
        } else {
            text = shortest ?? "\(number)"
        }
        if Double(text) == 0, text.hasPrefix("-") { text.removeFirst() }
        return format.groupsThousands ? grouped(text) : text
    }

    private static func fixed(_ number: Double, whole: Int64?, _ decimals: ClosedRange<Int>) -> String {
        if let whole {
            let zeros = String(repeating: "0", count: decimals.lowerBound)
            return zeros.isEmpty ? String(whole) : "\(whole).\(zeros)"
        }
        var text = String(format: "%.\(decimals.upperBound)f", number)
        guard decimals.upperBound > decimals.lowerBound, let point = text.firstIndex(of: ".") else { return text }
        let least = text.index(point, offsetBy: decimals.lowerBound)
        while let last = text.indices.last, last > least, text[last] == "0" { text.removeLast() }
        if text.hasSuffix(".") { text.removeLast() }
        return text
    }

    private static func grouped(_ text: String) -> String {
        guard !text.contains("e") else { return text }
        let sign = text.hasPrefix("-") ? "-" : ""
        let parts = text.dropFirst(sign.count).split(separator: ".", omittingEmptySubsequences: false)
        let digits = Array(parts.first ?? "")
        var result = ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index).isMultiple(of: 3) { result.append(",") }
            result.append(digit)
        }
        return sign + result + (parts.count > 1 ? ".\(parts[1])" : "")
    }
}

extension FieldDefinition {
    /// The field without a limit of its length: values are compared by it, not kept.
    fileprivate var unrestricted: FieldDefinition {
        var field = self
        field.length = 0
        return field
    }
}
