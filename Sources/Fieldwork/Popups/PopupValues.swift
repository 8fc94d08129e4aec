import FieldworkGeometry
import FieldworkREST
import Foundation

/// What the names of a pop-up's texts stand for, for one feature at one time.
struct PopupValues: Sendable {
    /// What is shown in place of an expression that nothing here can evaluate: never a wrong value.
    static let unsupportedExpression = "(expression not supported)"

    /// What is shown in place of an expression whose data can't be had now.
    static let missingData = "(not available here)"

    /// The records of one relationship.
    struct Related: Sendable {
        var attributes: [[String: any Sendable]]
        var formatter: ValueFormatter
        /// Whether there is one record at most by the relationship's nature.
        var isSingle: Bool
    }

    let definition: PopupDefinition
    let attributes: [String: any Sendable]
    let formatter: ValueFormatter
    /// By name, in lower case.
    var expressions: [String: Result<ExpressionValue, ExpressionError>] = [:]
    var related: [Int: Related] = [:]

    // MARK: Text

    /// The text of a name as a pop-up shows it; empty for none.
    /// - Parameter field: how it is shown; nil for the definition's own field of that name.
    func text(_ name: TextTemplate.Name, as field: PopupField? = nil) -> String {
        switch name {
        case .field(let key):
            let format = (field ?? definition.field(named: key))?.valueFormat ?? .init()
            return formatter.text(value(key), field: key, format: format, attributes: attributes)
        case .expression(let key):
            let format = (field ?? definition.field(named: "expression/\(key)"))?.valueFormat ?? .init()
            return expressionText(key, format)
        case .related(let id, let key):
            let field = field ?? definition.field(named: "relationships/\(id)/\(key)")
            return related[id].map { relatedText($0, key, field) } ?? ""
        }
    }

    func filled(_ template: String) -> String { TextTemplate(template).filled { text($0) } }

    func filledHTML(_ template: String) -> String { TextTemplate(template).filledHTML { text($0) } }

    /// The address of a template; nil when an expression that it needs has no value.
    func filledURL(_ template: String?) -> URL? {
        guard let template else { return nil }
        let parsed = TextTemplate(template)
        for case .expression(let key) in parsed.names {
            guard case .success = expressions[key.lowercased()] else { return nil }
        }
        return parsed.filledURL { text($0) }
    }

    /// What stands before a field's value.
    func label(of field: PopupField) -> String {
        if !field.label.isEmpty { return field.label }
        switch field.name {
        case .field(let name): return formatter.layer?.field(named: name)?.alias ?? name
        case .expression(let name):
            let expression = definition.expressions.first { $0.name.lowercased() == name.lowercased() }
            return expression.map { $0.title.isEmpty ? $0.name : $0.title } ?? name
        case .related(let id, let name): return related[id]?.formatter.layer?.field(named: name)?.alias ?? name
        case nil: return field.fieldName
        }
    }

    private func value(_ key: String) -> (any Sendable)? {
        if let value = attributes[key] { return value }
        let wanted = key.lowercased()
        return attributes.first { $0.key.lowercased() == wanted }?.value
    }

    private func expressionText(_ key: String, _ format: ValueFormatter.Format) -> String {
        switch expressions[key.lowercased()] {
        case .success(let value): value.clientValue.map { formatter.text($0, format: format) } ?? ""
        case .failure(.notSupported): Self.unsupportedExpression
        case .failure(.dataUnavailable): Self.missingData
        // The name of no expression, or one that failed with this feature.
        case .failure, nil: ""
        }
    }

    private func relatedText(_ related: Related, _ key: String, _ field: PopupField?) -> String {
        let format = field?.valueFormat ?? .init()
        let name = related.formatter.layer?.field(named: key)?.name ?? key
        if related.isSingle {
            guard let record = related.attributes.first else { return "" }
            return related.formatter.text(record[name], field: name, format: format, attributes: record)
        }
        let values = related.attributes.map { $0[name] }
        guard let statistic = ValueStatistic(rawValue: field?.statisticType.lowercased() ?? "") else { return "" }
        guard let value = statistic.value(of: values) else { return "" }
        // A statistic is a number of its own, not a code of the field's domain.
        return related.formatter.text(value, format: format)
    }

    // MARK: Numbers

    /// The number of a name, for charts; nil for none.
    func number(_ name: TextTemplate.Name) -> Double? {
        switch name {
        case .field(let key): return RendererFields.number(value(key))
        case .expression(let key):
            guard case .success(.number(let number)) = expressions[key.lowercased()] else { return nil }
            return number
        case .related(let id, let key):
            guard let related = related[id], related.isSingle else { return nil }
            return RendererFields.number(related.attributes.first?[key])
        }
    }
}

/// What several values are put together by.
enum ValueStatistic: String, Sendable {
    case count, sum, min, max, avg, stddev, `var`, mode

    /// The statistic of values; nil when there are none to make it of. Nulls don't count.
    func value(of values: [(any Sendable)?]) -> (any Sendable)? {
        let present = values.compactMap(\.self)
        if self == .count { return Int64(present.count) }
        if self == .mode { return Self.mostFrequent(present) }
        let numbers = present.compactMap(RendererFields.number)
        guard !numbers.isEmpty else { return nil }
        let sum = numbers.reduce(0, +)
        let mean = sum / Double(numbers.count)
        switch self {
        case .sum: return sum
        case .min: return numbers.min()
        case .max: return numbers.max()
        case .avg: return mean
        case .stddev, .var:
            guard numbers.count > 1 else { return nil }
            let variance = numbers.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(numbers.count - 1)
            return self == .var ? variance : variance.squareRoot()
        case .count, .mode: return nil
        }
    }

    private static func mostFrequent(_ values: [any Sendable]) -> (any Sendable)? {
        var counts: [String: (count: Int, first: Int)] = [:]
        for (index, value) in values.enumerated() {
            let key = "\(value)"
            counts[key] = ((counts[key]?.count ?? 0) + 1, counts[key]?.first ?? index)
        }
        let best = counts.values.max { ($0.count, $1.first) < ($1.count, $0.first) }
        return best.map { values[$0.first] }
    }
}
