public import Foundation

/// What a geodatabase or a table refuses.
public enum GeodatabaseError: ArcGISError, LocalizedError, Hashable {
    /// A geometry lies outside the area that the replica was made for.
    case geometryOutsideReplicaExtent(details: String)
    /// The geodatabase is closed.
    case databaseClosed(details: String)
    /// The table or the service does not allow this edit.
    case tableNotEditable(details: String)
    /// The table has no field of this name.
    case fieldNotFound(details: String)
    /// There is no such feature or table.
    case itemNotFound(details: String)
    /// The feature has been added already.
    case itemAlreadyExists(details: String)
    /// A value is too long or too large for its field.
    case valueOutOfRange(details: String)
    /// A value is of another type than its field.
    case dataTypeMismatch(details: String)
    /// A field that needs a value has none.
    case valueIsNull(details: String)
    /// A geometry is of another kind than the table's.
    case shapeWrongType(details: String)
    /// A geometry was given to a table without one.
    case geometryFieldMissing(details: String)
    /// There are local edits that have not been applied.
    case featureHasPendingEdits(details: String)
    /// Tables and fields of a replica are its service's to change.
    case cannotUpdateSchemaIfChangeTracking(details: String)
    /// An argument can't be used.
    case invalidArgument(details: String)
    /// Something went wrong within the SDK.
    case internalError(details: String)

    /// What happened, for a person.
    public var details: String {
        switch self {
        case .geometryOutsideReplicaExtent(let details), .databaseClosed(let details),
            .tableNotEditable(let details), .fieldNotFound(let details), .itemNotFound(let details),
            .itemAlreadyExists(let details), .valueOutOfRange(let details), .dataTypeMismatch(let details),
            .valueIsNull(let details), .shapeWrongType(let details), .geometryFieldMissing(let details),
            .featureHasPendingEdits(let details), .cannotUpdateSchemaIfChangeTracking(let details),
            .invalidArgument(let details), .internalError(let details):
            details
        }
    }
}
