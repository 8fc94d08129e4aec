package import FieldworkGeometry
package import Foundation

/// What an expression is evaluated with.
package struct ExpressionContext: Sendable {
    /// The place in an app at which expressions stand. It decides which globals there are.
    package enum Profile: Sendable {
        /// In a pop-up.
        case popup
        /// A condition of a form: visible, editable, required.
        case formConstraint
        /// A value that a form calculates.
        case formCalculation
        /// What a label says.
        case labeling
    }

    /// Where the expression stands.
    package var profile: Profile
    /// `$feature`: attributes and geometry as they are now, saved or not.
    package var feature: any GeoElement
    /// `$originalFeature`: attributes when the form was opened; nil outside of forms.
    package var originalAttributes: [String: any Sendable]?
    /// Whether the feature is a new one; nil outside of forms.
    package var isNew: Bool?
    /// The zone in which dates are read and written.
    package var timeZone: TimeZone
}

/// What an expression gives.
package enum ExpressionValue: Sendable, Hashable {
    case null
    case boolean(Bool)
    case number(Double)
    case text(String)
    case date(Date)
    /// A dictionary, as JSON: an element of a pop-up.
    case dictionary(JSONValue)

    /// The value as clients see it.
    package var clientValue: (any Sendable)? {
        switch self {
        case .null: nil
        case .boolean(let value): value
        case .number(let value): value
        case .text(let value): value
        case .date(let value): value
        case .dictionary(let value): value.text
        }
    }
}

/// Evaluates the expressions of pop-ups and forms. The SDK asks through this protocol and nowhere else.
package protocol ExpressionEvaluator: Sendable {
    /// The value of an expression. Throws `ExpressionError`.
    func value(of expression: String, in context: ExpressionContext) async throws -> ExpressionValue
}

/// Why an expression has no value.
public enum ExpressionError: ArcGISError, Hashable {
    /// There is nothing that could evaluate it.
    case notSupported(details: String)
    /// It is wrong, or failed with this feature.
    case evaluationFailed(details: String)
    /// It reads a layer or records that can't be had now: without a network, say. It may have a value another time.
    case dataUnavailable(details: String)

    /// What happened, for a person.
    public var details: String {
        switch self {
        case .notSupported(let details), .evaluationFailed(let details), .dataUnavailable(let details): details
        }
    }
}

/// Stands in while there is no interpreter: it knows the constants `true`, `false` and `null`, and says of everything
/// else that it can't be evaluated. It never guesses.
struct ConstantEvaluator: ExpressionEvaluator {
    func value(of expression: String, in context: ExpressionContext) async throws -> ExpressionValue {
        switch expression.trimmingCharacters(in: .whitespacesAndNewlines).lowercased() {
        case "true", "return true;", "return true": .boolean(true)
        case "false", "return false;", "return false": .boolean(false)
        case "null", "return null;", "return null": .null
        default: throw ExpressionError.notSupported(details: "This device can't evaluate expressions yet.")
        }
    }
}
