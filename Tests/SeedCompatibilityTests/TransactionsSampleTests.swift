import ArcGIS
import FieldworkREST
import FieldworkServer
import FieldworkStore
import Foundation
import TestSupport
import Testing

@testable import FieldworkCommand

/// The geodatabase transactions sample against a real server with the demo's wildlife sightings.
@Suite("The transactions sample", .fewAtATime)
@MainActor
struct TransactionsSampleTests {
    private static let middle = Point(x: -10_558_650, y: 3_439_700, spatialReference: .webMercator)
    private static let area = Envelope(
        xMin: middle.x - 8_000, yMin: middle.y - 8_000, xMax: middle.x + 8_000, yMax: middle.y + 8_000,
        spatialReference: .webMercator)

    private typealias Rows = () async throws -> [FeatureRecord]

    /// Runs a test with the sample's view after its set-up, and a look at the birds that the server has.
    private func with(
        _ test: @MainActor (EditGeodatabaseWithTransactionsView, Rows) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "fieldwork-seed-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try await GeoPackageStore.open(at: folder.appending(path: "services"))
        let demo = SaveTheBayDemo()
        try await store.createService(demo.definition)
        for layer in demo.batches() {
            let batch = EditBatch(layers: [layer], usesGlobalIDs: true, moment: Date.now)
            let results = try await store.apply(batch, to: SaveTheBayDemo.name).layers
            #expect(results.flatMap(\.adds).allSatisfy { $0.error == nil })
        }
        let running = try await RunningFeatureServer.start(store: store)
        do {
            let url = try #require(URL(string: "\(running.servicesAddress)/SaveTheBaySync/FeatureServer"))
            let view = EditGeodatabaseWithTransactionsView(
                model: EditGeodatabaseWithTransactionsModel(serviceURL: url, folder: folder, extent: Self.area))
            await view.perform(.setUp)
            #expect(view.error == nil && view.statusText == "Tap Start to begin a transaction.")
            try await test(view) {
                try await store.records(FeatureQuery(), in: LayerAddress(service: SaveTheBayDemo.name, layerID: 0))
            }
            try await running.stop()
        } catch {
            try? await running.stop()
            throw error
        }
    }

    private func birds(_ view: EditGeodatabaseWithTransactionsView) async throws -> Int {
        let table = try #require(view.model.geodatabase.featureTable(named: "Birds"))
        return try await table.queryFeatureCount(using: QueryParameters())
    }

    @Test("The area comes with its tables, their feature types and a layer each")
    func setUp() async throws {
        try await with { view, rows in
            var choice = SelectFeatureType(featureTables: view.model.geodatabase.featureTables)
            #expect(choice.featureTables.map(\.displayName) == ["Birds", "Marine"])
            #expect(view.model.map.operationalLayers.count == 2)
            #expect(choice.featureTypeOptions.isEmpty)
            choice.selectedFeatureTableName = "Birds"
            #expect(choice.featureTypeOptions.map(\.name).contains("Roseate spoonbill"))
            let inside = try await rows().count { row in
                guard let place = row.geometry as? Point else { return false }
                return abs(place.x - Self.middle.x) <= 8_000 && abs(place.y - Self.middle.y) <= 8_000
            }
            #expect(try await birds(view) == inside && inside > 0)
        }
    }

    @Test("Edits of a transaction are discarded together or kept together, and reach the service once")
    func transactions() async throws {
        try await with { view, rows in
            let (before, served) = (try await birds(view), try await rows().count)
            view.onSingleTap(mapPoint: Self.middle)
            // The switch "Requires Transaction" is on.
            #expect(!view.isSelectingFeatureType && view.tapLocation == nil)
            await view.perform(.beginTransaction)
            #expect(view.isInTransaction && view.statusText == "Transaction started.")
            view.onSingleTap(mapPoint: Self.middle)
            #expect(view.isSelectingFeatureType)
            let add = EditGeodatabaseWithTransactionsView.Action.addFeature(
                tableName: "Birds", featureTypeName: "Roseate spoonbill")
            await view.perform(add)
            #expect(view.statusText == "Added feature." && view.model.hasLocalEdits)
            await view.perform(.rollbackTransaction)
            #expect(view.statusText == "Edits discarded." && !view.isInTransaction)
            #expect(try await birds(view) == before)
            #expect(!view.model.geodatabase.hasLocalEdits)

            await view.perform(.beginTransaction)
            await view.perform(add)
            await view.perform(add)
            await view.perform(.commitTransaction)
            #expect(view.statusText == "Edits committed to geodatabase.")
            #expect(try await birds(view) == before + 2)
            for _ in 0..<2 { await view.perform(.sync) }
            #expect(view.error == nil && view.statusText == "Synchronized geodatabase and feature service.")
            #expect(!view.model.hasLocalEdits)
            let now = try await rows()
            #expect(now.count == served + 2)
            #expect(now.suffix(2).allSatisfy { $0.attributes["type"] == .integer(1) && $0.geometry == Self.middle })
        }
    }

    @Test("A feature outside of the area that was taken offline is refused with the sample's message")
    func outside() async throws {
        try await with { view, _ in
            let before = try await birds(view)
            view.transactionIsRequired = false
            view.onSingleTap(
                mapPoint: Point(x: Self.middle.x + 9_000, y: Self.middle.y, spatialReference: .webMercator))
            await view.perform(.addFeature(tableName: "Birds", featureTypeName: "Laughing gull"))
            #expect(view.error == nil)
            #expect(view.statusText == "Error: Feature geometry is outside the generate geodatabase geometry.")
            #expect(try await birds(view) == before)
            #expect(!view.model.geodatabase.hasLocalEdits)
        }
    }
}
