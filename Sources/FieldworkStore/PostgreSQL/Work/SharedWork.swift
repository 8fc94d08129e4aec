import Foundation

/// What is on its way, kept in the database of the services: parts of uploads, jobs, results. Any process takes the next part
/// and gives what another has made; what was acknowledged outlives the process that acknowledged it.
///
/// Each call is a transaction of its own that is committed when it returns, on one of a few sessions beside those of the
/// services. None is held between two calls, however slow a client is. All errors are `StoreError`.
package final class SharedWork: Sendable {
    private let sessions: ReaderPool

    init(connect: @escaping PostgresStore.Connect) {
        let source = ConnectionSource { _ in
            StoreConnection(session: try connect(PostgresFunctions.schema, true))
        }
        sessions = ReaderPool(source: source, readers: Limits.workSessions, streams: 1, isLimited: false)
    }

    static let tables = [
        """
        CREATE TABLE IF NOT EXISTS fieldwork.work_files (
            id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, made timestamptz NOT NULL DEFAULT clock_timestamp())
        """,
        """
        CREATE TABLE IF NOT EXISTS fieldwork.work_pieces (
            file bigint NOT NULL REFERENCES fieldwork.work_files ON DELETE CASCADE, start bigint NOT NULL,
            size bigint NOT NULL, bytes bytea NOT NULL, PRIMARY KEY (file, start))
        """,
        // What clients send is compressed already, or not worth it.
        "ALTER TABLE fieldwork.work_pieces ALTER COLUMN bytes SET STORAGE EXTERNAL",
    ]

    /// One statement, or several that need no transaction. When the connection breaks, nobody knows whether it was carried out,
    /// and `StoreError.busy` tells that it was not: for what only reads, or may be done again.
    func read<Result: Sendable>(
        _ body: @Sendable (StoreConnection) throws -> Result
    ) async throws -> Result { try await sessions.read(body) }

    /// Everything or nothing.
    func transaction<Result: Sendable>(
        _ body: @Sendable (StoreConnection) throws -> Result
    ) async throws -> Result {
        try await sessions.read { connection in
            try connection.transaction(SQLDialect.beginPlainly) { try body(connection) }
        }
    }

    func close() async { await sessions.close() }
}

/// A store whose processes share what is on its way.
package protocol WorkSharingStore: FeatureStore {
    var sharedWork: SharedWork { get }
}
