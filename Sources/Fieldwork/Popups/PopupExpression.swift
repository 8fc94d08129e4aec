import FieldworkGeometry

/// An expression that a pop-up refers to by name.
public final class PopupExpression: Sendable {
    /// What an expression gives.
    public enum ReturnType: String, Sendable {
        /// A truth value, a moment, a day, a number, a text, a time of day, a dictionary, anything.
        case boolean, date, dateOnly, number, string, time, dictionary, any
    }

    let json: JSONObject

    init(_ json: JSONObject) { self.json = json }

    /// The name, as in `{expression/name}`.
    public var name: String { json["name"]?.stringValue ?? "" }
    /// What people see before the value.
    public var title: String { json["title"]?.stringValue ?? "" }
    /// The expression itself.
    public var expression: String { json["expression"]?.stringValue ?? "" }
    /// What it gives.
    public var returnType: ReturnType { json["returnType"]?.stringValue.flatMap(ReturnType.init) ?? .string }
}

/// What became of one expression of a pop-up.
public final class PopupExpressionEvaluation: Sendable {
    /// The expression; for an element, the element's own.
    public let expression: PopupExpression
    /// The value; nil when there is none or it failed.
    public let value: (any Sendable)?
    /// Why it failed. `ExpressionError.notSupported` when nothing could evaluate it.
    public let error: (any Error)?

    init(expression: PopupExpression, value: (any Sendable)?, error: (any Error)?) {
        self.expression = expression
        self.value = value
        self.error = error
    }
}
