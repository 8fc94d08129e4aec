import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

@testable import Fieldwork

/// Edits that other programs make in an offline file while it is closed.
@Suite(
    "Edits of other programs in an offline file", .fewAtATime,
    .enabled(if: Outsider.isInstalled, "Python, which plays the other program, is not installed."))
struct OutsideEditsTests {
    @Test("Inserts, updates, moves and deletes in the closed file are noticed and synced once")
    func synced() async throws {
        try await OfflineService.with { service in
            var geodatabase = try await service.takeOffline("one")
            let file = geodatabase.fileURL
            geodatabase.close()
            try Outsider.run(
                """
                INSERT INTO "Damage to Residential Buildings" (primcause, typdamage, geom)
                    SELECT 'From outside', 'Major', geom FROM "Damage to Residential Buildings" WHERE numoccup = 4;
                UPDATE "Damage to Residential Buildings" SET typdamage = 'Destroyed' WHERE numoccup = 1;
                UPDATE "Damage to Residential Buildings" SET geom =
                    (SELECT geom FROM "Damage to Residential Buildings" WHERE numoccup = 5) WHERE numoccup = 2;
                DELETE FROM "Damage to Residential Buildings" WHERE numoccup = 3;
                """, on: file)
            // Meanwhile somebody changes another field of the same feature.
            let row = try #require(
                try await service.rows().first { $0.attributes["primcause"] == .text("Cause 1") })
            _ = try await service.store.apply(
                EditBatch(
                    layers: [
                        LayerEdits(
                            layerID: 0,
                            updates: [FeatureEdit(objectID: row.objectID, attributes: [("numoccup", .integer(11))])])
                    ], moment: Date.now), to: service.name)

            geodatabase = Geodatabase(fileURL: file)
            try await geodatabase.load()
            #expect(geodatabase.hasLocalEdits)
            let differences = try await geodatabase.differences()
            #expect(differences.count { $0.operation == .add } == 1)
            #expect(differences.count { $0.operation == .update } == 2)
            #expect(differences.count { $0.operation == .delete } == 1)
            #expect(try await service.sync(geodatabase).isEmpty)
            #expect(!geodatabase.hasLocalEdits)
            try await service.sync(geodatabase)

            #expect(try await service.rows().count == 20)
            let damage = try await service.served("typdamage")
            #expect(damage["From outside"] == .text("Major") && damage["Cause 1"] == .text("Destroyed"))
            #expect(damage["Cause 3"] == nil)
            #expect(try await service.served("numoccup")["Cause 1"] == .integer(11))
            let moved = try #require(try await service.rows().first { $0.attributes["primcause"] == .text("Cause 2") })
            #expect(moved.geometry == OfflineService.place(5))
            #expect(try await geodatabase.damage("Cause 1")?.attributes["numoccup"] as? Int16 == 11)
        }
    }

    @Test("A feature that got another object id stays itself, and one in the place of another is another")
    func identities() async throws {
        try await OfflineService.with { service in
            var geodatabase = try await service.takeOffline("one")
            let file = geodatabase.fileURL
            geodatabase.close()
            try Outsider.run(
                """
                UPDATE "Damage to Residential Buildings" SET OBJECTID = 900, typdamage = 'Affected' WHERE numoccup = 1;
                CREATE TEMP TABLE place AS
                    SELECT OBJECTID AS id, geom FROM "Damage to Residential Buildings" WHERE numoccup = 2;
                DELETE FROM "Damage to Residential Buildings" WHERE numoccup = 2;
                INSERT INTO "Damage to Residential Buildings" (OBJECTID, primcause, geom)
                    SELECT id, 'In its place', geom FROM place;
                """, on: file)
            geodatabase = Geodatabase(fileURL: file)
            try await geodatabase.load()
            let before = Set(try await service.rows().compactMap(\.globalID))
            #expect(try await service.sync(geodatabase).isEmpty)
            let damage = try await service.served("typdamage")
            #expect(damage.count == 20 && damage["Cause 1"] == .text("Affected"))
            #expect(damage["Cause 2"] == nil && damage["In its place"] != nil)
            let after = Set(try await service.rows().compactMap(\.globalID))
            // One feature is gone, another has come; the one with the other object id is the same.
            #expect(before.subtracting(after).count == 1 && after.subtracting(before).count == 1)
            try await service.sync(geodatabase)
            #expect(try await geodatabase.damages.queryFeatureCount(using: QueryParameters()) == 10)
        }
    }

    @Test("Of features that were put one into the place of another, all that are gone are deleted in the service")
    func replaced() async throws {
        try await OfflineService.with { service in
            var geodatabase = try await service.takeOffline("one")
            let file = geodatabase.fileURL
            geodatabase.close()
            try Outsider.run(
                """
                CREATE TEMP TABLE place AS SELECT OBJECTID AS id, numoccup AS number, geom
                    FROM "Damage to Residential Buildings" WHERE numoccup IN (1, 2, 3);
                DELETE FROM "Damage to Residential Buildings" WHERE numoccup IN (1, 2, 3);
                INSERT INTO "Damage to Residential Buildings" (OBJECTID, primcause, geom)
                    SELECT id, 'Instead of ' || number, geom FROM place;
                """, on: file)
            geodatabase = Geodatabase(fileURL: file)
            try await geodatabase.load()
            #expect(try await service.sync(geodatabase).isEmpty)
            let served = try await service.served("typdamage")
            #expect(served.count == 20)
            for number in 1...3 {
                #expect(served["Cause \(number)"] == nil && served["Instead of \(number)"] != nil)
            }
        }
    }

    @Test(
        "What ogr2ogr appends arrives, with ids of its own",
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/ogr2ogr"), "ogr2ogr isn't installed"))
    func appended() async throws {
        try await OfflineService.with { service in
            var geodatabase = try await service.takeOffline("one")
            let file = geodatabase.fileURL
            geodatabase.close()
            let source = service.folder.appending(path: "more.geojson")
            let text = """
                {"type":"FeatureCollection","features":[{"type":"Feature","properties":{"primcause":"Appended"},
                "geometry":{"type":"Point","coordinates":[-97.0185,37.4299]}}]}
                """
            try Data(text.utf8).write(to: source)
            let arguments = [
                "-update", "-append", "-f", "GPKG", "-t_srs", "EPSG:3857", "-nln", "Damage to Residential Buildings",
                file.path, source.path,
            ]
            #expect(try ChildProcess.run("/usr/bin/ogr2ogr", arguments).status == 0)
            geodatabase = Geodatabase(fileURL: file)
            #expect(try await service.sync(geodatabase).isEmpty)
            let rows = try await service.rows().filter { $0.attributes["primcause"] == .text("Appended") }
            #expect(rows.count == 1 && rows.first?.globalID != nil)
        }
    }
}
