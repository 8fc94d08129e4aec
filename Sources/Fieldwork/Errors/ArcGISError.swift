public import FieldworkGeometry
public import Foundation

/// An error of the SDK: an enumeration whose cases carry what happened, for a person. Cancellation is Swift's own
/// `CancellationError`.
public protocol ArcGISError: Error, Sendable {
    /// What happened, for a person.
    var details: String { get }
    /// What caused it, when that is known.
    var underlyingError: (any Error)? { get }
}

extension ArcGISError {
    /// What caused it: nothing else is known.
    public var underlyingError: (any Error)? { nil }
}

extension ArcGISError where Self: LocalizedError {
    /// The text that `localizedDescription` shows.
    public var errorDescription: String? { details }
}

extension GeometryError: ArcGISError {}
