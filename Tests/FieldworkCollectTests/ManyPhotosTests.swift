import BrowserSupport
import FieldworkREST
import Foundation
import Testing

@testable import Fieldwork
@testable import FieldworkCollect

/// A week without a network and with a camera: two thousand photos that aren't sent.
@Suite struct ManyPhotosTests {
    private static let features = 1_500
    /// Of the first feature, beside the one that each has.
    private static let more = 500
    private static let bytes = Data("a small photo".utf8)

    /// Puts features and photos into the area's file and into the journal of its map, as a week of work would.
    /// - Returns: the first feature.
    private static func work(_ field: DamageField) async throws -> UUID {
        let shelf = try AreaShelf(directory: field.deviceFolder.appending(path: "areas"))
        let area = try #require(UUID(uuidString: OfflineField.id).flatMap(shelf.area))
        let journal = field.deviceFolder.appending(path: "maps/\(MapAddress(area).folderName)/edits.jsonl")
        let geodatabase = Geodatabase(fileURL: try #require(shelf.files(area.id).first).url)
        try await geodatabase.load()
        let table = try #require(geodatabase.featureTables.first)
        let features = (0..<features).map { index in
            table.makeFeature(
                attributes: ["primcause": "Week \(index)", "typdamage": "Minor", "GlobalID": UUID()],
                geometry: Point(x: -98 + Double(index) * 1e-6, y: 38, spatialReference: .wgs84))
        }
        // One transaction is one commit; a commit for each photo would be a test of the disk.
        try geodatabase.beginTransaction()
        try await table.add(features)
        for (index, feature) in features.enumerated() {
            let attached = try #require(feature as? ArcGISFeature)
            for number in 0...(index == 0 ? more : 0) {
                _ = try await attached.addAttachment(
                    named: "Photo \(number).jpg", contentType: "image/jpeg", data: bytes)
            }
        }
        try geodatabase.commitTransaction()
        geodatabase.close()
        let entries = features.enumerated().map { index, feature in
            let photo = EditJournal.AttachmentRecord(
                name: "Photo 0.jpg", contentType: "image/jpeg", keywords: "", size: bytes.count, hash: "", kept: nil)
            var entry = EditEntry(
                id: UUID(), kind: .create, session: nil,
                feature: FeatureReference(
                    layer: 0, key: .global(feature.attributeValue(forKey: "GlobalID") as? UUID ?? UUID())),
                objectID: nil, title: "Week \(index)", detail: "New damage", date: Date(), before: nil,
                after: FeatureSnapshot(feature), progress: .onDevice, undoes: nil)
            entry.photos = EditJournal.AttachmentChanges(
                added: Array(repeating: photo, count: index == 0 ? more + 1 : 1), deleted: [])
            return entry
        }
        try EditJournal(fileURL: journal).append(entries)
        return try #require(features.first?.attributeValue(forKey: "GlobalID") as? UUID)
    }

    @Test func listChangesAndPhotosCountThemAllAndGoThroughThemByPages() async throws {
        var definition = OfflineField.definition()
        definition.layers[0].hasAttachments = true
        try await DamageField.with(points: 2, definition: definition) { field in
            try await OfflineField.goOffline(try await PlainClient.visitor(of: field.app))
            await field.app.stop()
            let first = try await Self.work(field).uuidString.lowercased()
            let app = try await RunningApp.start(services: field.services.root, folder: field.deviceFolder)
            do {
                let visitor = try await PlainClient.visitor(of: app)
                let changes = try await visitor.get("/changes").text
                #expect(changes.contains(">1,500 edits<"))
                #expect(changes.contains("and 2,000 photos and files, 26 kB"))
                #expect(changes.contains("On this device, not sent, 1 to 100 of 1,500"))
                #expect(try await visitor.get("/list/0?scope=all").text.contains("50 of 1,502"))
                #expect(try await visitor.get("/f/0/\(first)").text.contains("Photos and files 501"))

                var seen = 0
                var address: String? = "/f/0/\(first)/photos"
                while let next = address, seen <= Self.more + 1 {
                    let page = try await visitor.get(next).text
                    let count = page.matches(of: /<li><a class="photo"/).count
                    #expect(count <= Limits.listedPhotos && page.contains("Photos and files 501"))
                    seen += count
                    address = page.firstMatch(of: /href="([^"]+)" data-panel>Next</).map { String($0.1) }
                }
                #expect(seen == Self.more + 1)
                await app.stop()
            } catch {
                await app.stop()
                throw error
            }
        }
    }
}
