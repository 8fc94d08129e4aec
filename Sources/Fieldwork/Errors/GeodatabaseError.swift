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
    /// A transaction is open already.
    case transactionStarted(details: String)
    /// No transaction is open.
    case transactionNotStarted(details: String)
    /// There is no such geodatabase.
    case databaseDoesNotExist(details: String)
    /// There is a geodatabase already.
    case databaseAlreadyExists(details: String)
    /// The table has a field of this name.
    case fieldExists(details: String)
    /// A moment can't be kept.
    case invalidDate(details: String)
    /// A geometry has no heights where the table needs them.
    case shapeRequiresZ(details: String)
    /// A geometry has no measures where the table needs them.
    case shapeRequiresM(details: String)
    /// A geometry has heights that the table does not keep.
    case shapeNoZ(details: String)
    /// A geometry has measures that the table does not keep.
    case shapeNoM(details: String)
    /// The table has no such subtype.
    case subtypeInvalid(details: String)
    /// The table has no subtypes.
    case subtypesNotEnabled(details: String)
    /// A domain has a code twice.
    case duplicateCode(details: String)
    /// A domain does not have this code.
    case missingCode(details: String)
    /// The least value of a domain is above the greatest.
    case minMaxReversed(details: String)
    /// There is a domain of this name.
    case domainExists(details: String)
    /// A copy of a replica can't be synced: its original may be.
    case cannotSyncCopy(details: String)
    /// Edits are being sent already.
    case uploadAlreadyInProgress(details: String)
    /// The service does not know the replica any more.
    case replicaDoesNotExist(details: String)
    /// The table does not record its changes.
    case changeTrackingNotEnabled(details: String)
    /// There is nothing to send.
    case databaseDoesNotHaveChanges(details: String)
    /// The feature belongs to somebody else.
    case accessControlDenied(details: String)
    /// A field is filled by the geodatabase itself.
    case cannotWriteGeodatabaseManagedFields(details: String)
    /// A condition is more than one.
    case multipleSQLStatements(details: String)

    /// What happened, for a person.
    public var details: String {
        switch self {
        case .geometryOutsideReplicaExtent(let details), .databaseClosed(let details),
            .tableNotEditable(let details), .fieldNotFound(let details), .itemNotFound(let details),
            .itemAlreadyExists(let details), .valueOutOfRange(let details), .dataTypeMismatch(let details),
            .valueIsNull(let details), .shapeWrongType(let details), .geometryFieldMissing(let details),
            .featureHasPendingEdits(let details), .cannotUpdateSchemaIfChangeTracking(let details),
            .invalidArgument(let details), .internalError(let details), .transactionStarted(let details),
            .transactionNotStarted(let details), .databaseDoesNotExist(let details),
            .databaseAlreadyExists(let details), .fieldExists(let details), .invalidDate(let details),
            .shapeRequiresZ(let details), .shapeRequiresM(let details), .shapeNoZ(let details),
            .shapeNoM(let details), .subtypeInvalid(let details), .subtypesNotEnabled(let details),
            .duplicateCode(let details), .missingCode(let details), .minMaxReversed(let details),
            .domainExists(let details), .cannotSyncCopy(let details), .uploadAlreadyInProgress(let details),
            .replicaDoesNotExist(let details), .changeTrackingNotEnabled(let details),
            .databaseDoesNotHaveChanges(let details), .accessControlDenied(let details),
            .cannotWriteGeodatabaseManagedFields(let details), .multipleSQLStatements(let details):
            details
        }
    }
}
