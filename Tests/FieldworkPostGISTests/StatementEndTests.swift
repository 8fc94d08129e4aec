import FieldworkGeometry
import Foundation
import TemporaryPostgres
import TestSupport
import Testing

@testable import FieldworkPostGIS
@testable import FieldworkStore

@Suite(
    "Ends of statements in PostgreSQL", .fewAtATime,
    .enabled(if: TemporaryPostgres.isInstalled, "PostgreSQL 15 is not installed."))
struct StatementEndTests {
    /// Ways to run a statement that would take ten minutes.
    enum Way: CaseIterable {
        case plain, prepared, streamed

        func run(on connection: PostgresConnection) throws {
            switch self {
            case .plain: try connection.execute("SELECT pg_sleep(600)")
            case .prepared: try connection.run("SELECT pg_sleep(600)")
            case .streamed:
                let statement = try connection.cached("SELECT pg_sleep(i) FROM generate_series(0, 600, 600) AS s (i)")
                defer { statement.finish() }
                statement.isStreamed = true
                while try statement.step() {}
            }
        }
    }

    /// In which a machine does what it does at once otherwise, however busy it is.
    private static let soon = Duration.seconds(300)

    private static func watched() async throws -> (PostgresConnection, WorkWatch) {
        let connection = try await TemporaryPostgres.shared.value.connection()
        let watch = WorkWatch()
        connection.watch = watch
        return (connection, watch)
    }

    private static func backend(of connection: PostgresConnection) throws -> Int64 {
        try #require(try connection.integer("SELECT pg_backend_pid()::int8"))
    }

    @Test("A statement ends with the time of its work, and its connection serves the next one", arguments: Way.allCases)
    func time(_ way: Way) async throws {
        let (connection, watch) = try await Self.watched()
        let backend = try Self.backend(of: connection)
        let began = ContinuousClock.now
        #expect(throws: AllowanceError.timeIsUp(.milliseconds(200))) {
            try watch.run(WorkAllowance(time: .milliseconds(200))) { try way.run(on: connection) }
        }
        #expect(began.duration(to: .now) < Self.soon)
        let next = try Self.backend(of: connection)
        #expect(next == backend)
    }

    @Test("A statement ends when its client leaves, and its connection serves the next one", arguments: Way.allCases)
    func leaving(_ way: Way) async throws {
        let (connection, watch) = try await Self.watched()
        let backend = try Self.backend(of: connection)
        let allowance = WorkAllowance(time: .seconds(600))
        let settings = try await PostgresSettings(TemporaryPostgres.shared.value.address())
        let thread = Thread {
            guard let watcher = try? PostgresConnection(settings) else { return }
            // Not before the server says that the statement runs.
            while (try? watcher.integer(
                "SELECT count(*) FROM pg_stat_activity WHERE pid = ?::int8 AND query LIKE '%pg_sleep%' AND state = 'active'",
                bind: { $0.bind(backend, at: 1) })) != 1
            { Thread.sleep(forTimeInterval: 0.01) }
            allowance.leave()
        }
        thread.start()
        let began = ContinuousClock.now
        #expect(throws: AllowanceError.unwanted) { try watch.run(allowance) { try way.run(on: connection) } }
        #expect(began.duration(to: .now) < Self.soon)
        let next = try Self.backend(of: connection)
        #expect(next == backend)
    }

    @Test("A statement of edits may take as long as all that they may compute, though waiting does not count otherwise")
    func edits() async throws {
        let (connection, watch) = try await Self.watched()
        let allowance = WorkAllowance(time: .milliseconds(500))
        let began = ContinuousClock.now
        #expect(throws: AllowanceError.timeIsUp(.milliseconds(500))) {
            try watch.run(allowance.ofEdits()) {
                // Together longer than that, each far shorter.
                for _ in 0..<60 { try connection.run("SELECT pg_sleep(0.01)") }
                try connection.run("SELECT pg_sleep(600)")
            }
        }
        #expect(began.duration(to: .now) >= .milliseconds(1_100))
        #expect(began.duration(to: .now) < Self.soon)
        let seven = try connection.integer("SELECT 7::int8")
        #expect(seven == 7)
    }

    @Test("A statement that will not end loses its connection, which the next one makes anew, and ends by itself then")
    func stubborn() async throws {
        let (connection, watch) = try await Self.watched()
        let backend = try Self.backend(of: connection)
        let began = ContinuousClock.now
        #expect(throws: AllowanceError.timeIsUp(.milliseconds(100))) {
            try watch.run(WorkAllowance(time: .milliseconds(100))) {
                try connection.execute(
                    """
                    DO $$ BEGIN
                        LOOP BEGIN PERFORM pg_sleep(600); EXCEPTION WHEN query_canceled THEN NULL; END; END LOOP;
                    END $$
                    """)
            }
        }
        #expect(began.duration(to: .now) < Self.soon)
        let next = try Self.backend(of: connection)
        #expect(next != backend)
        // As one whose server was killed: nobody cancels it.
        let ended = try await Self.ends(backend, seenBy: connection)
        #expect(ended)
    }

    private static func ends(_ backend: Int64, seenBy connection: PostgresConnection) async throws -> Bool {
        let end = ContinuousClock.now + soon
        while ContinuousClock.now < end {
            let count = try connection.integer("SELECT count(*) FROM pg_stat_activity WHERE pid = ?::int8") {
                $0.bind(backend, at: 1)
            }
            if count == 0 { return true }
            try await Task.sleep(for: .milliseconds(50))
        }
        return false
    }

    @Test("No statement is compiled: that can take minutes, in which nothing ends it")
    func noCompilation() async throws {
        let connection = try await TemporaryPostgres.shared.value.connection()
        let setting = try connection.text("SHOW jit")
        #expect(setting == "off")
    }
}
