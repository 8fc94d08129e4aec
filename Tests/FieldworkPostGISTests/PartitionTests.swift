import FieldworkPostGIS
import FieldworkREST
import Foundation
import TemporaryPostgres
import TestSupport
import Testing

@testable import FieldworkStore

/// A layer whose table is kept in PostgreSQL's partitions is what it was before, to everybody.
@Suite(
    "Layers in partitions", .fewAtATime, .enabled(if: TemporaryPostgres.isInstalled, "PostgreSQL 15 is not installed."))
struct PartitionTests {
    private let service: PostgresTrees
    private var store: PostgresStore { service.store }
    private var name: ServiceName { service.name }
    private var trees: LayerAddress { service.layer }

    init() async throws {
        service = try await PostgresTrees(hasAttachments: true)
        let species = ["Acer", "Tilia", "Quercus"]
        try await service.apply(adds: (0..<60).map { PostgresTrees.tree(species[$0 % 3], x: Double($0)) })
    }

    /// What stands in the table, seen by another program.
    private func rows() throws -> String? {
        try service.connection().text(
            """
            SELECT string_agg("OBJECTID" || species || "GlobalID" || ST_AsText(geom), ' ' ORDER BY "OBJECTID") FROM "Trees"
            """)
    }

    @Test("Rows, ids and answers are the same in parts, and in one piece again")
    func sameness() async throws {
        let query = FeatureQuery(condition: .binary(.equal, .field("species"), .literal(.string("Tilia"))))
        let rows = try rows()
        let answer = try await store.records(query, in: trees)
        #expect(answer.count == 20)
        let generation = try await store.generation(of: name)
        for parts in [4, 7, 1, 3] {
            try await store.partition(trees, into: parts)
            #expect(try await store.parts(of: trees) == parts)
            #expect(try self.rows() == rows)
            #expect(try await store.records(query, in: trees).map(\.globalID) == answer.map(\.globalID))
            #expect(try await store.check() == [])
        }
        #expect(try await store.generation(of: name) == generation)
        let other = try service.connection()
        #expect(try other.integer("SELECT count(DISTINCT tableoid) FROM \"Trees\"") == 3)
        // An id leads to one part, without a look at the others.
        var plan: [String] = []
        try other.run("EXPLAIN SELECT * FROM \"Trees\" WHERE \"OBJECTID\" = 7", row: { plan.append($0.text(0)) })
        #expect(!plan.isEmpty && !plan.joined().contains("Append"))
        try await store.close()
    }

    @Test("Edits of ours and of other programs are logged, their history is kept, and ids go on")
    func edits() async throws {
        try await store.partition(trees, into: 5)
        let before = try await store.generation(of: name)
        let added = try await service.apply(adds: [PostgresTrees.tree("Pinus")]).adds.first
        #expect(added?.objectID == 61)
        try await service.apply(
            updates: [FeatureEdit(objectID: 2, attributes: [("species", .text("Salix"))])], deletes: [3])
        try service.connection().execute(
            """
            UPDATE "Trees" SET species = 'Fagus' WHERE "OBJECTID" = 4;
            INSERT INTO "Trees" (species) VALUES ('Ulmus');
            DELETE FROM "Trees" WHERE "OBJECTID" = 5
            """)
        let changes = try await store.changes(after: before, in: trees, limit: 100)
        #expect(changes.map(\.objectID).sorted() == [2, 3, 4, 5, 61, 62])
        #expect(try await store.count(FeatureQuery(), in: trees) == 60)
        for (id, species) in [(Int64(2), "Tilia"), (3, "Quercus"), (4, "Acer"), (5, "Tilia")] {
            let history = try await store.history(of: .objectID(id), in: trees)
            #expect(history.map { $0.record.attributes["species"] } == [.text(species)])
        }
        #expect(try await store.check() == [])
        try await store.close()
    }

    @Test("A global id is there once, whoever brings it a second time, and is free after a delete")
    func globalIDs() async throws {
        let id = UUID()
        try await store.partition(trees, into: 4)
        #expect(
            try await service.apply(adds: [PostgresTrees.tree("Pinus", globalID: id)], usesGlobalIDs: true).adds.first?
                .isSuccess == true)
        for _ in 0..<4 {
            // The same id comes to any of the parts.
            let again = try await service.apply(adds: [PostgresTrees.tree("Pinus", globalID: id)], usesGlobalIDs: true)
                .adds.first
            #expect(again?.isSuccess == false)
        }
        #expect(try await store.count(FeatureQuery(), in: trees) == 61)
        let other = try service.connection()
        #expect(throws: PostgresError.self) {
            try other.execute("INSERT INTO \"Trees\" (\"GlobalID\") SELECT \"GlobalID\" FROM \"Trees\" LIMIT 1")
        }
        try await service.apply(deletes: [61])
        #expect(
            try await service.apply(adds: [PostgresTrees.tree("Pinus", globalID: id)], usesGlobalIDs: true).adds.first?
                .isSuccess == true)
        #expect(try await store.check() == [])
        try other.execute("ALTER TABLE \"Trees\" DISABLE TRIGGER fieldwork_0_global_id")
        try other.execute("INSERT INTO \"Trees\" (species) VALUES ('Ulmus')")
        #expect(try await store.check().count == 2)
        try await store.close()
    }

    @Test("Who reads one state of the service sees the layer whole, begun before a copy or during it")
    func longReads() async throws {
        let source = try await store.data(of: name).source
        let count: @Sendable (StoreConnection) throws -> Int64? = { try $0.integer("SELECT count(*) FROM \"Trees\"") }
        let address = service.address
        // How many sessions wait for a lock of a table.
        let waiting: @Sendable () throws -> Int64 = {
            try PostgresConnection(PostgresSettings(address)).integer(
                """
                SELECT count(*) FROM pg_locks AS l JOIN pg_database AS d ON d.oid = l.database
                WHERE NOT l.granted AND l.locktype = 'relation' AND d.datname = current_database()
                """) ?? 0
        }
        func untilWaiting(_ count: Int64) async throws {
            while try waiting() < count { try await Task.sleep(for: .milliseconds(10)) }
        }
        let reader = try source.open(.readOnly)
        try reader.execute(reader.dialect.beginReading)
        // The state that it sees begins with this.
        #expect(try reader.integer("SELECT generation FROM fieldwork_state") == 1)
        let partitioning = Task { try await store.partition(trees, into: 4) }
        try await untilWaiting(1)
        // The rows are copied; the layer is read as ever.
        #expect(try await store.count(FeatureQuery(), in: trees) == 60)
        let second = Task { try await OneTimeWorker().run { try source.readOneState(count) } }
        try await untilWaiting(2)
        #expect(try count(reader) == 60)
        try reader.rollBack()
        try await partitioning.value
        #expect(try await second.value == 60)
        #expect(try await store.parts(of: trees) == 4)
        // Without the announcement a reader would find nothing.
        try reader.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        #expect(try reader.integer("SELECT generation FROM fieldwork_state") == 1)
        try await store.partition(trees, into: 1)
        #expect(try count(reader) == 0)
        try reader.rollBack()
        #expect(try count(reader) == 60)
        try await store.close()
    }

    @Test("A sync that waits too long for a copy is told so, and the next one is answered")
    func impatientReads() async throws {
        var settings = try PostgresSettings(service.address)
        settings.lockMilliseconds = 20
        let impatient = try await PostgresStore(connect: PostgresStore.sessions(settings))
        let other = try service.connection()
        try other.execute("BEGIN; LOCK TABLE fieldwork_long_reads IN ACCESS EXCLUSIVE MODE")
        let request = ChangeRequest(layers: [], rows: [:])
        for _ in 0..<2 {
            let refusal = await #expect(throws: StoreError.self) {
                try await impatient.extract(request, from: name, into: GenerationSink())
            }
            #expect(refusal?.code == .busy)
        }
        try other.execute("ROLLBACK")
        #expect(try await impatient.extract(request, from: name, into: GenerationSink()).generation == 1)
        try await impatient.close()
        try await store.close()
    }

    @Test("Attachments stay with their features, and another object id is refused: they would go")
    func attachments() async throws {
        let content = AttachmentContent(bytes: Array("a photo".utf8))
        try await service.apply(photos: [
            AttachmentEdit(parent: .objectID(9), name: "a.jpg", keywords: "", content: content)
        ])
        try await store.partition(trees, into: 4)
        let query = AttachmentQuery()
        #expect(try await store.attachments(query, in: trees).attachments.count == 1)
        let refusal = #expect(throws: PostgresError.self) {
            try service.connection().execute("UPDATE \"Trees\" SET \"OBJECTID\" = 900 WHERE \"OBJECTID\" = 9")
        }
        #expect(refusal?.message.contains("can't change") == true)
        #expect(try await store.attachments(query, in: trees).attachments.count == 1)
        try await service.apply(deletes: [9])
        #expect(try await store.attachments(query, in: trees).attachments.isEmpty)
        #expect(try await store.check() == [])
        try await store.close()
    }

    @Test("Rights on the table and its columns stay, and what can't be kept is refused with nothing changed")
    func rightsAndRefusals() async throws {
        let other = try service.connection()
        let (reader, writer) = ("reader_\(UUID().uuidString.prefix(8))", "writer_\(UUID().uuidString.prefix(8))")
        for role in [reader, writer] { try other.execute("CREATE ROLE \"\(role)\"") }
        try other.execute(
            """
            GRANT SELECT ON "Trees" TO "\(reader)" WITH GRANT OPTION;
            GRANT UPDATE (species) ON "Trees" TO "\(writer)"
            """)
        try await store.partition(trees, into: 2)
        let kept = try other.integer(
            """
            SELECT (has_table_privilege('\(reader)', '"Trees"', 'SELECT WITH GRANT OPTION')
                AND has_column_privilege('\(writer)', '"Trees"', 'species', 'UPDATE')
                AND NOT has_table_privilege('\(writer)', '"Trees"', 'UPDATE'))::int::bigint
            """)
        #expect(kept == 1)
        try await store.partition(trees, into: 1)
        try other.execute("GRANT ALL ON SCHEMA trees TO \"\(reader)\"; ALTER TABLE \"Trees\" OWNER TO \"\(reader)\"")
        let foreign = await #expect(throws: StoreError.self) { try await store.partition(trees, into: 2) }
        #expect(foreign?.message.contains(reader) == true)
        try other.execute("ALTER TABLE \"Trees\" OWNER TO fieldwork")
        try other.execute("CREATE VIEW seen AS SELECT * FROM \"Trees\"")
        let inUse = await #expect(throws: StoreError.self) { try await store.partition(trees, into: 2) }
        #expect(inUse?.message.contains("something else") == true)
        try other.execute("DROP VIEW seen; CREATE UNIQUE INDEX once ON \"Trees\" (geom)")
        let unique = await #expect(throws: StoreError.self) { try await store.partition(trees, into: 2) }
        #expect(unique?.code == .invalidDefinition)
        for parts in [0, Limits.partitions + 1] {
            await #expect(throws: StoreError.self) { try await store.partition(trees, into: parts) }
        }
        let nowhere = LayerAddress(service: name, layerID: 9)
        let missing = await #expect(throws: StoreError.self) { try await store.partition(nowhere, into: 2) }
        #expect(missing?.code == .layerNotFound)
        #expect(try await store.parts(of: trees) == 1)
        #expect(try await store.check() == [])
        for role in [reader, writer] { try other.execute("DROP OWNED BY \"\(role)\"; DROP ROLE \"\(role)\"") }
        try other.execute("DROP INDEX once")
        try await store.partition(trees, into: Limits.partitions)
        #expect(try await store.count(FeatureQuery(), in: trees) == 60)
        try await store.close()
    }

    @Test("The definition changes as before, and a layer goes with all that it was given")
    func definitionChanges() async throws {
        try await store.partition(trees, into: 3)
        var wanted = try await store.service(name)
        wanted.layers[0].fields.append(FieldDefinition(name: "height", type: .double))
        try await store.updateService(wanted, allowing: .additions, replacing: nil)
        try await service.apply(updates: [FeatureEdit(objectID: 1, attributes: [("height", .real(7))])])
        #expect(
            try await store.records(FeatureQuery(objectIDs: [1]), in: trees).first?.attributes["height"] == .real(7))
        wanted = try await store.service(name)
        wanted.layers[0].fields.removeAll { $0.name == "species" }
        try await store.updateService(wanted, allowing: [.additions, .removals], replacing: nil)
        #expect(try await store.check() == [])
        wanted = try await store.service(name)
        wanted.layers = []
        try await store.updateService(wanted, allowing: [.additions, .removals], replacing: nil)
        let left = try service.connection().text(
            """
            SELECT string_agg(relname, ' ') FROM pg_class WHERE relnamespace = 'trees'::regnamespace
                AND (relname LIKE 'Trees%' OR relname LIKE 'fieldwork_global_ids%') AND relkind IN ('r', 'p')
            """)
        #expect(left == nil)
        try await store.close()
    }
}

/// Hears of which generation a document is, and of nothing else.
private struct GenerationSink: ChangeSink {
    var generation: Int64?

    mutating func begin(generation: Int64) { self.generation = generation }
    func beginLayer(_ layer: LayerDefinition, delta: LayerDelta?) {}
    func encoder(
        for kind: ChangedFeatures, of layer: LayerDefinition, query: FeatureQuery
    ) throws -> JSONFeatureEncoder? { nil }
    func features(_ bytes: [UInt8]) {}
    func endFeatures(_ kind: ChangedFeatures) {}
    func beginAttachments(_ kind: ChangedFeatures) {}
    func attachment(_ info: AttachmentInfo, content: (_ take: ([UInt8]) throws -> Void) throws -> Void) {}
    func deletedAttachments(_ globalIDs: [UUID]) {}
    func endLayer(_ layer: LayerDefinition) {}
    func end() {}
}
