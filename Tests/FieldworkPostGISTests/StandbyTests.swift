import FieldworkGeometry
import FieldworkPostGIS
import FieldworkREST
import Foundation
import TemporaryPostgres
import TestSupport
import Testing

@testable import FieldworkStore

@Suite(
    "Queries on a standby", .serialized, .fewAtATime,
    .enabled(if: TemporaryPostgres.isInstalled, "PostgreSQL 15 is not installed."))
struct StandbyTests {
    private static let name = ServiceName(name: "Trees")
    private static let layer = LayerAddress(service: name, layerID: 0)

    private static var definition: ServiceDefinition {
        ServiceDefinition(
            name: name, capabilities: [.query, .create, .update, .delete, .editing], spatialReference: .webMercator,
            layers: [
                LayerDefinition(
                    id: 0, name: "Trees", geometryType: .point, spatialReference: .webMercator,
                    fields: [
                        FieldDefinition(name: "OBJECTID", type: .oid, isNullable: false, isEditable: false),
                        FieldDefinition(name: "Name", type: .string, length: 50),
                        FieldDefinition(name: "GlobalID", type: .globalID, isNullable: false, isEditable: false),
                    ], globalIDField: "GlobalID")
            ])
    }

    private func open(_ address: String, _ standby: TemporaryStandby) async throws -> PostgresStore {
        try await PostgresStore(
            connect: PostgresStore.sessions(address),
            standbys: [
                PostgresStore.Standby(
                    connect: try PostgresStore.sessions(standby.address(of: address)), rest: .milliseconds(20))
            ])
    }

    private func add(_ name: String, to store: PostgresStore) async throws {
        let edit = FeatureEdit(
            attributes: [("Name", .text(name))],
            geometry: .geometry(Point(x: 1, y: 2, spatialReference: .webMercator)))
        let result = try await store.apply(
            EditBatch(layers: [LayerEdits(layerID: 0, adds: [edit])], moment: Date()), to: Self.name)
        #expect(result.layers.first?.adds.first?.isSuccess == true)
    }

    private func answers(of store: PostgresStore) async throws -> Int {
        try #require(try await store.data(of: Self.name).standbys.first).answers
    }

    /// Waits until a query was answered by the standby.
    private func untilAnswered(_ store: PostgresStore, expecting count: Int) async throws {
        let before = try await answers(of: store)
        while try await answers(of: store) == before {
            #expect(try await store.count(FeatureQuery(), in: Self.layer) == count)
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    @Test("Who has written reads it, through whichever process, however far the standby is behind or away")
    func freshness() async throws {
        // Of its own: what all other tests write would have to come over, too.
        let server = try await TemporaryPostgres()
        defer { withExtendedLifetime(server) {} }
        let address = try await server.storeAddress()
        let standby = try await server.standby()
        let (one, other) = (try await open(address, standby), try await open(address, standby))
        try await one.createService(Self.definition)
        try await add("a", to: one)
        for store in [one, other] { try await untilAnswered(store, expecting: 1) }

        // No COMMIT waits for it, of which an administrator should know.
        #expect(try await one.advice().count == 1)

        // It stands still: the primary answers who would read an older state, and nobody else.
        try standby.setPaused(true)
        let still = try await (answers(of: one), answers(of: other))
        #expect(try await other.count(FeatureQuery(), in: Self.layer) == 1)
        #expect(try await answers(of: other) == still.1 + 1)
        try await add("b", to: one)
        for store in [one, other] {
            #expect(try await store.count(FeatureQuery(), in: Self.layer) == 2)
            #expect(try await store.records(FeatureQuery(), in: Self.layer).count == 2)
            #expect(try await store.objectIDs(FeatureQuery(), in: Self.layer) == [1, 2])
            #expect(try await store.extent(FeatureQuery(), in: Self.layer).count == 2)
        }
        #expect(try await answers(of: one) == still.0)
        #expect(try await answers(of: other) == still.1 + 1)
        try standby.setPaused(false)
        for store in [one, other] { try await untilAnswered(store, expecting: 2) }

        // It is away, and comes back.
        standby.stop()
        try await add("c", to: other)
        for store in [one, other] { #expect(try await store.count(FeatureQuery(), in: Self.layer) == 3) }
        try await standby.start()
        for store in [one, other] { try await untilAnswered(store, expecting: 3) }

        // Promoted, it follows nobody and answers nobody.
        let promoted = try PostgresConnection(PostgresSettings(standby.address(of: address)))
        #expect(try promoted.integer("SELECT pg_promote()::int::bigint") == 1)
        let last = try await answers(of: one)
        try await add("d", to: one)
        #expect(try await one.count(FeatureQuery(), in: Self.layer) == 4)
        #expect(try await answers(of: one) == last)
        for store in [one, other] { try await store.close() }
    }
}
