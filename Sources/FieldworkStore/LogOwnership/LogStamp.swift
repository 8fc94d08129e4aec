import Foundation
import GRDBSQLite

/// Ties a file to its write-ahead log: every transaction of ours leaves a new random stamp in `fieldwork_state` and the one that
/// it found, its base. The first transaction of a log has the stamp that the file itself has, or had when the log was begun.
enum LogStamp {
    static let columns = ["stamp INTEGER", "base INTEGER", "mark TEXT NOT NULL DEFAULT '\(StateRow.mark)'"]

    /// What another program writes has a stamp as well. Nothing is known of the state that it found.
    static let trigger = """
        CREATE TRIGGER IF NOT EXISTS fieldwork_stamp AFTER UPDATE OF generation ON fieldwork_state WHEN NEW.inside = 0
        BEGIN UPDATE fieldwork_state SET stamp = random(), base = NULL WHERE id = 1; END
        """

    /// Done at the beginning of each transaction of ours.
    static let renewal = "UPDATE fieldwork_state SET base = stamp, stamp = random() WHERE id = 1"

    static func exists(on connection: StoreConnection) throws -> Bool {
        try connection.integer("SELECT 1 FROM pragma_table_info('fieldwork_state') WHERE name = 'mark'") != nil
    }

    /// Adds what a file of an earlier version lacks; a file that may not be written stays as it is.
    static func prepare(on connection: StoreConnection) throws {
        guard sqlite3_db_readonly(connection.pointer, "main") == 0, try !exists(on: connection) else { return }
        try connection.transaction {
            guard try !exists(on: connection) else { return }
            for column in columns { try connection.execute("ALTER TABLE fieldwork_state ADD COLUMN \(column)") }
            try connection.execute(trigger)
            try GeoPackageSchema.listOneTable(on: connection)
            try connection.execute(
                "UPDATE gpkg_extensions SET scope = 'write-only' WHERE extension_name = 'fieldwork_store'")
            // Written once, the row has its mark on its page.
            try connection.execute(
                "UPDATE fieldwork_state SET stamp = random(), mark = '\(StateRow.mark)' WHERE id = 1")
        }
    }

    /// What the file itself says, without its log.
    enum OfFile: Sendable, Hashable {
        case stamp(Int64, generation: Int64)
        /// It is a service's file that has none: of an earlier version.
        case none
        /// It can't be read without its log: it may be in the middle of a checkpoint, or of being replaced.
        case unreadable

        var stamp: Int64? { if case .stamp(let stamp, _) = self { stamp } else { nil } }
        var generation: Int64? { if case .stamp(_, let generation) = self { generation } else { nil } }
    }

    static func read(_ path: String) -> OfFile {
        var database: OpaquePointer?
        defer { sqlite3_close_v2(database) }
        var statement: OpaquePointer?
        defer { sqlite3_finalize(statement) }
        // `immutable`: SQLite looks neither at logs nor at locks. Its own opening and closing keeps the locks that this process
        // has on the file, which a plain `close` would drop.
        guard let address = address(path),
            sqlite3_open_v2(address, &database, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, nil)
                == SQLITE_OK
        else { return .unreadable }
        let sql = """
            SELECT stamp, generation, mark FROM fieldwork_state WHERE id = 1 AND inside IN (0, 1) AND muted IN (0, 1)
            """
        let code = sqlite3_prepare_v2(database, sql, -1, &statement, nil)
        guard code == SQLITE_OK else {
            // In the midst of a checkpoint a table may not be found. One that is there without the columns is an earlier version's.
            let hasTable = sqlite3_exec(database, "SELECT generation FROM fieldwork_state", nil, nil, nil) == SQLITE_OK
            return hasTable && code & 0xFF == SQLITE_ERROR ? .none : .unreadable
        }
        // Without its log a file may be in the midst of a checkpoint, and another table's row where this one will be: it is only
        // the one that has all that it must have.
        guard sqlite3_step(statement) == SQLITE_ROW, sqlite3_column_type(statement, 0) == SQLITE_INTEGER,
            sqlite3_column_text(statement, 2).map({ String(cString: $0) }) == StateRow.mark
        else { return .unreadable }
        return .stamp(sqlite3_column_int64(statement, 0), generation: sqlite3_column_int64(statement, 1))
    }

    private static func address(_ path: String) -> String? {
        path.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed).map { "file:\($0)?immutable=1" }
    }
}
