import FieldworkGeometry
import Foundation
import Synchronization

/// How a pop-up shows and edits one field, expression or related field. Members of its JSON that the SDK does not know
/// are kept.
public final class PopupField: Sendable {
    /// How a text is edited.
    public enum StringFieldOption: String, Sendable {
        /// One line.
        case singleLine = "textbox"
        /// Several lines.
        case multiLine = "textarea"
        /// Formatted text.
        case richText = "richtext"
        /// Not said.
        case unknown = ""
    }

    private let content: Mutex<JSONObject>

    /// A field without a name: set one before it is used.
    public convenience init() { self.init(JSONObject()) }

    init(_ json: JSONObject) { content = Mutex(json) }

    /// The member as web maps write it.
    var json: JSONValue { .object(content.withLock { $0 }) }

    private func text(_ key: String) -> String { content.withLock { $0[key]?.stringValue ?? "" } }

    private func set(_ key: String, _ value: JSONValue?) { content.withLock { $0[key] = value } }

    /// The name of a field, `expression/NAME`, or `relationships/ID/FIELD` with the id of a relationship.
    public var fieldName: String {
        get { text("fieldName") }
        set { set("fieldName", .string(newValue)) }
    }

    /// What people see before the value; empty for the field's alias.
    public var label: String {
        get { text("label") }
        set { set("label", .string(newValue)) }
    }

    /// Whether the field is shown.
    public var isVisible: Bool {
        get { content.withLock { $0["visible"]?.boolValue ?? true } }
        set { set("visible", .bool(newValue)) }
    }

    /// Whether the author wants the field to be edited. The service must allow it as well.
    public var isEditable: Bool {
        get { content.withLock { $0["isEditable"]?.boolValue ?? true } }
        set { set("isEditable", .bool(newValue)) }
    }

    /// A hint for who edits the field.
    public var tooltip: String {
        get { text("tooltip") }
        set { set("tooltip", .string(newValue)) }
    }

    /// How numbers and moments are shown; nil for the usual way.
    public var format: PopupFieldFormat? {
        get { content.withLock { $0["format"]?.objectValue.map(PopupFieldFormat.init) } }
        set { set("format", newValue?.json) }
    }

    /// How a text is edited.
    public var stringFieldOption: StringFieldOption {
        get { StringFieldOption(rawValue: text("stringFieldOption")) ?? .unknown }
        set { set("stringFieldOption", newValue == .unknown ? nil : .string(newValue.rawValue)) }
    }

    /// What the values of several related records are put together by (`count`, `sum`, …); empty for nothing.
    var statisticType: String { text("statisticType") }

    /// What the name stands for; nil for no name.
    var name: TextTemplate.Name? { TextTemplate.Name(fieldName) }

    var valueFormat: ValueFormatter.Format {
        content.withLock { .init(format: $0["format"], fieldFormat: $0["fieldFormat"]) }
    }
}

/// How a pop-up shows numbers and moments.
public final class PopupFieldFormat: Sendable {
    /// The forms of moments. Times of day are of twelve hours, those whose name ends in 24 of twenty-four; long ones have
    /// seconds.
    public enum DateFormat: String, Sendable {
        /// 12/21/1997
        case shortDate, shortDateLongTime, shortDateLongTime24, shortDateShortTime, shortDateShortTime24
        /// 21/12/1997
        case shortDateLE, shortDateLELongTime, shortDateLELongTime24, shortDateLEShortTime, shortDateLEShortTime24
        /// December 21, 1997
        case longMonthDayYear, longMonthDayYearLongTime, longMonthDayYearLongTime24, longMonthDayYearShortTime
        /// December 21, 1997, 18:00
        case longMonthDayYearShortTime24
        /// 21 Dec 1997
        case dayShortMonthYear, dayShortMonthYearLongTime, dayShortMonthYearLongTime24, dayShortMonthYearShortTime
        /// 21 Dec 1997, 18:00
        case dayShortMonthYearShortTime24
        /// Sunday, December 21, 1997
        case longDate, longDateLongTime, longDateLongTime24, longDateShortTime, longDateShortTime24
        /// December 1997, Dec 1997, 1997
        case longMonthYear, shortMonthYear, year
        /// Not said.
        case unknown
    }

    private let content: Mutex<JSONObject>

    /// A format that changes nothing.
    public convenience init() { self.init(JSONObject()) }

    init(_ json: JSONObject) { content = Mutex(json) }

    var json: JSONValue { .object(content.withLock { $0 }) }

    /// How a moment is shown.
    public var dateFormat: DateFormat {
        get {
            let name = content.withLock { $0["dateFormat"]?.stringValue }
            return name.flatMap(PopupDateFormat.init(name:)).flatMap { DateFormat(rawValue: $0.name) } ?? .unknown
        }
        set { content.withLock { $0["dateFormat"] = newValue == .unknown ? nil : .string(newValue.rawValue) } }
    }

    /// The decimals of a number; -1 for those that it has.
    public var decimalPlaces: Int {
        get { content.withLock { $0["places"]?.integerValue.map(Int.init(clamping:)) ?? -1 } }
        set { content.withLock { $0["places"] = newValue < 0 ? nil : .integer(Int64(newValue)) } }
    }

    /// Whether thousands are set apart.
    public var usesThousandsSeparator: Bool {
        get { content.withLock { $0["digitSeparator"]?.boolValue ?? false } }
        set { content.withLock { $0["digitSeparator"] = .bool(newValue) } }
    }
}
