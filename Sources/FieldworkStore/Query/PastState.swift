import FieldworkREST
import Foundation

/// The features of a layer as they were after a generation, as rows that a query reads like those of the table: the ones
/// that nobody has touched since, and of each other one the first version that was superseded since.
struct PastState: Sendable {
    let generation: Int64

    /// nil when nothing has happened since a moment: the table is the state. Throws `StoreError.invalidQuery` for a moment
    /// before the first that the log reaches.
    init?(at moment: Int64?, of layer: StoredLayer, on connection: StoreConnection) throws {
        guard let moment else { return nil }
        let last = try connection.integer(
            "SELECT generation FROM fieldwork_generations WHERE moment <= ? ORDER BY generation DESC LIMIT 1"
        ) { try $0.bind(DateText.text(milliseconds: moment), at: 1) }
        let floor = try LogCompaction.floor(of: layer.definition.id, on: connection)
        generation = last ?? 0
        guard generation >= floor else {
            throw StoreError(
                .invalidQuery, "'historicMoment': the history of \(layer.definition.name) begins later.")
        }
        if generation >= (try ChangeLog.generation(on: connection)) { return nil }
    }

    /// The rows as a subquery, without a name, and what its question marks stand for. Every condition is answered for one
    /// row by an index: nothing is collected.
    func source(_ layer: StoredLayer) -> (sql: String, arguments: [QueryPlan.Argument]) {
        let key = quoted(layer.objectIDColumn)
        let stored = layer.columnsBesideKey.map { quoted($0.name) }
        let columns = stored + (layer.geometryColumn.map { [quoted($0)] } ?? [])
        func list(_ alias: String) -> String { columns.map { ", \(alias).\($0) AS \($0)" }.joined() }
        let sql = """
            (SELECT c.\(key) AS \(key)\(list("c")) FROM \(quoted(layer.tableName)) AS c \
            WHERE NOT EXISTS (SELECT 1 FROM fieldwork_changes AS l \
            WHERE l.layer_id = ? AND l.object_id = c.\(key) AND l.generation > ?) \
            UNION ALL \
            SELECT h.fieldwork_object_id AS \(key)\(list("h")) FROM \(quoted(layer.historyTable)) AS h \
            WHERE h.fieldwork_generation > ? \
            AND NOT EXISTS (SELECT 1 FROM \(quoted(layer.historyTable)) AS e \
            WHERE e.fieldwork_object_id = h.fieldwork_object_id AND e.fieldwork_generation > ? \
            AND e.fieldwork_version < h.fieldwork_version) \
            AND NOT EXISTS (SELECT 1 FROM fieldwork_changes AS a \
            WHERE a.layer_id = ? AND a.object_id = h.fieldwork_object_id AND a.generation > ? \
            AND a.generation <= h.fieldwork_generation AND a.operation = 0))
            """
        let id = Int64(layer.definition.id)
        return (sql, [id, generation, generation, generation, id, generation].map { .value(.integer($0)) })
    }
}
