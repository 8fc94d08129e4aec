import FieldworkStore
import Foundation
import TemporaryPostgres
import TestSupport
import Testing

@testable import FieldworkPostGIS

/// What becomes of connections and transactions when servers die and change places.
@Suite(
    "Connections over a change of servers", .serialized, .fewAtATime,
    .enabled(if: TemporaryPostgres.isInstalled, "PostgreSQL 15 is not installed."))
struct FailOverTests {
    /// Waits until a session of the server does something.
    private func wait(for state: String, of session: Int64, on connection: PostgresConnection) async throws {
        while try connection.integer(
            "SELECT count(*) FROM pg_stat_activity WHERE pid = ?::int8 AND \(state)", bind: { $0.bind(session, at: 1) }
        ) == 0 {
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    /// Runs something blocking on a thread of its own.
    private func error(of body: @escaping @Sendable () throws -> Void) -> Task<PostgresError?, Never> {
        Task {
            await withCheckedContinuation { continuation in
                Thread.detachNewThread {
                    let result = Result { try body() }
                    if case .failure(let error) = result {
                        continuation.resume(returning: error as? PostgresError)
                    } else {
                        continuation.resume(returning: nil)
                    }
                }
            }
        }
    }

    private struct Shared: @unchecked Sendable {
        // Handed over to one thread, which has ended before anybody looks at it again.
        let connection: PostgresConnection
    }

    @Test(
        "A COMMIT that waits for the standby ends in doubt when somebody breaks that off; the server does change places"
    )
    func waitingCommits() async throws {
        let pair = try await TemporaryPostgres.pair()
        let settings = try PostgresSettings(pair.address(database: "fieldwork"))
        let watcher = try PostgresConnection(settings)
        try watcher.execute("CREATE TABLE public.kept (word text)")
        let store = try await PostgresStore.open(try await pair.storeAddress())
        #expect(try await store.advice() == [])
        try await store.close()
        try await pair.stopStandby()
        for (word, end) in [("cancelled", "pg_cancel_backend"), ("terminated", "pg_terminate_backend")] {
            let shared = Shared(connection: try PostgresConnection(settings))
            let id = try #require(try shared.connection.integer("SELECT pg_backend_pid()::int8"))
            let ended = error {
                try shared.connection.transaction {
                    try shared.connection.execute("INSERT INTO public.kept VALUES ('\(word)')")
                }
            }
            try await wait(for: "wait_event = 'SyncRep'", of: id, on: watcher)
            try watcher.run("SELECT \(end)(?::int4)", bind: { $0.bind(id, at: 1) })
            #expect(await ended.value?.kind == .inDoubt)
            #expect(!shared.connection.isInTransaction)
            #expect(try shared.connection.integer("SELECT 7::int8") == 7)
        }
        // Both are on the primary, which is why nobody may say that they were refused. Who connects to write waits until they
        // can't be lost any more.
        var writing = settings
        writing.awaitsReplication = true
        for isCancelled in [true, false] {
            let newcomer = error { [writing] in _ = try PostgresConnection(writing) }
            while try watcher.integer("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'") != 1 {
                try await Task.sleep(for: .milliseconds(5))
            }
            if isCancelled {
                try watcher.execute("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
            } else {
                try await pair.startStandby()
            }
            #expect(await newcomer.value?.kind == (isCancelled ? .notAvailable : nil))
        }
        let standby = try PostgresConnection(PostgresSettings(await pair.standbyAddress))
        #expect(try standby.integer("SELECT pg_is_in_recovery()::int::int8") == 1)

        // A server that takes no writes is left at the next use, for whichever takes them by then.
        let refusal = #expect(throws: PostgresError.self) {
            try standby.execute("INSERT INTO public.kept VALUES ('x')")
        }
        #expect(refusal?.kind == .notAvailable && refusal?.state == "25006")

        // The other server goes on with all of it, and a connection with several hosts goes over by itself.
        let lost = try PostgresConnection(settings)
        try lost.execute("BEGIN; INSERT INTO public.kept VALUES ('lost')")
        try await pair.changePrimary()
        #expect(throws: PostgresError.self) { try watcher.execute("SELECT 1") }
        #expect(try watcher.integer("SELECT count(*) FROM public.kept") == 2)
        // Nothing of a transaction is written beside it.
        for _ in 0..<2 {
            let broken = #expect(throws: PostgresError.self) {
                try lost.execute("INSERT INTO public.kept VALUES ('half')")
            }
            #expect(broken?.kind == .connectionLost)
            #expect(lost.isInTransaction)
        }
        try lost.rollBack()
        #expect(try lost.integer("SELECT count(*) FROM public.kept") == 2)
    }

    @Test("A COMMIT that the database refuses is undone, not in doubt")
    func refusedCommit() async throws {
        let connection = try await TemporaryPostgres.shared.value.connection()
        try connection.execute("CREATE TABLE one (id int8 UNIQUE DEFERRABLE INITIALLY DEFERRED)")
        let refusal = #expect(throws: PostgresError.self) {
            try connection.transaction { try connection.execute("INSERT INTO one VALUES (1), (1)") }
        }
        #expect(refusal?.kind == .notUnique)
        #expect(try connection.integer("SELECT count(*) FROM one") == 0)
    }

    @Test("A server that says that it takes no writes is connected to anew")
    func readOnly() async throws {
        let connection = try await TemporaryPostgres.shared.value.connection()
        let first = try connection.integer("SELECT pg_backend_pid()::int8")
        #expect(throws: PostgresError.self) {
            try connection.transaction {
                try connection.execute("SET TRANSACTION READ ONLY; CREATE TABLE one (id int8)")
            }
        }
        #expect(try connection.integer("SELECT pg_backend_pid()::int8") != first)
    }

    @Test("Whatever the database makes do with, what we commit is on its disk")
    func durability() async throws {
        for (asked, wanted) in [("off", "on"), ("local", "on"), ("remote_apply", "remote_apply")] {
            let address = try await TemporaryPostgres.shared.value.address()
            let connection = try PostgresConnection(
                PostgresSettings("\(address)?options=-csynchronous_commit%3D\(asked)"))
            #expect(try connection.text("SELECT current_setting('synchronous_commit')") == wanted)
        }
    }

    @Test("An address of several hosts is one for each, in their order")
    func hosts() throws {
        func hosts(_ address: String) throws -> [String] { try PostgresSettings(address).hosts.map(\.description) }
        #expect(try hosts("postgres://u@a:1,b:2/db") == ["a:1/db", "b:2/db"])
        #expect(try hosts("postgres://u@a,b/db?port=5") == ["a:5/db", "b:5/db"])
        #expect(try hosts("postgres://u@a:1/db") == ["a:1/db"])
        #expect(try hosts("postgres:///db") == ["local/db"])
        let many = try PostgresSettings("postgres://u@a:1,b:2/db")
        #expect(many.keywordsAndValues.contains { $0 == ("target_session_attrs", "read-write") })
        #expect(!many.hosts[0].keywordsAndValues.contains { $0.keyword == "target_session_attrs" })
    }
}
