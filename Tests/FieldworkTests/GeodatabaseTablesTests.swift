import FieldworkGeometry
import Foundation
import TestSupport
import Testing

@testable import Fieldwork

/// The tables of a geodatabase: made, described, related, deleted.
@Suite("Tables of a geodatabase", .fewAtATime)
struct GeodatabaseTablesTests {
    private static func trees() -> TableDescription {
        let description = TableDescription(
            name: "Trees", spatialReference: .webMercator, geometryType: Point.self)
        let species = FieldDescription(name: "species", fieldType: .text)
        species.length = 10
        species.isNullable = false
        species.defaultValue = "unknown"
        let kind = FieldDescription(name: "kind", fieldType: .int32)
        kind.domainName = "kinds"
        kind.alias = "Kind of tree"
        description.addFieldDescriptions([species, kind, FieldDescription(name: "seen", fieldType: .date)])
        return description
    }

    @Test("A table is made, filled, there after a restart, deleted, and its name is free again")
    func makeAndDelete() async throws {
        try await SightingsFile.with { url in
            let file = try await Sightings(url)
            let table = try await file.geodatabase.makeTable(description: Self.trees())
            #expect(file.geodatabase.featureTables.map(\.tableName) == ["Birds", "Nests", "Trees"])
            #expect(table.serviceLayerID == 2 && table.geometryType == Point.self)
            #expect(table.field(named: "kind")?.alias == "Kind of tree")
            #expect(
                (table.field(named: "kind")?.domain as? CodedValueDomain)?.codedValues.map(\.name) == [
                    "Heron", "Pelican",
                ])
            let tree = table.makeFeature(attributes: ["kind": Int32(1)], geometry: SightingsFile.place())
            try await table.add(tree)
            #expect(tree.attributes["species"] as? String == "unknown")
            await #expect(throws: GeodatabaseError.self) {
                try await table.add(table.makeFeature(attributes: ["kind": Int32(9)], geometry: SightingsFile.place()))
            }
            await #expect(throws: GeodatabaseError.itemAlreadyExists(details: "There is a table Trees already.")) {
                _ = try await file.geodatabase.makeTable(description: Self.trees())
            }
            file.geodatabase.close()

            let again = try await Sightings(url)
            let kept = try #require(again.geodatabase.featureTable(named: "Trees"))
            #expect(try await kept.queryFeatureCount(using: QueryParameters()) == 1)
            try await again.geodatabase.deleteTable(named: "Trees")
            #expect(again.geodatabase.featureTable(named: "Trees") == nil)
            await #expect(throws: GeodatabaseError.self) { try await again.geodatabase.deleteTable(named: "Trees") }
            await #expect(throws: (any Error).self) { _ = try await kept.queryFeatureCount(using: QueryParameters()) }
            let fresh = try await again.geodatabase.makeTable(description: Self.trees())
            #expect(fresh.serviceLayerID == 3)
            #expect(try await fresh.queryFeatureCount(using: QueryParameters()) == 0)
        }
    }

    @Test("What no table can be is refused, and nothing is left of it")
    func refusals() async throws {
        try await SightingsFile.with { url in
            let file = try await Sightings(url)
            let unplaced = TableDescription(name: "Unplaced", geometryType: Polygon.self)
            let unnamed = TableDescription(name: "")
            let strange = TableDescription(name: "Strange")
            let unknown = FieldDescription(name: "a", fieldType: .text)
            unknown.domainName = "nowhere"
            strange.addFieldDescriptions([unknown])
            let twice = TableDescription(name: "Twice")
            twice.addFieldDescriptions([
                FieldDescription(name: "a", fieldType: .text), FieldDescription(name: "A", fieldType: .int16),
            ])
            for description in [unplaced, unnamed, strange, twice] {
                await #expect(throws: GeodatabaseError.self, "\(description.name)") {
                    _ = try await file.geodatabase.makeTable(description: description)
                }
            }
            try file.geodatabase.beginTransaction()
            await #expect(throws: CommonError.self) {
                _ = try await file.geodatabase.makeTable(description: Self.trees())
            }
            try file.geodatabase.rollbackTransaction()
            #expect(file.geodatabase.featureTables.count == 2)
            #expect(try await file.state().isEmpty)
        }
    }

    @Test("A new geodatabase takes tables")
    func fresh() async throws {
        try await SightingsFile.with { url in
            let place = url.deletingLastPathComponent().appending(path: "fresh.geodatabase")
            let geodatabase = try await Geodatabase.createEmpty(fileURL: place)
            let notes = TableDescription(name: "Notes")
            notes.addFieldDescriptions([FieldDescription(name: "note", fieldType: .text)])
            let table = try await geodatabase.makeTable(description: notes)
            try await table.add(table.makeFeature(attributes: ["note": "first"]))
            #expect(geodatabase.hasLocalEdits && geodatabase.canUndo)
            #expect(!table.hasGeometry && table.serviceLayerID == 0)
        }
    }

    @Test("Related records are found on both sides, and domains and types are there")
    func related() async throws {
        try await SightingsFile.with { url in
            let file = try await Sightings(url)
            let heron = try #require(try await file.add("heron") as? ArcGISFeature)
            try await file.add("alone")
            let id = try #require(heron.attributes["GlobalID"] as? UUID)
            for eggs in [2, 4] {
                try await file.nests.add(file.nests.makeFeature(attributes: ["Bird": id, "eggs": Int16(eggs)]))
            }
            #expect(file.birds.relatedTables().map(\.tableName) == ["Nests"])
            let found = try #require(try await file.birds.queryRelatedFeatures(to: heron).first)
            #expect(found.relatedTable === file.nests)
            #expect(try await file.birds.queryRelatedFeatureCount(for: heron) == 2)
            let nest = try #require(found.features().first { _ in true } as? ArcGISFeature)
            let back = try #require(try await file.nests.queryRelatedFeatures(to: nest).first)
            #expect(back.features().map { $0.attributes["comments"] as? String } == ["heron"])
            #expect(file.geodatabase.domains.map(\.name) == ["kinds"])
            #expect(file.birds.featureTypes.map(\.name) == ["Heron"])
        }
    }
}
