import FieldworkGeometry

/// The type that a place wants of a script.
public enum ArcadeReturnType: String, Sendable, Hashable {
    /// True or false, a number, a text, a date.
    case boolean, number, string, date
}

extension ArcadeValue {
    /// The value as the type that a place wants. Numbers that can't be read are NaN, dates that can't be read null.
    public func cast(to type: ArcadeReturnType, zone: ArcadeZone = .utc) -> ArcadeValue {
        switch type {
        case .boolean:
            switch self {
            case .boolean: self
            case .number(let number): .boolean(number != 0 && !number.isNaN)
            case .text(let text): .boolean(text.lowercased() == "true")
            default: .boolean(false)
            }
        case .number:
            switch self {
            case .number: self
            case .boolean(let truth): .number(truth ? 1 : 0)
            case .null: .number(0)
            case .text(let text): .number(NumberText.number(text))
            default: .number(.nan)
            }
        case .string: .text(text)
        case .date:
            switch self {
            case .date: self
            case .number(let number): DateValue(milliseconds: number, zone: zone).map(ArcadeValue.date) ?? .null
            case .text(let text): DateText.iso(text, zone: zone).map(ArcadeValue.date) ?? .null
            default: .null
            }
        }
    }

    /// The value as a text, as `Text` gives it.
    public var text: String {
        switch self {
        case .null, .function, .featureSet: ""
        case .text(let text): text
        case .number(let number): NumberText.text(number)
        case .boolean(let truth): truth ? "true" : "false"
        case .date(let date): date.text
        case .dateOnly(let day): day.text
        case .time(let time): TimeText.text(time, alwaysMilliseconds: false)
        case .array, .dictionary, .feature, .geometry: json.text
        }
    }
}
