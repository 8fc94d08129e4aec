import Fieldwork
import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

/// A geodatabase file on its own: its tables, edits and transactions.
@Suite("A geodatabase", .fewAtATime)
struct GeodatabaseTests {
    /// A folder with a file of sightings, as a replica would be without its service.
    private static func withFile(_ body: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "fieldwork-geodatabase-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = folder.appending(path: "bay.geodatabase")
        let birds = LayerDefinition(
            id: 0, name: "Birds", geometryType: .point, spatialReference: .webMercator,
            fields: [
                FieldDefinition(name: "OBJECTID", type: .oid, isNullable: false, isEditable: false),
                FieldDefinition(name: "GlobalID", type: .globalID, isEditable: false),
                FieldDefinition(
                    name: "kind", type: .integer,
                    domain: DomainDefinition(
                        name: "kinds",
                        kind: .codedValues([
                            .init(code: .integer(1), name: "Heron"), .init(code: .integer(2), name: "Pelican"),
                        ]))),
                FieldDefinition(name: "comments", type: .string, length: 20),
            ], globalIDField: "GlobalID", typeIDField: "kind",
            types: [
                FeatureTypeDefinition(
                    id: .integer(1), name: "Heron",
                    templates: [.init(name: "Heron", attributes: ["kind": .integer(1), "comments": .text("at dawn")])])
            ])
        let file = try await GeoPackageStore.createFile(
            at: url, definition: ServiceDefinition(name: ServiceName(name: "bay"), layers: [birds]))
        await file.close()
        try await body(url)
    }

    private func place(_ x: Double = -10_555_000, _ y: Double = 3_430_000) -> Point {
        Point(x: x, y: y, spatialReference: .webMercator)
    }

    private func opened(_ url: URL) async throws -> (Geodatabase, GeodatabaseFeatureTable) {
        let geodatabase = Geodatabase(fileURL: url)
        #expect(geodatabase.featureTables.isEmpty)
        try await geodatabase.load()
        return (geodatabase, try #require(geodatabase.featureTable(named: "Birds")))
    }

    @Test("Features are added from a type, changed, queried and deleted")
    func edits() async throws {
        try await Self.withFile { url in
            let (geodatabase, birds) = try await opened(url)
            #expect(!geodatabase.hasLocalEdits)
            let type = try #require(birds.featureTypes.first { $0.name == "Heron" })
            let feature = birds.makeFeature(type: type, geometry: place())
            try await birds.add(feature)
            #expect(feature.attributes["comments"] as? String == "at dawn")
            #expect(feature.attributes["OBJECTID"] as? Int64 == 1)
            #expect(geodatabase.hasLocalEdits)
            feature.setAttributeValue("two of them", forKey: "comments")
            feature.geometry = place(-10_556_000)
            try await birds.update(feature)
            let parameters = QueryParameters()
            parameters.whereClause = "comments LIKE 'two%'"
            parameters.addOrderByField(OrderBy(fieldName: "kind", sortOrder: .descending))
            let found = try await birds.queryFeatures(using: parameters).features()
            #expect(found.map { ($0.geometry as? Point)?.x } == [-10_556_000])
            #expect(try await birds.addedFeaturesCount() == 1)
            #expect(try await birds.updatedFeaturesCount() == 0)
            try await birds.delete(try #require(found.first { _ in true }))
            #expect(try await birds.queryFeatureCount(using: QueryParameters()) == 0)
            #expect(try await !birds.hasLocalEdits())
            geodatabase.close()
            await #expect(throws: GeodatabaseError.self) { try await birds.add(birds.makeFeature(geometry: place())) }
        }
    }

    @Test("A refused edit changes nothing and says why")
    func refusals() async throws {
        try await Self.withFile { url in
            let (geodatabase, birds) = try await opened(url)
            let unknown = birds.makeFeature(attributes: ["kind": Int32(7)], geometry: place())
            await #expect(throws: GeodatabaseError.self) { try await birds.add(unknown) }
            let long = birds.makeFeature(attributes: ["comments": String(repeating: "x", count: 21)], geometry: place())
            await #expect(throws: GeodatabaseError.self) {
                try await birds.add([birds.makeFeature(geometry: place()), long])
            }
            #expect(try await birds.queryFeatureCount(using: QueryParameters()) == 0)
            #expect(!geodatabase.hasLocalEdits)
        }
    }

    @Test("A box finds what an open transaction added, moved and deleted, and what is there when it is taken back")
    func boxesInTransactions() async throws {
        try await SightingsFile.with { url in
            let file = try await Sightings(url)
            func found(from first: Double, to last: Double) async throws -> Int {
                let parameters = QueryParameters()
                let (low, high) = (SightingsFile.place(first), SightingsFile.place(last))
                parameters.geometry = Envelope(
                    xMin: low.x - 0.5, yMin: low.y - 1, xMax: high.x + 0.5, yMax: high.y + 1,
                    spatialReference: .webMercator)
                return try await file.birds.queryFeatures(using: parameters).features().count { _ in true }
            }
            for x in 0..<5 { try await file.add("before \(x)", x: Double(x)) }
            try file.geodatabase.beginTransaction()
            // More than one node of the index holds.
            try await file.birds.add(
                (0..<200).map {
                    file.birds.makeFeature(
                        attributes: ["kind": Int32(1), "comments": "new \($0)"],
                        geometry: SightingsFile.place(Double(100 + $0)))
                })
            try await file.change("before 0", [:], x: 300)
            try await file.birds.delete(try #require(try await file.bird("before 1")))
            #expect(try await found(from: 100, to: 299) == 200)
            #expect(try await found(from: 150, to: 159) == 10)
            #expect(try await found(from: 0, to: 4) == 3)
            #expect(try await found(from: 300, to: 300) == 1)
            try file.geodatabase.rollbackTransaction()
            #expect(try await found(from: 100, to: 300) == 0)
            #expect(try await found(from: 0, to: 4) == 5)
            file.geodatabase.close()
        }
    }

    @Test("A transaction is kept as a whole or taken back as a whole, and its edits are seen inside it")
    func transactions() async throws {
        try await Self.withFile { url in
            let (geodatabase, birds) = try await opened(url)
            do {
                try geodatabase.commitTransaction()
                Issue.record("There was nothing to commit.")
            } catch GeodatabaseError.transactionNotStarted {}
            try geodatabase.beginTransaction()
            #expect(geodatabase.isInTransaction)
            do {
                try geodatabase.beginTransaction()
                Issue.record("A transaction was open.")
            } catch GeodatabaseError.transactionStarted {}
            try await birds.add(birds.makeFeature(geometry: place()))
            try await birds.add([birds.makeFeature(geometry: place()), birds.makeFeature(geometry: place())])
            #expect(try await birds.queryFeatureCount(using: QueryParameters()) == 3)
            try geodatabase.rollbackTransaction()
            #expect(!geodatabase.isInTransaction)
            #expect(!geodatabase.hasLocalEdits)
            #expect(try await birds.queryFeatureCount(using: QueryParameters()) == 0)

            try geodatabase.beginTransaction()
            try await birds.add(birds.makeFeature(geometry: place()))
            // An edit that fails inside leaves the others.
            let unknown = birds.makeFeature(attributes: ["kind": Int32(7)], geometry: place())
            await #expect(throws: GeodatabaseError.self) { try await birds.add(unknown) }
            try geodatabase.commitTransaction()
            #expect(geodatabase.hasLocalEdits)
            #expect(try await birds.queryFeatureCount(using: QueryParameters()) == 1)
            try geodatabase.beginTransaction()
            try await birds.add(birds.makeFeature(geometry: place()))
            // What was not committed was not promised.
            geodatabase.close()
            let (again, table) = try await opened(url)
            #expect(again.hasLocalEdits)
            #expect(try await table.queryFeatureCount(using: QueryParameters()) == 1)
        }
    }

    @Test(
        "Edits of another program in the closed file are noticed",
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/ogr2ogr"), "ogr2ogr isn't installed"))
    func otherPrograms() async throws {
        try await Self.withFile { url in
            let (geodatabase, _) = try await opened(url)
            geodatabase.close()
            let source = url.deletingLastPathComponent().appending(path: "more.geojson")
            let text = """
                {"type":"FeatureCollection","features":[{"type":"Feature","properties":{"kind":1,"comments":"by another"},
                "geometry":{"type":"Point","coordinates":[-94.8,29.4]}}]}
                """
            try Data(text.utf8).write(to: source)
            let arguments = [
                "-update", "-append", "-f", "GPKG", "-t_srs", "EPSG:3857", "-nln", "Birds", url.path, source.path,
            ]
            #expect(try ChildProcess.run("/usr/bin/ogr2ogr", arguments).status == 0)
            let (again, birds) = try await opened(url)
            #expect(again.hasLocalEdits)
            let added = try await birds.queryAddedFeatures().features()
            #expect(added.map { $0.attributes["comments"] as? String } == ["by another"])
            #expect(added.allSatisfy { $0.attributes["GlobalID"] != nil })
        }
    }

    @Test("A new geodatabase is empty, and a file in its place is left alone")
    func emptyOne() async throws {
        try await Self.withFile { url in
            let fresh = url.deletingLastPathComponent().appending(path: "fresh.geodatabase")
            let geodatabase = try await Geodatabase.createEmpty(fileURL: fresh)
            #expect(geodatabase.loadStatus == .loaded)
            #expect(geodatabase.featureTables.isEmpty)
            await #expect(throws: CommonError.self) { _ = try await Geodatabase.createEmpty(fileURL: url) }
            let absent = Geodatabase(fileURL: url.deletingLastPathComponent().appending(path: "absent.geodatabase"))
            await #expect(throws: CommonError.self) { try await absent.load() }
        }
    }
}
