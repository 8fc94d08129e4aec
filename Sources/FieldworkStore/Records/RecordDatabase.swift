package import FieldworkREST
package import Foundation

/// Tables beside those of the services, such as people and what they may do: in a SQLite file of their own, or in the schema
/// `fieldwork` of the database of the services. Every change is a transaction that is durable when it returns.
///
/// SQL for both is written once: names of tables stand in braces (`{people}`), arguments are `?`.
package final class RecordDatabase: Sendable {
    private let readers: ReaderPool
    private let writers: ReaderPool
    private let words: Words
    /// Whether other processes use the same tables, on other machines too.
    package let isShared: Bool

    /// What is spelt differently in the two databases.
    package struct Words: Sendable {
        /// Stands before the name of a table.
        var prefix: String
        /// The type of a key that the database counts.
        package var countedKey: String
        package var bytes: String
        /// Compares text by its bytes: keys are found and sorted alike in both databases.
        package var text: String
    }

    /// Opens a file, which is made readable by its owner alone where there is none.
    package init(file: URL) throws {
        let descriptor = open(file.path, O_RDWR | O_CREAT, 0o600)
        guard descriptor >= 0 else {
            throw StoreError(.failure, "\(file.path) can't be opened: \(String(cString: strerror(errno))).")
        }
        _ = Foundation.close(descriptor)
        let source = ConnectionSource { mode in
            let connection = try StoreConnection(path: file.path, mode: mode)
            if mode == .readWrite { try connection.prepareToWrite() }
            return connection
        }
        readers = ReaderPool(source: source, readers: Limits.recordReaders, streams: 1, isLimited: false)
        let writing = ConnectionSource { _ in try source.open(.readWrite) }
        writers = ReaderPool(source: writing, readers: 1, streams: 1, isLimited: false)
        words = Self.fileWords
        isShared = false
    }

    /// Looks into a file that is there, without writing anything to it or beside it.
    package init(lookingInto file: URL) {
        let source = ConnectionSource { _ in
            let isAlone = !FileManager.default.fileExists(atPath: file.path + "-wal")
            return try StoreConnection(path: file.path, mode: .look(isAlone: isAlone))
        }
        readers = ReaderPool(source: source, readers: 1, streams: 1, isLimited: false)
        writers = ReaderPool(source: source, readers: 1, streams: 1, isLimited: false)
        words = Self.fileWords
        isShared = false
    }

    private static let fileWords = Words(
        prefix: "portal_", countedKey: "INTEGER PRIMARY KEY AUTOINCREMENT", bytes: "BLOB", text: "TEXT")

    /// Uses the database of the services.
    package init(connect: @escaping PostgresStore.Connect) {
        let source = ConnectionSource { _ in
            StoreConnection(session: try connect(PostgresFunctions.schema, true))
        }
        readers = ReaderPool(source: source, readers: Limits.recordReaders, streams: 1, isLimited: false)
        writers = ReaderPool(source: source, readers: 1, streams: 1, isLimited: false)
        words = Words(
            prefix: "fieldwork.portal_", countedKey: "bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
            bytes: "bytea", text: "text COLLATE \"C\"")
        isShared = true
    }

    /// Makes what is missing. Several processes may do so at a time.
    /// - Parameter statements: each does nothing where its table or index is there already.
    package func prepare(_ statements: @Sendable (Words) -> [String]) async throws {
        let list = statements(words)
        try await write { records in
            if !records.connection.dialect.isSQLite {
                try records.connection.run(
                    "SELECT 1::bigint FROM (SELECT pg_advisory_xact_lock(4640537203540230251)) AS l")
            }
            for statement in list { try records.connection.execute(records.spelt(statement)) }
        }
    }

    package func read<Result: Sendable>(_ body: @Sendable (Records) throws -> Result) async throws -> Result {
        try await readers.read { try body(Records(connection: $0, prefix: self.words.prefix)) }
    }

    /// Everything that the body does, or nothing.
    @discardableResult
    package func write<Result: Sendable>(_ body: @Sendable (Records) throws -> Result) async throws -> Result {
        try await writers.read { connection in
            let opening = connection.dialect.isSQLite ? nil : SQLDialect.beginPlainly
            return try connection.transaction(opening) {
                // One at a time, as in SQLite: what a change has looked at is still so when it writes.
                if !connection.dialect.isSQLite {
                    try connection.run("SELECT 1::bigint FROM (SELECT pg_advisory_xact_lock(4640537203540230252)) AS l")
                }
                return try body(Records(connection: connection, prefix: self.words.prefix))
            }
        }
    }

    package func close() async {
        await readers.close()
        await writers.close()
    }
}

/// The statements of one read or change. It must not outlive it.
package struct Records {
    let connection: StoreConnection
    private let prefix: String

    init(connection: StoreConnection, prefix: String) {
        self.connection = connection
        self.prefix = prefix
    }

    func spelt(_ sql: String) -> String { sql.replacing("{", with: prefix).replacing("}", with: "") }

    /// The rows that a statement gives.
    package func rows(_ sql: String, _ arguments: [AttributeValue] = []) throws -> [Record] {
        let statement = try connection.cached(spelt(sql))
        defer { statement.finish() }
        for (index, value) in arguments.enumerated() { try statement.bind(value, at: index + 1) }
        var rows: [Record] = []
        while try statement.step() { rows.append(Record(statement)) }
        return rows
    }

    package func row(_ sql: String, _ arguments: [AttributeValue] = []) throws -> Record? {
        try rows(sql, arguments).first
    }

    /// - Returns: the number of rows that the statement changed.
    @discardableResult
    package func run(_ sql: String, _ arguments: [AttributeValue] = []) throws -> Int {
        _ = try rows(sql, arguments)
        return connection.changedRows
    }
}

/// A row, its values in the order of the columns.
package struct Record: Sendable {
    private let values: [AttributeValue]

    fileprivate init(_ statement: StoreStatement) {
        values = (0..<statement.columnCount).map { column in
            switch ColumnKind(rawValue: statement.type(column)) {
            case .integer: .integer(statement.integer(column))
            case .real: .real(statement.double(column))
            case .text: .text(statement.text(column))
            case .blob: .data(Data(statement.blob(column)))
            case .null, nil: .null
            }
        }
    }

    package func text(_ column: Int) -> String? {
        if case .text(let text) = values[column] { return text }
        return nil
    }

    package func integer(_ column: Int) -> Int64 {
        switch values[column] {
        case .integer(let value): value
        case .real(let value): Int64(exactly: value.rounded()) ?? 0
        default: 0
        }
    }

    package func isNull(_ column: Int) -> Bool { values[column] == .null }

    package func bytes(_ column: Int) -> Data {
        if case .data(let data) = values[column] { return data }
        return Data()
    }
}
