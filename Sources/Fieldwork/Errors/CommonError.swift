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
    /// The SDK does not do this.
    case notImplemented(details: String)
    /// A number lies outside of what is allowed.
    case outOfRange(details: String)
    /// The object may not be used in this way.
    case invalidAccess(details: String)
    /// There is one already.
    case exists(details: String)
    /// The user may not do this.
    case noPermission(details: String)
    /// A file can't be used.
    case file(details: String)
    /// There is no such file.
    case fileNotFound(details: String)
    /// The call comes at the wrong time.
    case invalidCall(details: String)
    /// A value can't be made one of another type.
    case conversionFailed(details: String)
    /// What was valid once is no more.
    case expired(details: String)
    /// Something that must be there is not.
    case nullabilityViolation(details: String)
    /// A property has a value that can't be used.
    case invalidProperty(details: String)

    /// What happened, for a person.
    public var details: String {
        switch self {
        case .invalidArgument(let details), .illegalState(let details), .notFound(let details),
            .timeout(let details), .io(let details), .noData(let details), .invalidJSON(let details),
            .objectAlreadyOwned(let details), .propertyNotSupported(let details), .internalError(let details),
            .notImplemented(let details), .outOfRange(let details), .invalidAccess(let details),
            .exists(let details), .noPermission(let details), .file(let details), .fileNotFound(let details),
            .invalidCall(let details), .conversionFailed(let details), .expired(let details),
            .nullabilityViolation(let details), .invalidProperty(let details):
            details
        }
    }
}
