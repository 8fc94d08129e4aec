import FieldworkREST
package import Foundation
import GRDBSQLite

/// What a GeoPackage holds, told without changing it.
package struct FileSummary: Sendable {
    /// The names of its layers and tables.
    package var layers: [String] = []
    /// Whether Fieldwork has been at it: it has ids, change log and history.
    package var isPrepared = false
    /// What was kept in the file under the name that was asked for; nil for nothing.
    package var note: String?

    /// `GPKG`, and what GeoPackages before version 1.2 have in its place (OGC 12-128r18, requirement 2).
    private static let marks: Set<Int64> = [0x4750_4B47, 0x4750_3130, 0x4750_3131]

    /// Looks at a file; of what is no GeoPackage nothing but its head. Throws `StoreError.serviceNotFound` where there is no
    /// such file, `StoreError.notAGeoPackage`, `StoreError.busy` while another program keeps it to itself.
    package static func read(_ url: URL, note: String) async throws -> FileSummary {
        try await OneTimeWorker().run { try look(url, note: note) }
    }

    private static func look(_ url: URL, note: String) throws -> FileSummary {
        let foreign = StoreError(.notAGeoPackage, "\(url.lastPathComponent) is no GeoPackage.")
        // A pipe would be waited for.
        guard (try? FileManager.default.attributesOfItem(atPath: url.path)[.type]) as? FileAttributeType == .typeRegular
        else { throw StoreError(.serviceNotFound, "There is no file \(url.lastPathComponent).") }
        guard let mark = try mark(url), marks.contains(mark) else { throw foreign }
        let connection = try StoreConnection(path: url.path, mode: .readOnly)
        sqlite3_busy_timeout(connection.pointer, Limits.summaryBusyMilliseconds)
        // A view of this name could be anything, and take for ever.
        guard try connection.hasTable("gpkg_contents") else { throw foreign }
        var summary = FileSummary()
        if try ServiceCatalogue.exists(on: connection) {
            summary.isPrepared = true
            summary.layers = try ServiceCatalogue.read(from: connection).definition.layers.map(\.name)
            summary.note = try FileNotes(connection: connection).value(note)
        } else {
            try connection.run(
                """
                SELECT table_name FROM gpkg_contents WHERE data_type IN ('features', 'attributes', 'aspatial') \
                ORDER BY data_type = 'features' DESC, rowid LIMIT ?
                """,
                bind: { try $0.bind(Int64(Limits.summaryLayers), at: 1) },
                row: { summary.layers.append($0.text(0)) })
        }
        return summary
    }

    /// The number by which a SQLite file says what it is; nil for other files. It is SQLite that reads it: a file of this
    /// process that is open already loses its locks when somebody else opens and closes it.
    private static func mark(_ url: URL) throws -> Int64? {
        var opened: OpaquePointer?
        defer { sqlite3_close_v2(opened) }
        var statement: OpaquePointer?
        defer { sqlite3_finalize(statement) }
        guard sqlite3_open_v2(url.path, &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nil) == SQLITE_OK else {
            return nil
        }
        sqlite3_busy_timeout(opened, Limits.summaryBusyMilliseconds)
        guard sqlite3_prepare_v2(opened, "PRAGMA application_id", -1, &statement, nil) == SQLITE_OK else { return nil }
        switch sqlite3_step(statement) {
        case SQLITE_ROW: return sqlite3_column_int64(statement, 0)
        case SQLITE_BUSY: throw StoreError(.busy, "Another program keeps \(url.lastPathComponent) to itself.")
        default: return nil
        }
    }
}
