import CPostgres

/// What the server answered; it frees itself.
struct PostgresResult: ~Copyable {
    let pointer: OpaquePointer?

    init(_ pointer: OpaquePointer?) { self.pointer = pointer }

    deinit { PQclear(pointer) }

    var status: ExecStatusType { PQresultStatus(pointer) }

    /// The words of the command that was carried out, such as `COMMIT` or `INSERT 0 1`.
    var command: String { PQcmdStatus(pointer).map { String(cString: $0) } ?? "" }

    /// Throws what the server refused.
    func check(on connection: OpaquePointer) throws(PostgresError) {
        switch status {
        case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_SINGLE_TUPLE, PGRES_COPY_IN, PGRES_EMPTY_QUERY: return
        default: throw PostgresError(result: pointer, connection: connection)
        }
    }
}
