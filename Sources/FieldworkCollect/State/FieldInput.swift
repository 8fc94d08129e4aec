import Fieldwork
import Foundation

/// What a form's control shows for an element's value, and what a typed text means for it.
struct FieldInput {
    let element: FieldFormElement
    let layer: MapLayer

    struct Complaint: Error {
        let text: String
    }

    private var type: FieldType? { element.fieldType }

    /// The choices of a list; nil where any value may be typed.
    var choices: [AttributeForm.Choice]? {
        if let input = element.input as? SwitchFormInput {
            return [input.onValue, input.offValue].compactMap(Self.choice)
        }
        return (element.domain as? CodedValueDomain)?.codedValues.compactMap(Self.choice)
    }

    private static func choice(_ value: CodedValue) -> AttributeForm.Choice? {
        value.code.map { AttributeForm.Choice(code: Symbology.text($0), name: value.name, value: $0) }
    }

    /// Whether a moment is put in as a day.
    var isDayOnly: Bool { (element.input as? DateTimePickerFormInput).map { !$0.includesTime } ?? false }

    private var calendar: Calendar {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = layer.table.timeZone
        return calendar
    }

    // MARK: Showing

    /// The text of the control for the present value; empty for none.
    var text: String { text(of: element.value) }

    func text(of value: (any Sendable)?) -> String {
        if choices != nil { return value.map { Symbology.text($0) } ?? "" }
        guard let date = value as? Date else { return AttributeForm.input(value) }
        let parts = calendar.dateComponents([.year, .month, .day, .hour, .minute, .second], from: date)
        let year = String(parts.year ?? 1970)
        let day = [
            String(repeating: "0", count: max(0, 4 - year.count)) + year, Self.two(parts.month), Self.two(parts.day),
        ].joined(separator: "-")
        if isDayOnly { return day }
        // As browsers write it back: seconds only where there are any.
        let seconds = parts.second == 0 ? [] : [parts.second]
        return "\(day)T" + ([parts.hour, parts.minute] + seconds).map(Self.two).joined(separator: ":")
    }

    private static func two(_ part: Int?) -> String {
        let digits = String(part ?? 0)
        return digits.count == 1 ? "0" + digits : digits
    }

    // MARK: Reading

    func value(of posted: String) -> Result<(any Sendable)?, Complaint> {
        let trimmed = posted.trimmingCharacters(in: .whitespacesAndNewlines)
        if trimmed.isEmpty { return .success(nil) }
        if let choices {
            if let choice = choices.first(where: { $0.code == posted }) {
                return .success(FeatureSnapshot.Value(choice.value).value(for: type))
            }
            return .failure(Complaint(text: "\(posted) isn't one of the values this layer takes."))
        }
        switch type {
        case .int16, .int32, .int64:
            guard let number = Int64(trimmed.replacingOccurrences(of: "\u{2212}", with: "-")) else {
                return .failure(Complaint(text: "Type a whole number."))
            }
            guard let value = FeatureSnapshot.Value.integer(number).value(for: type) else {
                return .failure(Complaint(text: "\(trimmed) is larger than this field holds."))
            }
            return .success(value)
        case .float32, .float64:
            guard let number = FormValues.number(trimmed) else { return .failure(Complaint(text: "Type a number.")) }
            guard type != .float32 || Float(number).isFinite else {
                return .failure(Complaint(text: "\(trimmed) is larger than this field holds."))
            }
            return .success(FeatureSnapshot.Value.real(number).value(for: type))
        case .date: return moment(trimmed)
        case .guid:
            guard let id = UUID(uuidString: trimmed.trimmingCharacters(in: CharacterSet(charactersIn: "{}"))) else {
                return .failure(Complaint(text: "Type a GUID of 32 digits."))
            }
            return .success(id)
        default: return .success(posted.replacingOccurrences(of: "\r\n", with: "\n"))
        }
    }

    /// Reads what date controls post, `2026-05-14` or `2026-05-14T14:05`, in the table's time zone.
    private func moment(_ text: String) -> Result<(any Sendable)?, Complaint> {
        let numbers = text.split(whereSeparator: { "-T: ".contains($0) }).map { Int($0.prefix(while: \.isNumber)) }
        let part = numbers.compactMap { $0 }
        let words = isDayOnly ? "Type a date." : "Type a date and a time."
        guard part.count == numbers.count, part.count == 3 || part.count == 5 || part.count == 6,
            isDayOnly || part.count > 3,
            let date = calendar.date(
                from: DateComponents(
                    year: part[0], month: part[1], day: part[2], hour: part.count > 3 ? part[3] : 0,
                    minute: part.count > 4 ? part[4] : 0, second: part.count > 5 ? part[5] : 0))
        else { return .failure(Complaint(text: words)) }
        let back = calendar.dateComponents([.month, .day], from: date)
        guard back.month == part[1], back.day == part[2] else { return .failure(Complaint(text: words)) }
        return .success(date)
    }

    // MARK: Saying why

    /// The reason with the limit, in the app's own words.
    func sentence(for error: FeatureFormError) -> String {
        let range = element.domain as? RangeDomain
        switch error {
        case .fieldIsRequired, .nullNotAllowed: return "Enter a value."
        case .lessThanNumericMinimum:
            guard let low = Symbology.number(range?.minValue) else { return error.details }
            return "\(text) is less than \(FieldText.number(low)), the smallest value this layer takes."
        case .exceedsNumericMaximum:
            guard let high = Symbology.number(range?.maxValue) else { return error.details }
            return "\(text) is more than \(FieldText.number(high)), the largest value this layer takes."
        case .exceedsMaximumLength:
            return
                "\(FieldText.count(text.unicodeScalars.count, "character")) are more than the \(limit) this field holds."
        case .lessThanMinimumLength: return "Type at least \(FieldText.count(least, "character"))."
        default: return error.details
        }
    }

    /// The most characters; 0 for no limit.
    var limit: Int {
        let own = layer.field(named: element.fieldName)?.length ?? 0
        let authored: Int
        switch element.input {
        case let input as TextBoxFormInput: authored = input.maxLength
        case let input as TextAreaFormInput: authored = input.maxLength
        default: authored = 0
        }
        return [own, authored].filter { $0 > 0 }.min() ?? 0
    }

    private var least: Int {
        switch element.input {
        case let input as TextBoxFormInput: input.minLength
        case let input as TextAreaFormInput: input.minLength
        default: 0
        }
    }
}
