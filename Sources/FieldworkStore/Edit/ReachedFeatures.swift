import FieldworkREST
import Foundation

/// The features of a layer that edits through a view reach: those that the view shows, and those that the same edits have added or
/// changed. A photo belongs to a feature that an edit has just moved out of the view.
final class ReachedFeatures {
    private let condition: SQLExpression
    private let layer: StoredLayer
    private let connection: StoreConnection
    private var known: Set<Int64> = []

    init(_ condition: SQLExpression, in layer: StoredLayer, on connection: StoreConnection) {
        self.condition = condition
        self.layer = layer
        self.connection = connection
    }

    func include(_ objectID: Int64) { known.insert(objectID) }

    func contains(_ objectID: Int64) throws -> Bool {
        if known.contains(objectID) { return true }
        let query = FeatureQuery(condition: condition, objectIDs: [objectID])
        let plan = try QueryCompiler(layer: layer, connection: connection, now: Date.now.milliseconds)
            .identifiers(query)
        let statement = try plan.statement(on: connection)
        defer { statement.finish() }
        guard try statement.step() else { return false }
        known.insert(objectID)
        return true
    }
}

extension LayerWriter {
    /// Whether the batch would reach a deleted feature if it were there as it was last: what was attached to one that a view did not
    /// show does not come back through that view.
    func reachesDeleted(_ globalID: UUID?) throws -> Bool {
        guard reach != nil else { return true }
        guard let globalID else { return false }
        try connection.run("SAVEPOINT fieldwork_reach")
        try restore(globalID)
        let isReached = try find(.globalID(globalID)) != nil
        try connection.run("ROLLBACK TO fieldwork_reach")
        try connection.run("RELEASE fieldwork_reach")
        return isReached
    }
}
