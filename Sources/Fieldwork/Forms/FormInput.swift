import FieldworkGeometry
import FieldworkREST
public import Foundation

/// How the value of a form's element is put in.
///
/// All properties are constants; only the hierarchy keeps the compiler from seeing that.
public class FormInput: @unchecked Sendable {
    let json: JSONValue

    init(_ json: JSONValue) { self.json = json }

    /// The input of an element: as it was authored, else as its field asks for.
    static func make(_ authored: JSONValue?, field: FieldDefinition?, domain: Domain?, layer: LayerDefinition?)
        -> FormInput
    {
        let json: JSONValue
        if let authored, authored["type"]?.stringValue != nil {
            json = authored
        } else if domain is CodedValueDomain {
            json = ["type": "combo-box", "showNoValueOption": .bool(field?.isNullable ?? true)]
        } else {
            json = field.map { DefaultForm.input(of: $0, in: layer) } ?? .null
        }
        switch json["type"]?.stringValue?.lowercased() {
        case "text-box": return TextBoxFormInput(json, field: field)
        case "text-area": return TextAreaFormInput(json, field: field)
        case "barcode-scanner": return BarcodeScannerFormInput(json)
        case "combo-box": return ComboBoxFormInput(json)
        case "radio-buttons": return RadioButtonsFormInput(json)
        case "switch": return SwitchFormInput(json, field: field, domain: domain)
        case "datetime-picker": return DateTimePickerFormInput(json)
        default: return UnsupportedFormInput(json)
        }
    }

    /// A length: the author's, else the field's; 0 for none.
    fileprivate static func length(_ json: JSONValue?, else other: Int) -> Int {
        json?.integerValue.map { Int(clamping: max(0, $0)) } ?? other
    }
}

/// Whether a list offers to have no value.
public enum FormInputNoValueOption: Sendable {
    /// It offers it, or does not.
    case show, hide

    fileprivate init(_ json: JSONValue) { self = json["showNoValueOption"]?.boolValue == false ? .hide : .show }
}

/// One line of text.
public final class TextBoxFormInput: FormInput, @unchecked Sendable {
    /// The fewest characters, and the most; 0 for no limit.
    public let minLength: Int, maxLength: Int

    init(_ json: JSONValue, field: FieldDefinition?) {
        minLength = Self.length(json["minLength"], else: 0)
        maxLength = Self.length(json["maxLength"], else: field?.length ?? 0)
        super.init(json)
    }
}

/// Several lines of text.
public final class TextAreaFormInput: FormInput, @unchecked Sendable {
    /// The fewest characters, and the most; 0 for no limit.
    public let minLength: Int, maxLength: Int

    init(_ json: JSONValue, field: FieldDefinition?) {
        minLength = Self.length(json["minLength"], else: 0)
        maxLength = Self.length(json["maxLength"], else: field?.length ?? 0)
        super.init(json)
    }
}

/// A text that may be read from a bar code.
public final class BarcodeScannerFormInput: FormInput, @unchecked Sendable {}

/// A list that opens.
public final class ComboBoxFormInput: FormInput, @unchecked Sendable {
    /// Whether it offers to have no value.
    public var noValueOption: FormInputNoValueOption { FormInputNoValueOption(json) }
    /// What that is called.
    public var noValueLabel: String { json["noValueOptionLabel"]?.stringValue ?? "" }
}

/// A list that is open.
public final class RadioButtonsFormInput: FormInput, @unchecked Sendable {
    /// Whether it offers to have no value.
    public var noValueOption: FormInputNoValueOption { FormInputNoValueOption(json) }
    /// What that is called.
    public var noValueLabel: String { json["noValueOptionLabel"]?.stringValue ?? "" }
}

/// One of two values.
public final class SwitchFormInput: FormInput, @unchecked Sendable {
    /// The value when it is on, and when it is off.
    public let onValue: CodedValue, offValue: CodedValue

    init(_ json: JSONValue, field: FieldDefinition?, domain: Domain?) {
        let make = { (value: JSONValue?) -> CodedValue in
            let stored = value.map(AttributeValue.init(json:)) ?? .null
            let code = field.flatMap { field in
                AttributeConversion.clientValue(
                    AttributeConversion.normalised(stored, type: field.type), type: field.type)
            }
            let named = (domain as? CodedValueDomain)?.codedValues.first { FormValues.areEqual($0.code, code) }
            return named ?? CodedValue(code: code, name: code.map { "\($0)" } ?? "")
        }
        onValue = make(json["onValue"])
        offValue = make(json["offValue"])
        super.init(json)
    }
}

/// A day, or a moment.
public final class DateTimePickerFormInput: FormInput, @unchecked Sendable {
    /// Whether the time of day is put in as well.
    public var includesTime: Bool { json["includeTime"]?.boolValue ?? false }
    /// The earliest moment; nil for none.
    public var min: Date? { Self.date(json["min"]) }
    /// The latest moment; nil for none.
    public var max: Date? { Self.date(json["max"]) }

    /// Limits are milliseconds since 1970 in UTC.
    private static func date(_ json: JSONValue?) -> Date? {
        json?.doubleValue.map { Date(timeIntervalSince1970: $0 / 1_000) }
    }
}

/// An input that the SDK does not know. The value is shown; an app can still set it by `updateValue`.
public final class UnsupportedFormInput: FormInput, @unchecked Sendable {}
