import FieldworkGeometry
import FieldworkPostGIS
import FieldworkREST
import FieldworkStore
import Foundation
import TemporaryPostgres
import TestSupport
import Testing

/// Tables that somebody else made and goes on using, as layers.
@Suite(
    "Tables published in place", .fewAtATime,
    .enabled(if: TemporaryPostgres.isInstalled, "PostgreSQL 15 is not installed."))
struct PlacedTableTests {
    private let address: String
    private let store: PostgresStore
    private let other: PostgresConnection
    private let name = ServiceName(name: "Parcels")
    private var parcels: LayerAddress { LayerAddress(service: name, layerID: 0) }

    init() async throws {
        address = try await TemporaryPostgres.shared.value.storeAddress()
        store = try await PostgresStore.open(address)
        other = try PostgresConnection(PostgresSettings(address))
        try other.execute(
            """
            CREATE SCHEMA land;
            CREATE TYPE land.use AS ENUM ('field', 'forest');
            CREATE TABLE land.parcels (
                id serial PRIMARY KEY, owner varchar(20) NOT NULL, area numeric(12, 4), floors smallint DEFAULT 1,
                people bigint, ratio real, is_public boolean, surveyed timestamp, changed timestamptz, opened date,
                closes time, deed uuid, use land.use, scan bytea, tags text[], doubled integer GENERATED ALWAYS AS (id * 2) STORED,
                shape geometry(Polygon, 3857));
            INSERT INTO land.parcels (owner, area, people, ratio, is_public, surveyed, changed, opened, closes, deed, use, tags, shape)
            VALUES ('Ada', 12.3456, 5000000000, 0.5, true, '2026-01-02 03:04:05.678901', '2026-01-02 03:04:05+00', '2026-03-04',
                '08:30', '8d2b5f0e-0000-4000-8000-0123456789ab', 'forest', '{a,b}',
                ST_GeomFromText('POLYGON((0 0,10 0,10 10,0 10,0 0))', 3857)),
                ('Bob', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)
            """)
    }

    @discardableResult
    private func publish(globalIDs: Bool = false) async throws -> PlacedPublication {
        try await store.publish(
            table: "land.parcels", as: name, layerName: "Parcels", addsGlobalIDs: globalIDs)
    }

    private func apply(_ edits: LayerEdits) async throws -> EditBatchResult {
        try await store.apply(EditBatch(layers: [edits], editor: "ada", moment: .now), to: name)
    }

    private func polygon(_ size: Double, parts: Int = 1) throws -> Geometry {
        let rings = (0..<parts).map { part in
            let x = Double(part) * 100
            return [[x, 0], [x, size], [x + size, size], [x + size, 0], [x, 0]]
        }
        let json = "{\"rings\":\(rings),\"spatialReference\":{\"wkid\":3857}}"
        return try Polygon.fromJSON(Data(json.utf8))
    }

    /// What the catalogue of the database says of the user's table.
    private func description() throws -> String {
        try other.text(
            """
            SELECT concat_ws(chr(10),
                (SELECT string_agg(attname || ' ' || format_type(atttypid, atttypmod), ',' ORDER BY attnum) FROM pg_attribute
                    WHERE attrelid = 'land.parcels'::regclass AND attnum > 0 AND NOT attisdropped),
                (SELECT string_agg(tgname, ',' ORDER BY tgname) FROM pg_trigger WHERE tgrelid = 'land.parcels'::regclass),
                (SELECT string_agg(indexname, ',' ORDER BY indexname) FROM pg_indexes WHERE schemaname = 'land'))
            """) ?? ""
    }

    @Test("Native types are fields, and their values those that a service of ours would give")
    func values() async throws {
        let publication = try await publish()
        #expect(publication.featureCount == 2)
        #expect(publication.leftOut == ["tags"])
        let definition = try await store.service(name)
        let layer = try #require(definition.layers.first)
        #expect(layer.geometryType == .polygon)
        #expect(layer.objectIDField == "id")
        #expect(layer.field(named: "owner")?.length == 20)
        #expect(layer.field(named: "owner")?.isNullable == false)
        #expect(layer.field(named: "doubled")?.isEditable == false)
        let record = try #require(try await store.records(FeatureQuery(objectIDs: [1]), in: parcels).first)
        let expected: [String: AttributeValue] = [
            "owner": .text("Ada"), "area": .real(12.3456), "floors": .integer(1), "people": .integer(5_000_000_000),
            "ratio": .real(0.5), "is_public": .integer(1), "surveyed": .integer(1_767_323_045_678),
            "changed": .integer(1_767_323_045_000), "opened": .text("2026-03-04"), "closes": .text("08:30:00.000"),
            "deed": .text("{8D2B5F0E-0000-4000-8000-0123456789AB}"), "use": .text("forest"), "doubled": .integer(2),
        ]
        for (field, value) in expected { #expect(record.attributes[field] == value, "\(field)") }
        #expect((record.geometry as? Polygon)?.extent.xMax == 10)
        try await store.close()
    }

    @Test("Conditions on fields of each type find their rows")
    func conditions() async throws {
        try await publish()
        for text in [
            "owner = 'Ada'", "area > 12", "floors = 1 AND people > 4999999999", "is_public = 1", "use = 'forest'",
            "opened < '2026-04-01'", "deed = '{8D2B5F0E-0000-4000-8000-0123456789AB}'", "id < 2 AND owner LIKE 'A%'",
            "surveyed > TIMESTAMP '2026-01-01 00:00:00' AND MOD(doubled, 2) = 0",
        ] {
            let query = FeatureQuery(condition: try SQLParser.parse(where: text))
            #expect(try await store.objectIDs(query, in: parcels).contains(1), "\(text)")
        }
        try await store.close()
    }

    @Test("Edits reach the table in its own types, and leave what they don't name as it was")
    func edits() async throws {
        try await publish()
        var edits = LayerEdits(layerID: 0)
        edits.updates = [FeatureEdit(objectID: 1, attributes: [("owner", .text("Eve"))])]
        edits.adds = [
            FeatureEdit(
                attributes: [
                    ("owner", .text("Cyd")), ("area", .real(1.5)), ("is_public", .integer(0)),
                    ("opened", .text("2026-05-06")),
                    ("surveyed", .integer(1_767_323_045_678)), ("use", .text("field")),
                ], geometry: .geometry(try polygon(7)))
        ]
        let result = try await apply(edits)
        #expect(!result.hasErrors)
        #expect(result.layers.first?.adds.first?.objectID == 3)
        let row = try other.text(
            """
            SELECT concat_ws('|', owner, area, floors, is_public, opened, surveyed, use, GeometryType(shape), ST_Area(shape))
            FROM land.parcels WHERE id = 3
            """)
        #expect(row == "Cyd|1.5000|1|f|2026-05-06|2026-01-02 03:04:05.678|field|POLYGON|49")
        #expect(
            try other.text("SELECT concat_ws('|', owner, surveyed, tags, area) FROM land.parcels WHERE id = 1")
                == "Eve|2026-01-02 03:04:05.678901|{a,b}|12.3456")
        // What the table refuses is an edit's failure, and no more.
        var refused = LayerEdits(layerID: 0, deletes: .features([.objectID(2)]))
        refused.updates = [
            FeatureEdit(objectID: 1, geometry: .geometry(try polygon(5, parts: 2))),
            FeatureEdit(objectID: 3, attributes: [("use", .text("sea"))]),
        ]
        let answer = try await store.apply(
            EditBatch(layers: [refused], rollsBackOnFailure: false, moment: .now), to: name)
        #expect(answer.layers.first?.updates.map(\.isSuccess) == [false, false])
        #expect(answer.layers.first?.deletes.map(\.isSuccess) == [true])
        #expect(try other.integer("SELECT count(*) FROM land.parcels") == 2)
        #expect(try await store.count(FeatureQuery(), in: parcels) == 2)
        #expect(try await store.check() == [])
        try await store.close()
    }

    @Test("What another program writes is in the change log and the history, whatever its time zone is")
    func otherPrograms() async throws {
        try await publish()
        let generation = try await store.generation(of: name)
        try other.execute(
            """
            SET timezone = 'Pacific/Auckland';
            BEGIN;
            UPDATE land.parcels SET owner = 'Zoe', tags = '{c}' WHERE id = 1;
            INSERT INTO land.parcels (owner) VALUES ('Dan');
            DELETE FROM land.parcels WHERE id = 2;
            COMMIT
            """)
        let changes = try await store.changes(after: generation, in: parcels, limit: 10)
        #expect(changes.map(\.objectID).sorted() == [1, 2, 3])
        #expect(Set(changes.map(\.generation)) == [generation + 1])
        #expect(changes.first { $0.objectID == 1 }?.changedFields == ["owner"])
        let version = try #require(try await store.history(of: .objectID(1), in: parcels).first)
        #expect(version.record.attributes["surveyed"] == .integer(1_767_323_045_678))
        #expect(version.record.attributes["is_public"] == .integer(1))
        #expect(version.record.attributes["owner"] == .text("Ada"))
        // Of a column that is no field nobody is told.
        try other.execute("UPDATE land.parcels SET tags = '{d}'")
        #expect(try await store.generation(of: name) == generation + 1)
        #expect(throws: PostgresError.self) { try other.execute("TRUNCATE land.parcels") }
        #expect(try await store.check() == [])
        try await store.close()
    }

    /// A connection of somebody who may write to the table, and has no right on anything of ours.
    private func stranger() throws -> PostgresConnection {
        let role = "stranger_\(UUID().uuidString.lowercased().replacing("-", with: ""))"
        try other.execute(
            """
            CREATE ROLE \(role) LOGIN; GRANT USAGE ON SCHEMA land TO \(role);
            GRANT SELECT, INSERT, UPDATE, DELETE ON land.parcels TO \(role);
            GRANT USAGE ON SEQUENCE land.parcels_id_seq TO \(role);
            CREATE SCHEMA \(role) AUTHORIZATION \(role)
            """)
        return try PostgresConnection(PostgresSettings(address.replacing("//fieldwork@", with: "//\(role)@")))
    }

    @Test("Who may write to the table needs no right on what is logged of it, and gets none", arguments: [false, true])
    func strangers(isOlder: Bool) async throws {
        try await publish()
        if isOlder {
            try other.execute(
                """
                ALTER FUNCTION parcels.fieldwork_0_log() SECURITY INVOKER RESET search_path;
                GRANT EXECUTE ON FUNCTION parcels.fieldwork_0_log() TO PUBLIC
                """)
            try await PostgresStore.initialize(address)
        }
        let stranger = try stranger()
        let generation = try await store.generation(of: name)
        // What stands first in his path does not stand in for what the log means.
        let role = try #require(try stranger.text("SELECT current_user::text"))
        try stranger.execute(
            """
            CREATE FUNCTION \(role).clock_timestamp () RETURNS timestamptz LANGUAGE plpgsql
                AS $$ BEGIN RAISE EXCEPTION 'caught'; END $$;
            SET search_path = \(role), pg_catalog, public
            """)
        try stranger.execute(
            """
            BEGIN; INSERT INTO land.parcels (owner) VALUES ('Dan'); UPDATE land.parcels SET owner = 'Zoe' WHERE id = 1;
            DELETE FROM land.parcels WHERE id = 2; COMMIT
            """)
        let changes = try await store.changes(after: generation, in: parcels, limit: 10)
        #expect(changes.map(\.objectID).sorted() == [1, 2, 3])
        #expect(
            try await store.history(of: .objectID(1), in: parcels).first?.record.attributes["owner"] == .text("Ada"))
        try other.execute("GRANT USAGE ON SCHEMA parcels TO \(role)")
        for sql in [
            "SELECT * FROM parcels.fieldwork_state", "UPDATE parcels.fieldwork_state SET generation = 0",
            "SELECT * FROM parcels.fieldwork_history_0",
            """
            CREATE TEMPORARY TABLE forged (id bigint);
            CREATE TRIGGER forge AFTER INSERT ON forged FOR EACH ROW EXECUTE FUNCTION parcels.fieldwork_0_log()
            """,
        ] {
            let refusal = #expect(throws: PostgresError.self, "\(sql)") { try stranger.execute(sql) }
            #expect(refusal?.state == "42501", "\(sql)")
        }
        #expect(try await store.check() == [])
        try await store.close()
    }

    @Test("A table with global ids serves replicas; unpublishing leaves it as it was, with the rows that it has now")
    func takingBack() async throws {
        let before = try description()
        let publication = try await publish(globalIDs: true)
        #expect(publication.added == ["the column globalid", "an index on id"])
        await #expect(throws: StoreError.self) { try await publish() }
        try other.execute("INSERT INTO land.parcels (owner) VALUES ('Dan')")
        let records = try await store.records(FeatureQuery(), in: parcels)
        #expect(Set(records.compactMap(\.globalID)).count == 3)
        let replica = try await store.registerReplica(
            ReplicaDefinition(
                id: UUID(), name: "phone", layers: [ReplicaLayer(layerID: 0)], created: .now), of: name, generation: nil
        )
        await #expect { try await store.unpublish(name) } throws: { ($0 as? StoreError)?.code == .busy }
        _ = try await store.retireReplica(replica.definition.id, of: name)
        try await store.unpublish(name)
        #expect(try description() == before)
        #expect(try other.integer("SELECT count(*) FROM land.parcels") == 3)
        #expect(try other.integer("SELECT count(*) FROM pg_namespace WHERE nspname = 'parcels'") == 0)
        #expect(try await store.serviceNames() == [])
        // And once more.
        #expect(try await publish().featureCount == 3)
        try await store.close()
    }

    @Test("Its looks can be changed, its columns are the table's affair")
    func definitions() async throws {
        try await publish()
        var definition = try await store.service(name)
        definition.layers[0].description = "Land"
        try await store.updateService(definition)
        #expect(try await store.service(name).layers.first?.description == "Land")
        // Indexes of somebody else's table are that one's affair: conditions find what they find without.
        let conditions = ["owner LIKE '%Ada%'", "opened LIKE '%2026-03%'", "UPPER(deed) LIKE '%8D2B5F0E%'"]
        func counts() async throws -> [Int] {
            var counts: [Int] = []
            for condition in conditions {
                let query = FeatureQuery(condition: try SQLParser.parse(where: condition))
                counts.append(try await store.count(query, in: parcels))
            }
            return counts
        }
        let before = try await counts()
        #expect(before.contains(1))
        definition.layers[0].unknownMembers["indexes"] = [
            ["name": "texts", "fields": "owner,opened,deed", "indexType": "FullText"]
        ]
        try await store.updateService(definition)
        #expect(try await counts() == before)
        #expect(try await store.indexes(of: parcels).allSatisfy { $0.maker != .texts })
        var wider = definition
        wider.layers[0].fields.append(FieldDefinition(name: "more", type: .string))
        await #expect(throws: StoreError.self) { try await store.updateService(wider, allowing: .addsFields) }
        var attached = definition
        attached.layers[0].hasAttachments = true
        await #expect(throws: StoreError.self) { try await store.updateService(attached) }
        try await store.close()
    }

    @Test(
        "What can't be a layer is refused, and nothing is left of the attempt",
        arguments: [
            ("land.nowhere", ""), ("land.t", "CREATE TABLE land.t (a int)"),
            ("land.t", "CREATE TABLE land.t (a int, b int, PRIMARY KEY (a, b))"),
            ("land.t", "CREATE TABLE land.t (a text PRIMARY KEY)"),
            ("land.t", "CREATE TABLE land.t (a int GENERATED ALWAYS AS IDENTITY PRIMARY KEY)"),
            ("land.t", "CREATE TABLE land.t (a int PRIMARY KEY, g geometry(GeometryCollection, 4326))"),
            ("land.t", "CREATE VIEW land.t AS SELECT * FROM land.parcels"),
        ])
    func refused(_ table: String, _ sql: String) async throws {
        if !sql.isEmpty { try other.execute(sql) }
        await #expect {
            _ = try await store.publish(table: table, as: name, layerName: "T", addsGlobalIDs: true)
        } throws: { ($0 as? StoreError)?.code == .invalidDefinition }
        #expect(try await store.serviceNames() == [])
        #expect(try other.integer("SELECT count(*) FROM pg_namespace WHERE nspname = 'parcels'") == 0)
        try await store.close()
    }

    @Test("Tables without a sequence, with an identity, and without a geometry")
    func keys() async throws {
        try other.execute(
            """
            CREATE TABLE land.plain (id bigint PRIMARY KEY, note text);
            INSERT INTO land.plain VALUES (4, 'four');
            CREATE TABLE public."Odd ""name" (id int GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, note text DEFAULT 'none')
            """)
        for (table, first) in [("land.plain", Int64(5)), ("Odd \"name", 1)] {
            let service = ServiceName(name: "Notes\(first)")
            _ = try await store.publish(table: table, as: service, layerName: "Notes", addsGlobalIDs: false)
            let edits = LayerEdits(
                layerID: 0, adds: [FeatureEdit(attributes: [("note", .text("new"))]), FeatureEdit()])
            if first == 5 { try other.execute("INSERT INTO land.plain VALUES (6, 'taken')") }
            let result = try await store.apply(EditBatch(layers: [edits], moment: .now), to: service)
            #expect(result.layers.first?.adds.map(\.objectID) == (first == 5 ? [5, 7] : [1, 2]))
            #expect(try await store.check() == [])
        }
        #expect(try other.text("SELECT note FROM public.\"Odd \"\"name\" WHERE id = 2") == "none")
        try await store.close()
    }
}
