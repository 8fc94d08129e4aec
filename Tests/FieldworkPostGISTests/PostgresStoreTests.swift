import FieldworkGeometry
import FieldworkPostGIS
import FieldworkREST
import FieldworkStore
import Foundation
import TemporaryPostgres
import TestSupport
import Testing

/// What only a database can do: several processes, other programs, and what it refuses.
@Suite(
    "A store in PostgreSQL", .fewAtATime, .enabled(if: TemporaryPostgres.isInstalled, "PostgreSQL 15 is not installed.")
)
struct PostgresStoreTests {
    private let service: PostgresTrees
    private var address: String { service.address }
    private var store: PostgresStore { service.store }
    private var name: ServiceName { service.name }
    private var trees: LayerAddress { service.layer }
    /// Roles are of the whole server.
    private let suffix = UUID().uuidString.prefix(8)

    init() async throws { service = try await PostgresTrees() }

    private func batch(_ adds: [FeatureEdit]) -> EditBatch {
        EditBatch(
            layers: [LayerEdits(layerID: 0, adds: adds)], usesGlobalIDs: false, rollsBackOnFailure: true,
            editor: "ada", moment: .now)
    }

    @Test("An edit that waits too long for another writer is told so, and the next one is done")
    func lockedOut() async throws {
        var settings = try PostgresSettings(address)
        settings.lockMilliseconds = 20
        let impatient = try await PostgresStore(connect: PostgresStore.sessions(settings))
        let other = try service.connection()
        try other.execute("BEGIN; SELECT generation FROM fieldwork_state FOR UPDATE")
        for _ in 0..<2 {
            let refusal = await #expect(throws: StoreError.self) {
                try await impatient.apply(batch([PostgresTrees.tree("oak")]), to: name)
            }
            #expect(refusal?.code == .busy)
        }
        try other.execute("ROLLBACK")
        #expect(try await impatient.apply(batch([PostgresTrees.tree("ash")]), to: name).hasErrors == false)
        #expect(try await store.count(FeatureQuery(), in: trees) == 1)
        try await impatient.close()
        try await store.close()
    }

    @Test("Many adds at once pass by no trigger and no rule of others")
    func bulkAddsAndOthers() async throws {
        let other = try service.connection()
        try other.execute(
            """
            CREATE TABLE seen (species text);
            CREATE FUNCTION see () RETURNS trigger LANGUAGE plpgsql AS
                'BEGIN INSERT INTO trees.seen VALUES (NEW.species); RETURN NULL; END';
            CREATE TRIGGER see AFTER INSERT ON "Trees" FOR EACH ROW EXECUTE FUNCTION see ();
            ALTER TABLE "Trees" ADD CONSTRAINT short CHECK (length(species) < 9);
            ALTER TABLE "Trees" ENABLE ROW LEVEL SECURITY; ALTER TABLE "Trees" FORCE ROW LEVEL SECURITY;
            CREATE ROLE "plain_\(suffix)" LOGIN; GRANT ALL ON SCHEMA fieldwork, trees TO "plain_\(suffix)";
            GRANT ALL ON ALL TABLES IN SCHEMA fieldwork, trees TO "plain_\(suffix)";
            GRANT ALL ON ALL SEQUENCES IN SCHEMA fieldwork, trees TO "plain_\(suffix)";
            CREATE POLICY everybody ON "Trees" USING (true) WITH CHECK (true)
            """)
        // Row security, with which PostgreSQL takes no bulk load, does not hold for a superuser, who owns all else in these tests.
        let plain = try await PostgresStore.open(
            address.replacing("://fieldwork@", with: "://plain_\(suffix)@"))
        var mixed = batch((0..<12).map { PostgresTrees.tree($0 == 6 ? "Acer of a long name" : "Acer \($0)") })
        mixed.rollsBackOnFailure = false
        let results = try #require(try await plain.apply(mixed, to: name).layers.first).adds
        #expect(results.indices.filter { !results[$0].isSuccess } == [6])
        #expect(try await store.count(FeatureQuery(), in: trees) == 11)
        #expect(try other.integer("SELECT count(*) FROM seen") == 11)
        #expect(try await store.check() == [])
        try await plain.close()
        try other.execute("DROP OWNED BY \"plain_\(suffix)\"; DROP ROLE \"plain_\(suffix)\"")
        try await store.close()
    }

    @Test(
        "What another program wrote among the points of a layer is given as well: a line, nothing, and a point with a height"
    )
    func otherGeometries() async throws {
        try await service.apply(adds: (0..<5).map { PostgresTrees.tree("Acer \($0)", x: Double($0)) })
        let other = try service.connection()
        let box = SpatialFilter(
            geometry: Envelope(xMin: -1, yMin: -1, xMax: 9, yMax: 9, spatialReference: .webMercator))
        func answer() async throws -> String {
            let query = FeatureQuery(spatialFilter: box, limit: 100)
            let definition = try #require(PostgresTrees.definition(name).layers.first)
            var bytes: [UInt8] = []
            let encoder = try JSONFeatureEncoder(layer: definition, query: query)
            for try await piece in try await store.encodedFeatures(query, in: trees, encoder: encoder) {
                bytes += piece
            }
            return String(decoding: bytes, as: UTF8.self)
        }
        let points = try await answer()
        for x in 0..<5 { #expect(points.contains(#""geometry":{"x":\#(x),"y":0}"#)) }
        try other.execute(
            """
            UPDATE "Trees" SET geom = ST_SetSRID('LINESTRING (1 0, 1 5)'::geometry, ST_SRID(geom)) WHERE species = 'Acer 1';
            UPDATE "Trees" SET geom = ST_SetSRID('POINT Z (2 0 7)'::geometry, ST_SRID(geom)) WHERE species = 'Acer 2'
            """)
        let mixed = try await answer()
        for number in 0..<5 { #expect(mixed.contains("Acer \(number)")) }
        for x in [0, 2, 3, 4] { #expect(mixed.contains(#""geometry":{"x":\#(x),"y":0}"#), "\(mixed)") }
        try await store.close()
    }

    @Test("What triggers of others make of many adds is logged, and told as it is")
    func bulkAddsAndTriggers() async throws {
        let other = try service.connection()
        try other.execute(
            """
            CREATE FUNCTION twin () RETURNS trigger LANGUAGE plpgsql AS
                'BEGIN INSERT INTO trees."Trees" (species) VALUES (''Twin''); RETURN NULL; END';
            CREATE TRIGGER twin AFTER INSERT ON "Trees" FOR EACH ROW WHEN (NEW.species = 'Acer 3') EXECUTE FUNCTION twin ()
            """)
        let adds = (0..<12).map { PostgresTrees.tree("Acer \($0)") }
        try await service.apply(adds: adds)
        #expect(try await store.count(FeatureQuery(), in: trees) == 13)
        #expect(Set(try await store.changes(after: 0, in: trees, limit: 100).map(\.objectID)).count == 13)
        try other.execute(
            """
            CREATE FUNCTION number () RETURNS trigger LANGUAGE plpgsql AS
                'BEGIN NEW."OBJECTID" := NEW."OBJECTID" + 1000; RETURN NEW; END';
            CREATE TRIGGER a_number BEFORE INSERT ON "Trees" FOR EACH ROW EXECUTE FUNCTION number ()
            """)
        let results = try await service.apply(adds: (0..<12).map { PostgresTrees.tree("Tilia \($0)") }).adds
        let ids = results.compactMap(\.objectID)
        #expect(ids.count == 12 && ids.allSatisfy { $0 > 1_000 })
        let found = try await store.records(FeatureQuery(objectIDs: ids), in: trees)
        #expect(found.map { $0.attributes["species"] } == (0..<12).map { .text("Tilia \($0)") })
        #expect(try await store.check() == [])
        try await store.close()
    }

    @Test("A service lies in a schema of its name, and is gone when it is deleted")
    func schemas() async throws {
        let other = ServiceName(folder: "City", name: "Trees")
        try await store.createService(PostgresTrees.definition(other))
        #expect(try await store.serviceNames().map(\.path) == ["City/Trees", "Trees"])
        let connection = try service.connection()
        #expect(try connection.integer("SELECT count(*) FROM city_trees.\"Trees\"") == 0)
        await #expect(throws: StoreError.self) { try await store.createService(PostgresTrees.definition(other)) }
        try await store.deleteService(other)
        #expect(try await store.serviceNames() == [name])
        #expect(try connection.integer("SELECT 1 FROM pg_namespace WHERE nspname = 'city_trees'") == nil)
        await #expect(throws: StoreError(.serviceNotFound, "There is no service City/Trees.")) {
            try await store.service(other)
        }
        try await store.close()
    }

    @Test("Two stores on one database number their generations one after the other, and none is skipped")
    func manyWriters() async throws {
        let other = try await PostgresStore.open(address)
        let (first, second) = (store, other)
        let generations = try await withThrowingTaskGroup(of: Int64?.self) { group in
            for number in 0..<40 {
                let batch = batch([PostgresTrees.tree("t\(number)", x: Double(number))])
                group.addTask {
                    try await (number % 2 == 0 ? first : second).apply(batch, to: ServiceName(name: "Trees")).generation
                }
            }
            var all: [Int64] = []
            for try await generation in group { all.append(try #require(generation)) }
            return all
        }
        #expect(generations.sorted() == Array(1...40))
        #expect(try await other.count(FeatureQuery(), in: trees) == 40)
        let changes = try await store.changes(after: 0, in: trees, limit: 100)
        #expect(changes.map(\.generation) == Array(1...40))
        #expect(Set(changes.map(\.objectID)) == Set(1...40))
        try await store.close()
        try await other.close()
    }

    @Test("A transaction that another program leaves open holds up no one, and its edits are logged when it ends")
    func otherPrograms() async throws {
        _ = try await store.apply(
            batch([PostgresTrees.tree("Acer", x: 1), PostgresTrees.tree("Tilia", x: 2)]), to: name)
        let connection = try service.connection()
        try connection.execute("BEGIN")
        try connection.execute("UPDATE \"Trees\" SET species = 'Quercus' WHERE \"OBJECTID\" = 1")
        try connection.execute("INSERT INTO \"Trees\" (species) VALUES ('Salix')")
        try connection.execute("DELETE FROM \"Trees\" WHERE \"OBJECTID\" = 2")
        let meanwhile = try await store.apply(batch([PostgresTrees.tree("Pinus")]), to: name)
        #expect(meanwhile.generation == 2)
        #expect(try await store.changes(after: 2, in: trees, limit: 10).isEmpty)
        try connection.execute("COMMIT")
        let changes = try await store.changes(after: 2, in: trees, limit: 10)
        #expect(changes.map(\.generation) == [3, 3, 3], "what one transaction did is one generation")
        #expect(changes.map(\.operation) == [.update, .delete, .add])
        #expect(changes.first?.changedFields == ["species"])
        #expect(try await store.count(FeatureQuery(), in: trees) == 3)
        let records = try await store.records(FeatureQuery(), in: trees)
        #expect(records.map { $0.attributes["species"] } == [.text("Quercus"), .text("Salix"), .text("Pinus")])
        #expect(records.allSatisfy { $0.globalID != nil }, "rows of others are given global ids")
        let history = try await store.history(of: .objectID(1), in: trees)
        #expect(history.map { $0.record.attributes["species"] } == [.text("Acer")])
        try await store.close()
    }

    @Test("A database that was not prepared is refused, and one may be prepared twice")
    func preparation() async throws {
        let server = try await TemporaryPostgres.shared.value
        await #expect(throws: StoreError.self) { try await PostgresStore.open(server.address(database: "postgres")) }
        try await PostgresStore.initialize(address)
        let again = try await PostgresStore.open(address)
        #expect(try await again.serviceNames() == [name])
        try await again.close()
        try await store.close()
    }

    @Test("A definition that the store can't keep is refused, and nothing of it stays")
    func refusals() async throws {
        var definition = PostgresTrees.definition(ServiceName(name: "Names"))
        definition.layers[0].fields.append(FieldDefinition(name: String(repeating: "n", count: 64), type: .string))
        await #expect(throws: StoreError.self) { try await store.createService(definition) }
        definition.layers[0].fields[3] = FieldDefinition(name: "ctid", type: .string)
        await #expect(throws: StoreError.self) { try await store.createService(definition) }
        #expect(try await store.serviceNames() == [name])
        #expect(try service.connection().integer("SELECT 1 FROM pg_namespace WHERE nspname = 'names'") == nil)
        try await store.close()
    }

    @Test("A connection that breaks between edits is made anew")
    func brokenConnection() async throws {
        _ = try await store.apply(batch([PostgresTrees.tree("Acer")]), to: name)
        try service.connection().execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        // The first statement on a broken connection finds out; from then on it is a new one.
        _ = try? await store.apply(batch([PostgresTrees.tree("Tilia")]), to: name)
        let result = try await store.apply(batch([PostgresTrees.tree("Salix")]), to: name)
        #expect(result.layers.first?.adds.first?.isSuccess == true)
        try await store.close()
    }

    /// Ends the sessions of all others once the state that is read is fixed.
    private struct Breaker: ChangeSink {
        let address: String

        mutating func begin(generation: Int64) throws {
            try PostgresConnection(PostgresSettings(address)).execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        }

        mutating func beginLayer(_ layer: LayerDefinition, delta: LayerDelta?) throws {}
        mutating func encoder(
            for kind: ChangedFeatures, of layer: LayerDefinition, query: FeatureQuery
        ) throws -> FeatureListEncoder? { nil }
        mutating func features(_ bytes: [UInt8]) throws {}
        mutating func endFeatures(_ kind: ChangedFeatures) throws {}
        mutating func endLayer(_ layer: LayerDefinition) throws {}
        mutating func end() throws {}
    }

    @Test("A reader whose connection breaks over a replica reads again")
    func brokenSnapshot() async throws {
        let request = ChangeRequest(layers: [ChangeRequest.Layer(layerID: 0, since: 0)], rows: [:])
        let refusal = await #expect(throws: StoreError.self) {
            _ = try await store.extract(request, from: name, into: Breaker(address: address))
        }
        #expect(refusal?.code == .busy)
        #expect(try await store.count(FeatureQuery(), in: trees) == 0)
        try await store.close()
    }
}
