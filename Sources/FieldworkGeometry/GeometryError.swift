/// Why a geometry could not be read or an operation on geometries not be done.
public enum GeometryError: Error, Sendable, Hashable {
    /// The operation needs at least one vertex.
    case emptyGeometry(details: String)
    /// The operation needs a geometry that does not cross itself.
    case nonSimpleGeometry(details: String)
    /// The operation is not defined for this kind of geometry.
    case invalidShapeType(details: String)
    /// A coordinate lies where the projection is not defined.
    case projectionOutOfSupportedRange(details: String)
    /// A spatial reference is unknown, or there is no way from one to the other.
    case unknownSpatialReference(details: String)
    /// Text or bytes are not a geometry.
    case corruptedGeometry(details: String)
    /// A transformation needs a grid file that is not installed.
    case missingGridFile(details: String)

    /// What happened, for a person.
    public var details: String {
        switch self {
        case .emptyGeometry(let details), .nonSimpleGeometry(let details), .invalidShapeType(let details),
            .projectionOutOfSupportedRange(let details), .unknownSpatialReference(let details),
            .corruptedGeometry(let details), .missingGridFile(let details):
            details
        }
    }
}
