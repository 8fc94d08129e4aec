import FieldworkREST
import Foundation

/// Who made a generation, when, and from which replica.
struct AuthorReader {
    let connection: StoreConnection

    struct Author {
        var editor: String?
        var moment: Date
        var replicaID: UUID?

        func side(attributes: [String: AttributeValue]?) -> MergeConflict.Side {
            MergeConflict.Side(attributes: attributes, editor: editor, moment: moment, replicaID: replicaID)
        }
    }

    /// - Parameter generation: nil for the last one in which the feature was changed.
    func author(of generation: Int64?, in layer: StoredLayer, _ objectID: Int64) throws -> Author {
        var author = Author(editor: nil, moment: Date(timeIntervalSince1970: 0), replicaID: nil)
        try connection.run(
            """
            SELECT g.editor, g.moment, o.replica_id FROM fieldwork_generations AS g
            LEFT JOIN fieldwork_generation_origins AS o ON o.generation = g.generation
            WHERE g.generation = coalesce(?, (
                SELECT max(generation) FROM fieldwork_changes WHERE layer_id = ? AND object_id = ?))
            """,
            bind: {
                if let generation { try $0.bind(generation, at: 1) }
                try $0.bind(Int64(layer.definition.id), at: 2)
                try $0.bind(objectID, at: 3)
            },
            row: { row in
                author = Author(
                    editor: row.optionalText(0),
                    moment: Date(
                        timeIntervalSince1970: Double(
                            row.optionalText(1).flatMap(DateText.milliseconds) ?? 0) / 1_000),
                    replicaID: row.optionalText(2).flatMap(UUID.init(uuidString:)))
            })
        return author
    }
}
