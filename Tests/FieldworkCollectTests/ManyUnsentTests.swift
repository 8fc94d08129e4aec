import BrowserSupport
import FieldworkREST
import Foundation
import Testing

@testable import Fieldwork
@testable import FieldworkCollect

/// A week without a network: ten thousand edits that aren't sent.
@Suite struct ManyUnsentTests {
    private static let count = 10_000

    /// Puts the edits into the area's file and into the journal of its map, as a week of work would.
    private static func work(_ field: DamageField) async throws {
        let shelf = try AreaShelf(directory: field.deviceFolder.appending(path: "areas"))
        let area = try #require(UUID(uuidString: OfflineField.id).flatMap(shelf.area))
        let journal = field.deviceFolder.appending(path: "maps/\(MapAddress(area).folderName)/edits.jsonl")
        let geodatabase = Geodatabase(fileURL: try #require(shelf.files(area.id).first).url)
        try await geodatabase.load()
        let table = try #require(geodatabase.featureTables.first)
        let features = (0..<count).map { index in
            table.makeFeature(
                attributes: ["primcause": "Week \(index)", "typdamage": "Minor", "GlobalID": UUID()],
                geometry: Point(x: -98 + Double(index) * 1e-6, y: 38, spatialReference: .wgs84))
        }
        try await table.add(features)
        geodatabase.close()
        let entries = features.enumerated().map { index, feature in
            let id = feature.attributeValue(forKey: "GlobalID") as? UUID ?? UUID()
            return EditEntry(
                id: UUID(), kind: .create, session: nil, feature: FeatureReference(layer: 0, key: .global(id)),
                objectID: nil, title: "Week \(index)", detail: "New damage", date: Date(), before: nil,
                after: FeatureSnapshot(feature), progress: .onDevice, undoes: nil)
        }
        try EditJournal(fileURL: journal).append(entries)
    }

    @Test func changesOpensCountsThemAllAndGoesThroughThemByPages() async throws {
        try await DamageField.with(points: 2, definition: OfflineField.definition()) { field in
            try await OfflineField.goOffline(try await PlainClient.visitor(of: field.app))
            await field.app.stop()
            try await Self.work(field)
            let app = try await RunningApp.start(services: field.services.root, folder: field.deviceFolder)
            let visitor = try await PlainClient.visitor(of: app)
            do {
                var page = try await visitor.get("/changes").text
                #expect(page.contains(">10,000 edits<"))
                #expect(page.contains("On this device, not sent, 1 to 100 of 10,000"))
                #expect(page.contains("10,000 not sent"), "the state line")
                // From the first page to the second, and to the last.
                let older = try #require(page.firstMatch(of: /href="([^"]+)" data-panel>Earlier edits/)).1
                #expect(older == "/changes?start=100")
                var seen: Set<String> = []
                for address in ["/changes", String(older), "/changes?start=9900"] {
                    page = try await visitor.get(address, fields: ["Fieldwork-Fragment": "panel"]).text
                    for match in page.matches(of: /<b>(Week \d+)<\/b>/) { seen.insert(String(match.1)) }
                }
                #expect(seen.count == 3 * Limits.listedChanges)
                #expect(seen.contains("Week 0") && seen.contains("Week \(Self.count - 1)"))
                #expect(!page.contains("Earlier edits"))
                #expect(page.contains("9,901 to 10,000 of 10,000"))
                let exported = try await visitor.get("/changes/unsent.geojson").text
                #expect(exported.components(separatedBy: "\"type\":\"Feature\"").count - 1 == Self.count)
                await app.stop()
            } catch {
                await app.stop()
                throw error
            }
        }
    }
}
