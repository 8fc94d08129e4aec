import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

@testable import Fieldwork

/// What a feature was before, as a table of a service and a table of a geodatabase tell it.
@Suite("Feature history", .fewAtATime)
struct FeatureHistoryTests {
    private static func feature(_ cause: String, of table: ArcGISFeatureTable) async throws -> Feature {
        let parameters = QueryParameters()
        parameters.whereClause = "primcause = '\(cause)'"
        let found = try await table.queryFeatures(using: parameters).features()
        return try #require(found.first { _ in true })
    }

    @Test("The service tells what others replaced, the newest first, in the types of the fields")
    func ofService() async throws {
        try await TestService.with(damages: 2) { service in
            let table = try #require(try await service.geodatabase().table(withLayerID: 0))
            let feature = try await Self.feature("Cause 1", of: table)
            #expect(try await table.history(of: feature).versions.isEmpty)
            let row = try #require(try await service.rows().first { $0.attributes["primcause"] == .text("Cause 1") })
            let moved = Point(x: 5, y: 6, spatialReference: .webMercator)
            for (values, place) in [([("numoccup", AttributeValue.integer(9))], nil), ([], moved)] {
                let edit = FeatureEdit(
                    objectID: row.objectID, attributes: values.map { ($0.0, $0.1) },
                    geometry: place.map { .geometry($0) } ?? .unchanged)
                let batch = EditBatch(
                    layers: [LayerEdits(layerID: 0, updates: [edit])], editor: "Dana", moment: Date.now)
                #expect(try await !service.store.apply(batch, to: service.name).hasErrors)
            }
            let history = try await table.history(of: feature)
            #expect(history.isComplete)
            try #require(history.versions.count == 2)
            let (newest, oldest) = (history.versions[0], history.versions[1])
            #expect(newest.id > oldest.id && newest.fromGeneration == oldest.id)
            #expect(newest.attributes["numoccup"] as? Int16 == 9)
            #expect(oldest.attributes["numoccup"] as? Int16 == 1)
            #expect(newest.editor == "Dana" && newest.ending == .updated && newest.replicaID == nil)
            let place = try #require(newest.geometry as? Point)
            #expect(abs(place.x - DamageService.place.x - 100) < 0.001)
            #expect(place.spatialReference == .webMercator)
            #expect(abs(newest.endDate.timeIntervalSinceNow) < 600)
        }
    }

    @Test("A feature that was never sent has no history, one that was never added throws")
    func unsent() async throws {
        try await TestService.with { service in
            let table = try #require(try await service.geodatabase().table(withLayerID: 0))
            let feature = table.makeFeature(attributes: ["primcause": "New"], geometry: DamageService.place)
            await #expect(throws: GeodatabaseError.self) { _ = try await table.history(of: feature) }
            try await table.add(feature)
            #expect(try await table.history(of: feature).versions.isEmpty)
        }
    }

    @Test("A geodatabase tells what its file remembers, of a deleted feature too")
    func ofFile() async throws {
        try await OfflineService.with { service in
            let geodatabase = try await service.takeOffline("one")
            let table = try geodatabase.damages
            let feature = try #require(try await geodatabase.damage("Cause 1"))
            #expect(try await table.history(of: feature).versions.isEmpty)
            try await geodatabase.changeDamage("Cause 1", ["typdamage": "Destroyed"])
            try await table.delete(feature)
            let versions = try await table.history(of: feature).versions
            #expect(versions.map(\.ending) == [.deleted, .updated])
            #expect(versions.map { $0.attributes["typdamage"] as? String } == ["Destroyed", "Minor"])
        }
    }
}
