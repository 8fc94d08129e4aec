public import Foundation

/// Failures that are not of one subject.
public enum CommonError: ArcGISError, LocalizedError, Hashable {
    /// An argument can't be used.
    case invalidArgument(details: String)
    /// The object is not in a state for this call.
    case illegalState(details: String)
    /// What was asked for does not exist.
    case notFound(details: String)
    /// It took too long.
    case timeout(details: String)
    /// Reading or writing failed.
    case io(details: String)
    /// There is nothing where data was expected.
    case noData(details: String)
    /// A text is not the JSON that was expected.
    case invalidJSON(details: String)
    /// A layer or table is part of another map already.
    case objectAlreadyOwned(details: String)
    /// The object has no such property.
    case propertyNotSupported(details: String)
    /// Something went wrong within the SDK.
    case internalError(details: String)

    /// What happened, for a person.
    public var details: String {
        switch self {
        case .invalidArgument(let details), .illegalState(let details), .notFound(let details),
            .timeout(let details), .io(let details), .noData(let details), .invalidJSON(let details),
            .objectAlreadyOwned(let details), .propertyNotSupported(let details), .internalError(let details):
            details
        }
    }
}
