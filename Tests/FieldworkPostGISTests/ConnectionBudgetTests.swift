import FieldworkGeometry
import FieldworkPostGIS
import FieldworkREST
import Foundation
import TemporaryPostgres
import TestSupport
import Testing

@testable import FieldworkStore

/// The services of a database share their connections.
@Suite(
    "Connections of many services", .fewAtATime,
    .enabled(if: TemporaryPostgres.isInstalled, "PostgreSQL 15 is not installed."))
struct ConnectionBudgetTests {
    private static func definition(_ name: String) -> ServiceDefinition {
        ServiceDefinition(
            name: ServiceName(name: name),
            layers: [
                LayerDefinition(
                    id: 0, name: "Trees", geometryType: .point, spatialReference: .webMercator,
                    fields: [
                        FieldDefinition(name: "OBJECTID", type: .oid, isNullable: false, isEditable: false),
                        FieldDefinition(name: "Name", type: .string, length: 4_000),
                        FieldDefinition(name: "GlobalID", type: .globalID, isNullable: false, isEditable: false),
                    ], globalIDField: "GlobalID")
            ])
    }

    private func open(_ address: String, services: Int, sessions: Int) async throws -> (PostgresStore, [ServiceName]) {
        let store = try await PostgresStore.open(address, sessions: sessions)
        let names = (0..<services).map { "S\($0)" }
        for name in names { try await store.createService(Self.definition(name)) }
        return (store, names.map { ServiceName(name: $0) })
    }

    private func add(_ count: Int, to name: ServiceName, of store: PostgresStore) async throws {
        let adds = (0..<count).map { _ in
            FeatureEdit(
                attributes: [("Name", .text(String(repeating: "x", count: 4_000)))],
                geometry: .geometry(Point(x: 1, y: 2, spatialReference: .webMercator)))
        }
        let result = try await store.apply(
            EditBatch(layers: [LayerEdits(layerID: 0, adds: adds)], moment: .now), to: name)
        #expect(!result.hasErrors)
    }

    /// Takes a reader of a service and leaves an answer open in it, as a client does that takes nothing of it.
    private func beginStream(_ name: ServiceName, of store: PostgresStore) async throws -> (
        Reader, ReaderTurn, ReaderPool
    ) {
        let pool = try await store.data(of: name).readers
        let turn = pool.newTurn()
        let reader = try await pool.take(.read, turn)
        _ = try await reader.first(turn, size: 10) { connection in
            let statement = try connection.cached("SELECT generate_series(1, 1000000)")
            return EndlessSource(statement: statement)
        }
        return (reader, turn, pool)
    }

    private final class EndlessSource: PieceSource {
        private let statement: StoreStatement

        init(statement: StoreStatement) { self.statement = statement }

        deinit { statement.finish() }

        var isAtEnd: Bool { false }
        func piece(of size: Int) throws -> [UInt8] {
            _ = try statement.step()
            return [0]
        }
    }

    @Test("More services than connections are all read and written, many at a time, and no more connections are open")
    func sharing() async throws {
        let address = try await TemporaryPostgres.shared.value.storeAddress()
        let (store, names) = try await open(address, services: 6, sessions: 4)
        let watcher = try PostgresConnection(PostgresSettings(address))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for name in names {
                for _ in 0..<2 {
                    group.addTask {
                        for _ in 0..<5 {
                            try await add(1, to: name, of: store)
                            _ = try await store.count(FeatureQuery(), in: LayerAddress(service: name, layerID: 0))
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        for name in names {
            #expect(try await store.count(FeatureQuery(), in: LayerAddress(service: name, layerID: 0)) == 10)
        }
        #expect(store.budget.open <= 4)
        // The services', and the list of services. A session ends a moment after its connection was closed.
        var sessions = Int64.max
        for _ in 0..<1_000 where sessions > 5 {
            try await Task.sleep(for: .milliseconds(10))
            sessions = try #require(
                try watcher.integer(
                    """
                    SELECT count(*) FROM pg_stat_activity
                    WHERE datname = current_database() AND application_name = 'fieldwork' AND pid <> pg_backend_pid()
                    """))
        }
        #expect(sessions <= 5)
        try await store.close()
        #expect(store.budget.open == 0)
    }

    @Test("Answers that nobody takes hold one service up, and not the others")
    func fairness() async throws {
        let address = try await TemporaryPostgres.shared.value.storeAddress()
        let (store, names) = try await open(address, services: 2, sessions: 6)
        var streams: [(Reader, ReaderTurn, ReaderPool)] = []
        for _ in 0..<Limits.sessionReaders { streams.append(try await beginStream(names[0], of: store)) }
        try await add(3, to: names[0], of: store)
        for _ in 0..<3 {
            try await add(1, to: names[1], of: store)
            _ = try await store.records(FeatureQuery(), in: LayerAddress(service: names[1], layerID: 0))
        }
        #expect(try await store.count(FeatureQuery(), in: LayerAddress(service: names[1], layerID: 0)) == 3)
        #expect(store.budget.open <= 6)
        for (reader, turn, pool) in streams {
            await reader.closeCursor()
            pool.giveBack(reader, turn)
        }
        try await store.close()
        #expect(store.budget.open == 0)
    }

    @Test("Who finds all connections in use waits for the first that is free; after too long he is told so")
    func waiting() async throws {
        let budget = ConnectionBudget(limit: 1, patience: .milliseconds(20))
        try budget.take()
        let refusal = #expect(throws: StoreError.self) { try budget.take() }
        #expect(refusal?.code == .busy && budget.open == 1)
        budget.giveBack(nil)
        #expect(budget.open == 0)

        let patient = ConnectionBudget(limit: 1, patience: .seconds(60))
        try patient.take()
        let waiter = Task { try await OneTimeWorker().run { try patient.take() } }
        while patient.waiting == 0 { try await Task.sleep(for: .milliseconds(2)) }
        patient.giveBack(nil)
        try await waiter.value
        #expect(patient.open == 1)
    }
}
