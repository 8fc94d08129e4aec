import FieldworkGeometry
public import Foundation
import Synchronization

/// What a form is made of: elements, and the expressions that they refer to by name. Members of its JSON that the SDK
/// does not know are kept.
public final class FeatureFormDefinition: Sendable {
    private let content: Mutex<JSONObject>

    /// A form without anything.
    public convenience init() { self.init(JSONObject()) }

    /// The form that a table's features have when nobody has made one: the fields that may be edited.
    public convenience init(featureTable: FeatureTable) {
        self.init(featureTable.definition.map { DefaultForm.json(of: $0) } ?? JSONObject())
    }

    init(_ json: JSONObject) { content = Mutex(json) }

    // MARK: JSON

    /// Reads a web map's `formInfo`. Throws `CommonError.invalidJSON`.
    public static func fromJSON(_ json: Data) throws -> FeatureFormDefinition {
        guard let object = try? JSONParser.parse(json).objectValue else {
            throw CommonError.invalidJSON(details: "The text is not the definition of a form.")
        }
        return FeatureFormDefinition(object)
    }

    /// The definition as web maps write it: as it was read, with what was changed since.
    public func toJSON() -> Data { Data(json.text.utf8) }

    var json: JSONValue { .object(content.withLock { $0 }) }

    // MARK: Content

    private subscript(key: String) -> JSONValue? { content.withLock { $0[key] } }

    /// The title, with `{FIELD}` where values go.
    public var title: String {
        get { self["title"]?.stringValue ?? "" }
        set { content.withLock { $0["title"] = .string(newValue) } }
    }

    /// What the form is for.
    public var description: String {
        get { self["description"]?.stringValue ?? "" }
        set { content.withLock { $0["description"] = .string(newValue) } }
    }

    /// Whether the value of a field stays when its element is hidden; else it is cleared.
    public var preservesFieldValuesWhenHidden: Bool {
        get { self["preserveFieldValuesWhenHidden"]?.boolValue ?? false }
        set { content.withLock { $0["preserveFieldValuesWhenHidden"] = .bool(newValue) } }
    }

    /// The elements as they were authored, without values. The elements of a form are others.
    public var elements: [FormElement] { elementsJSON.compactMap { FormElement.make($0, nil) } }

    var elementsJSON: [JSONValue] { self["formElements"]?.arrayValue ?? [] }

    /// The expressions that are referred to by name.
    public var expressions: [FormExpression] {
        (self["expressionInfos"]?.arrayValue ?? []).compactMap(\.objectValue).map(FormExpression.init)
    }

    /// Whether attachments have elements of their own; else the default element shows all.
    var supportsAttachmentElements: Bool { self["supportsAttachmentElements"]?.boolValue ?? false }

    /// Whether some element says when it is editable. Elements of such a form that say nothing are not.
    var usesEditableExpressions: Bool {
        func uses(_ elements: [JSONValue]) -> Bool {
            elements.contains { element in
                element["editableExpression"]?.stringValue != nil || uses(element["formElements"]?.arrayValue ?? [])
            }
        }
        return uses(elementsJSON)
    }
}

/// An expression that a form refers to by name.
public final class FormExpression: Sendable {
    private let json: JSONObject

    init(_ json: JSONObject) { self.json = json }

    /// The name.
    public var name: String { json["name"]?.stringValue ?? "" }
    /// What people call it.
    public var title: String { json["title"]?.stringValue ?? "" }
    /// The expression itself.
    public var expression: String { json["expression"]?.stringValue ?? "" }
    /// What it gives: `boolean`, `date`, `number`, `string`, …
    public var returnType: String { json["returnType"]?.stringValue ?? "" }
}

/// An expression of a form that has no value.
public struct FormExpressionEvaluationError: Error, Sendable {
    /// The expression's name.
    public let expressionName: String
    /// The label of the element that asked for it.
    public let elementLabel: String
    /// Why there is none. `ExpressionError.notSupported` when nothing could evaluate it.
    public let error: any Error
}
