public import Foundation

/// Why a value of a form can't be saved. The cases carry a text that an app can show beside the value.
public enum FeatureFormError: ArcGISError, LocalizedError, Hashable {
    /// There is no value and one is needed.
    case fieldIsRequired(details: String)
    /// There is no value and the field can't be without.
    case nullNotAllowed(details: String)
    /// The value is not among those that are offered.
    case notInCodedValueDomain(details: String)
    /// The value is not of the field's type.
    case incorrectValueType(details: String)
    /// The text is too short.
    case lessThanMinimumLength(details: String)
    /// The text is too long.
    case exceedsMaximumLength(details: String)
    /// The number is too small.
    case lessThanNumericMinimum(details: String)
    /// The number is too large.
    case exceedsNumericMaximum(details: String)
    /// The moment is too early.
    case lessThanMinimumDateTime(details: String)
    /// The moment is too late.
    case exceedsMaximumDateTime(details: String)

    /// What is wrong, for a person.
    public var details: String {
        switch self {
        case .fieldIsRequired(let details), .nullNotAllowed(let details), .notInCodedValueDomain(let details),
            .incorrectValueType(let details), .lessThanMinimumLength(let details),
            .exceedsMaximumLength(let details), .lessThanNumericMinimum(let details),
            .exceedsNumericMaximum(let details), .lessThanMinimumDateTime(let details),
            .exceedsMaximumDateTime(let details):
            details
        }
    }
}
