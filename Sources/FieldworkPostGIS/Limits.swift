/// The bounds of the PostgreSQL store. Each is tested on both sides.
package enum Limits {
    /// Prepared statements kept by a connection.
    package static let cachedStatements = 256
    /// Arguments of one statement: PostgreSQL counts them in 16 bits.
    package static let argumentsPerStatement = 65_535
    /// Seconds to wait for a server to answer a new connection.
    package static let connectSeconds = 10
    /// Milliseconds that a statement may take, unless its caller says otherwise.
    package static let statementMilliseconds = 120_000
    /// Milliseconds of waiting for the server between two looks at whether its answer is still wanted.
    static let watchMilliseconds: Int32 = 20
    /// Milliseconds to wait for a lock that another transaction holds.
    package static let lockMilliseconds = 10_000
    /// Milliseconds after which an unanswered packet means that the server is gone.
    package static let silenceMilliseconds = 30_000
    /// Bytes of a bulk load that are handed over at a time.
    package static let copyPieceBytes = 16 * 1_024
    /// Bytes of one value: PostgreSQL's own limit.
    package static let valueBytes = 1_073_741_823
}
