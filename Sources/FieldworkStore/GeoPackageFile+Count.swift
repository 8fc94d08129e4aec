import FieldworkREST
import Foundation

extension GeoPackageFile {
    /// How many features a layer has, without suspending: for properties that answer at once. Edits of an open transaction
    /// count. It reads one kept number, whatever the size of the layer. Throws `StoreError`.
    package func countNow(in layerID: Int) throws -> Int {
        let id = Int64(try layer(layerID).definition.id)
        if isInTransaction { return try writer.countNow(in: id) }
        return try Self.count(id, on: SQLiteConnection(path: url.path, mode: .readOnly))
    }

    fileprivate static func count(_ layerID: Int64, on connection: SQLiteConnection) throws -> Int {
        let count = try connection.integer("SELECT row_count FROM fieldwork_counts WHERE layer_id = ?") {
            try $0.bind(layerID, at: 1)
        }
        return Int(count ?? 0)
    }
}

extension Writer {
    /// The count as the open transaction sees it.
    nonisolated fileprivate func countNow(in layerID: Int64) throws -> Int {
        try executor.sync {
            try assumeIsolated { writer in try GeoPackageFile.count(layerID, on: writer.opened()) }
        }
    }
}
