import FieldworkPostGIS
import FieldworkREST
import Foundation
import TemporaryPostgres
import TestSupport
import Testing

@testable import FieldworkStore

/// What an older Fieldwork has made is refused until it was brought up to date, and is as good as new then.
@Suite(
    "Databases of an older Fieldwork", .fewAtATime,
    .enabled(if: TemporaryPostgres.isInstalled, "PostgreSQL 15 is not installed."))
struct MigrationTests {
    @Test("Services of version 3 get the triggers and tables of today")
    func fromVersion3() async throws {
        let service = try await PostgresTrees()
        let trees = (0..<20).map { PostgresTrees.tree("Tree \($0)") }
        try await service.apply(adds: trees)
        let definitions =
            "SELECT string_agg(pg_get_triggerdef(oid), ' ' ORDER BY tgname) FROM pg_trigger WHERE NOT tgisinternal"
        let other = try service.connection()
        let today = try other.text(definitions)
        // As it was: triggers for every row, whoever writes it.
        try other.execute(
            """
            DROP TABLE fieldwork_long_reads;
            DROP TRIGGER fieldwork_0_fill ON "Trees"; DROP TRIGGER fieldwork_0_log ON "Trees";
            CREATE TRIGGER fieldwork_0_fill BEFORE INSERT ON "Trees" FOR EACH ROW EXECUTE FUNCTION fieldwork_0_fill ();
            CREATE CONSTRAINT TRIGGER fieldwork_0_log AFTER INSERT OR UPDATE OR DELETE ON "Trees"
                DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION fieldwork_0_log ();
            UPDATE fieldwork.version SET version = 3
            """)
        let refusal = await #expect(throws: StoreError.self) { try await PostgresStore.open(service.address) }
        #expect(refusal?.code == .unsupportedVersion && refusal?.message.contains("store migrate") == true)
        try other.execute("INSERT INTO \"Trees\" (species) SELECT 'Acer' FROM generate_series(1, 20)")
        #expect(try await PostgresStore.migrate(service.address))
        #expect(try await !PostgresStore.migrate(service.address))
        #expect(try other.text(definitions) == today)
        let store = try await PostgresStore.open(service.address)
        try await service.apply(adds: trees)
        #expect(
            try await store.changes(after: 0, in: service.layer, limit: 100).map(\.objectID)
                == (1...60).map { Int64($0) })
        #expect(try await store.data(of: service.name).source.readOneState { try $0.integer("SELECT 1") } == 1)
        #expect(try await store.check() == [])
        try await store.close()
        try await service.store.close()
    }

    @Test("A database that was never prepared, and one of a newer Fieldwork, are refused")
    func refusals() async throws {
        let service = try await PostgresTrees()
        try await service.store.close()
        let other = try service.connection()
        try other.execute("UPDATE fieldwork.version SET version = 1000")
        for attempt in [PostgresStore.migrate, { try await PostgresStore.open($0).close() == () }] {
            let newer = await #expect(throws: StoreError.self) { _ = try await attempt(service.address) }
            #expect(newer?.code == .unsupportedVersion && newer?.message.contains("newer") == true)
        }
        #expect(try other.integer("SELECT version FROM fieldwork.version") == 1000)
        try other.execute("DROP SCHEMA fieldwork CASCADE")
        let unprepared = await #expect(throws: StoreError.self) { _ = try await PostgresStore.migrate(service.address) }
        #expect(unprepared?.message.contains("store init") == true)
    }
}
