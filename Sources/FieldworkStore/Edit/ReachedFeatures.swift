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
