import FieldworkREST
import Foundation

/// Shortens the change log. What a live replica has not got yet stays; the history of values stays altogether, since it
/// is what undoes and restores.
struct LogCompaction {
    let layer: StoredLayer
    let connection: StoreConnection

    private var layerID: Int64 { Int64(layer.definition.id) }

    /// The generation up to which the log of a layer is gone; 0 when it is whole. No delta can begin before it.
    static func floor(of layerID: Int, on connection: StoreConnection) throws -> Int64 {
        try connection.integer("SELECT generation FROM fieldwork_log_floors WHERE layer_id = ?") {
            try $0.bind(Int64(layerID), at: 1)
        } ?? 0
    }

    /// Drops the entries that are older than a moment and that every live replica has.
    /// - Returns: the number of entries dropped.
    func compact(before moment: Date) throws -> Int {
        let old =
            try connection.integer("SELECT max(generation) FROM fieldwork_generations WHERE moment < ?") {
                try $0.bind(DateText.text(milliseconds: moment.milliseconds), at: 1)
            } ?? 0
        let needed = try connection.integer(
            """
            SELECT min(l.generation) FROM fieldwork_replica_layers AS l
            JOIN fieldwork_replicas AS r ON r.replica_id = l.replica_id
            WHERE l.layer_id = ? AND r.state = 'live'
            """
        ) { try $0.bind(layerID, at: 1) }
        let floor = min(old, needed ?? .max)
        guard floor > (try Self.floor(of: layer.definition.id, on: connection)) else { return 0 }
        try connection.run("DELETE FROM fieldwork_changes WHERE layer_id = ? AND generation <= ?") {
            try $0.bind(layerID, at: 1)
            try $0.bind(floor, at: 2)
        }
        let dropped = connection.changedRows
        try AttachmentLog.compact(layerID: layer.definition.id, upTo: floor, on: connection)
        try connection.run(
            """
            INSERT INTO fieldwork_log_floors (layer_id, generation) VALUES (?, ?)
            ON CONFLICT (layer_id) DO UPDATE SET generation = excluded.generation
            """
        ) {
            try $0.bind(layerID, at: 1)
            try $0.bind(floor, at: 2)
        }
        return dropped
    }
}
