import CPostgres
package import FieldworkREST

/// A bulk load: rows go to the server by `COPY … FROM STDIN` in PostgreSQL's binary form, the fastest way in. They are there
/// when the transaction around them is committed. A load that was not finished is given up with its object.
package final class PostgresCopy {
    private let connection: PostgresConnection
    private let types: [UInt32]
    private var bytes: [UInt8] = []
    private var isOpen = false
    package private(set) var rows = 0

    /// "PGCOPY", then what tells whether a transport has changed the ends of lines; no flags, no extension.
    private static let signature: [UInt8] = [
        0x50, 0x47, 0x43, 0x4F, 0x50, 0x59, 0x0A, 0xFF, 0x0D, 0x0A, 0x00, 0, 0, 0, 0, 0, 0, 0, 0,
    ]

    /// - Parameters:
    ///   - table: the name of a table, plain.
    ///   - columns: the names of its columns, in the order of the rows' values.
    package init(
        into table: String, columns: [String], on connection: PostgresConnection
    ) throws(PostgresError) {
        self.connection = connection
        let names = columns.map(quoted).joined(separator: ", ")
        types = try Self.types(of: columns, in: table, on: connection)
        let result = PostgresResult(
            PQexec(connection.pointer, "COPY \(quoted(table)) (\(names)) FROM STDIN (FORMAT binary)"))
        try result.check(on: connection.pointer)
        isOpen = true
        bytes.reserveCapacity(Limits.copyPieceBytes + 4_096)
        bytes += Self.signature
    }

    deinit { abandon() }

    /// COPY tells no types, so a query that gives no row does.
    private static func types(
        of columns: [String], in table: String, on connection: PostgresConnection
    ) throws(PostgresError) -> [UInt32] {
        try connection.restoreIfBroken()
        let names = columns.map(quoted).joined(separator: ", ")
        let result = PostgresResult(PQexec(connection.pointer, "SELECT \(names) FROM \(quoted(table)) LIMIT 0"))
        try result.check(on: connection.pointer)
        return (0..<PQnfields(result.pointer)).map { PQftype(result.pointer, $0) }
    }

    /// Adds a row. Throws `PostgresError.Kind.refused`, and adds nothing, for a value that its column can't hold.
    package func add(_ values: [AttributeValue]) throws(PostgresError) {
        guard values.count == types.count else {
            throw PostgresError(.invalidStatement, "\(values.count) values for \(types.count) columns.")
        }
        let start = bytes.count
        bytes += PostgresArgument.bigBytes(UInt16(values.count))
        for (value, type) in zip(values, types) {
            do {
                try append(value, as: type)
            } catch {
                bytes.removeSubrange(start...)
                throw error
            }
        }
        rows += 1
        if bytes.count >= Limits.copyPieceBytes { try flush() }
    }

    private func append(_ value: AttributeValue, as type: UInt32) throws(PostgresError) {
        let argument = try PostgresArgument.encode(value, as: type, geometryType: connection.geometryType)
        guard let content = argument.bytes else {
            bytes += PostgresArgument.bigBytes(UInt32.max)
            return
        }
        guard argument.isBinary else {
            throw PostgresError(.refused, state: "22P03", "A bulk load can't write a column of type \(type).")
        }
        bytes += PostgresArgument.bigBytes(UInt32(content.count))
        bytes += content
    }

    private func flush() throws(PostgresError) {
        let pointer = connection.pointer
        let sent = bytes.withUnsafeBytes { buffer in
            buffer.withMemoryRebound(to: CChar.self) { PQputCopyData(pointer, $0.baseAddress, Int32($0.count)) }
        }
        bytes.removeAll(keepingCapacity: true)
        guard sent == 1 else { throw PostgresError(connection: pointer) }
    }

    /// Ends the load. Throws what the server refused: then none of the rows is there.
    package func finish() throws(PostgresError) -> Int {
        bytes += PostgresArgument.bigBytes(UInt16.max)
        try flush()
        isOpen = false
        guard PQputCopyEnd(connection.pointer, nil) == 1 else { throw PostgresError(connection: connection.pointer) }
        try Self.takeOutcome(connection.pointer)
        return rows
    }

    /// Gives the load up: the server keeps none of its rows, and the transaction around it can only be rolled back.
    package func abandon() {
        guard isOpen else { return }
        isOpen = false
        guard PQputCopyEnd(connection.pointer, "given up") == 1 else { return }
        while let result = PQgetResult(connection.pointer) { PQclear(result) }
    }

    private static func takeOutcome(_ pointer: OpaquePointer) throws(PostgresError) {
        var failure: PostgresError?
        while let result = PQgetResult(pointer) {
            if PQresultStatus(result) != PGRES_COMMAND_OK, failure == nil {
                failure = PostgresError(result: result, connection: pointer)
            }
            PQclear(result)
        }
        if let failure { throw failure }
    }
}

/// A name inside SQL. The only way a name gets there.
func quoted(_ name: String) -> String { "\"" + name.replacing("\"", with: "\"\"") + "\"" }
