import FieldworkREST
import Foundation

extension LayerWriter {
    /// The object id under which a feature was before it was deleted, when a client adds it again under its global id: an
    /// undo, for one. It is the same feature, with its history and for all who know it.
    ///
    /// One look into an index of deletes for each add that names its id; others cost nothing.
    func formerObjectID(_ edit: FeatureEdit, _ globalID: UUID?) throws -> Int64? {
        guard let globalID, globalID == givenGlobalID(edit), let column = layer.globalIDColumn.map(quoted) else {
            return nil
        }
        // Another program may have given the object id to another feature since.
        let statement = try connection.cached(
            """
            SELECT fieldwork_object_id FROM \(quoted(layer.historyTable))
            WHERE \(column) = ?1 AND fieldwork_operation = 2
                AND NOT EXISTS (SELECT 1 FROM \(table) WHERE \(key) = fieldwork_object_id)
            ORDER BY fieldwork_version DESC LIMIT 1
            """)
        defer { statement.finish() }
        try statement.bind(GUID.normalForm(globalID), at: 1)
        return try statement.step() ? statement.integer(0) : nil
    }
}
