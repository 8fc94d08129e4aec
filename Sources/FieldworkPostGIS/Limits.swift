/// The bounds of the PostgreSQL store. Each is tested on both sides.
package enum Limits {
    /// Prepared statements kept by a connection.
    package static let cachedStatements = 256
    /// Bytes of a statement that a connection keeps.
    package static let cachedStatementBytes = 16 * 1_024
    /// Arguments of one statement: PostgreSQL counts them in 16 bits.
    package static let argumentsPerStatement = 65_535
    /// Seconds to wait for a server to answer a new connection.
    package static let connectSeconds = 10
    /// Milliseconds that a statement may take, unless its caller says otherwise.
    package static let statementMilliseconds = 120_000
    /// Milliseconds of waiting for the server between two looks at whether its answer is still wanted.
    static let watchMilliseconds: Int32 = 20
    /// Milliseconds in which the server must have ended a statement that was cancelled. After that its connection is closed.
    package static let cancellationMilliseconds = 2_000
    /// Milliseconds between two looks of the server at whether the client of a statement is still there (PostgreSQL 14 and later).
    package static let clientCheckMilliseconds = 2_000
    /// Milliseconds to wait for a lock that another transaction holds.
    package static let lockMilliseconds = 10_000
    /// Milliseconds after which an unanswered packet means that the server is gone.
    package static let silenceMilliseconds = 30_000
    /// Bytes of a page that comes whole; of a larger one the rows come one by one.
    package static let pageBytes = 8 * 1_024 * 1_024
    /// Bytes of rows from which on the work that reads them is charged for them.
    static let chargedBytes = 64 * 1_024
    /// Bytes of a row for which libpq may keep its room.
    static let rowBytesKept = 4 * 1_024 * 1_024
    /// Bytes of a bulk load that are handed over at a time.
    package static let copyPieceBytes = 16 * 1_024
    /// Bytes of one value: PostgreSQL's own limit.
    package static let valueBytes = 1_073_741_823
}
