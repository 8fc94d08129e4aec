import FieldworkREST
import Foundation

/// The rules that the value of one element has to keep: those of its field, its domain and its input.
struct FormValidation {
    let element: FieldFormElement

    func errors() -> [FeatureFormError] {
        guard let field = element.field else { return [] }
        let name = element.label
        guard let value = element.value, !(value as? String == "" && element.isRequired) else {
            return missing(field, name)
        }
        guard let stored = try? AttributeConversion.stored(value, in: field.unlimited) else {
            return [.incorrectValueType(details: "\(name) needs \(Self.kind(of: field.type)).")]
        }
        return length(stored, field, name) + domain(value, stored, name) + moment(value, name)
    }

    private func missing(_ field: FieldDefinition, _ name: String) -> [FeatureFormError] {
        var errors: [FeatureFormError] = []
        if !field.isNullable, element.value == nil, element.isRequired {
            errors.append(.nullNotAllowed(details: "\(name) can't be empty."))
        }
        if element.isRequired { errors.append(.fieldIsRequired(details: "\(name) is required.")) }
        return errors
    }

    private func length(_ value: AttributeValue, _ field: FieldDefinition, _ name: String) -> [FeatureFormError] {
        guard field.type == .string, let text = value.textValue else { return [] }
        let count = text.unicodeScalars.count
        var (least, most) = (0, field.length)
        switch element.input {
        case let input as TextBoxFormInput: (least, most) = (input.minLength, input.maxLength)
        case let input as TextAreaFormInput: (least, most) = (input.minLength, input.maxLength)
        default: break
        }
        // The author may only narrow what the field holds.
        let limit = [most, field.length].filter { $0 > 0 }.min() ?? 0
        if limit > 0, count > limit {
            return [.exceedsMaximumLength(details: "\(name) can have \(limit) characters, and has \(count).")]
        }
        if count > 0, count < least {
            return [.lessThanMinimumLength(details: "\(name) needs \(least) characters, and has \(count).")]
        }
        return []
    }

    private func domain(_ value: any Sendable, _ stored: AttributeValue, _ name: String) -> [FeatureFormError] {
        switch element.domain {
        case let domain as CodedValueDomain:
            if domain.codedValues.contains(where: { FormValues.areEqual($0.code, value) }) { return [] }
            return [.notInCodedValueDomain(details: "\(name) is none of the values that are offered.")]
        case let domain as RangeDomain:
            guard let number = stored.doubleValue else { return [] }
            let limits = (RendererFields.number(domain.minValue), RendererFields.number(domain.maxValue))
            let isMoment = value is Date
            if let least = limits.0, number < least {
                let text = "\(name) is at least \(Self.text(domain.minValue))."
                return [isMoment ? .lessThanMinimumDateTime(details: text) : .lessThanNumericMinimum(details: text)]
            }
            if let most = limits.1, number > most {
                let text = "\(name) is at most \(Self.text(domain.maxValue))."
                return [isMoment ? .exceedsMaximumDateTime(details: text) : .exceedsNumericMaximum(details: text)]
            }
            return []
        default: return bounds(stored, name)
        }
    }

    /// What a number's type can hold.
    private func bounds(_ value: AttributeValue, _ name: String) -> [FeatureFormError] {
        guard let field = element.field, let number = value.integerValue else { return [] }
        let range: ClosedRange<Int64>
        switch field.type {
        case .smallInteger: range = Int64(Int16.min)...Int64(Int16.max)
        case .integer: range = Int64(Int32.min)...Int64(Int32.max)
        default: return []
        }
        if number < range.lowerBound {
            return [.lessThanNumericMinimum(details: "\(name) is at least \(range.lowerBound).")]
        }
        if number > range.upperBound {
            return [.exceedsNumericMaximum(details: "\(name) is at most \(range.upperBound).")]
        }
        return []
    }

    private func moment(_ value: any Sendable, _ name: String) -> [FeatureFormError] {
        guard let date = value as? Date, let input = element.input as? DateTimePickerFormInput else { return [] }
        let zone = element.context?.timeZone ?? .current
        let format = PopupDateFormat(day: .shortDate, clock: input.includesTime ? .shortTime : .none)
        if let least = input.min, date < least {
            return [.lessThanMinimumDateTime(details: "\(name) is not before \(format.text(least, in: zone)).")]
        }
        if let most = input.max, date > most {
            return [.exceedsMaximumDateTime(details: "\(name) is not after \(format.text(most, in: zone)).")]
        }
        return []
    }

    private static func text(_ value: (any Sendable)?) -> String {
        value.map { ValueFormatter(layer: nil, timeZone: .current).text($0, format: .init()) } ?? ""
    }

    private static func kind(of type: FieldworkREST.FieldType) -> String {
        switch type {
        case .smallInteger, .integer, .bigInteger, .oid: "a whole number"
        case .single, .double: "a number"
        case .date: "a moment"
        case .guid, .globalID: "a UUID"
        case .blob: "data"
        default: "a text"
        }
    }
}

extension FieldDefinition {
    /// The field without limits, which have errors of their own: only the type decides.
    fileprivate var unlimited: FieldDefinition {
        var field = self
        field.length = 0
        if field.type == .smallInteger || field.type == .integer { field.type = .bigInteger }
        return field
    }
}
