import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

@testable import Fieldwork

/// A geodatabase that is taken while another one of the device has attachments of the same service.
@Suite("Attachments that are on the device already", .fewAtATime)
struct ReusedAttachmentTests {
    private static func photo(_ seed: Int, bytes: Int = 1_000_000) -> Data {
        Data((0..<bytes).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 7 &+ seed) })
    }

    /// A service with photos on its first features, and a device that has taken it.
    private static func with(
        bytes: Int = 1_000_000, _ test: (TestService, Geodatabase) async throws -> Void
    ) async throws {
        try await OfflineService.with(attachments: true) { service in
            let ids = try await service.rows(FeatureQuery(limit: 3)).map(\.objectID)
            try await service.applyAttachments(
                AttachmentEdits(adds: ids.enumerated().map { add("\($0).jpg", photo($0, bytes: bytes), to: $1) }))
            let geodatabase = try await service.takeOffline("one")
            try await test(service, geodatabase)
            geodatabase.close()
        }
    }

    private static func add(_ name: String, _ data: Data, to feature: Int64) -> FieldworkREST.AttachmentEdit {
        FieldworkREST.AttachmentEdit(
            parent: .objectID(feature), name: name, contentType: "image/jpeg",
            content: AttachmentContent(bytes: [UInt8](data)))
    }

    private static func job(_ service: TestService, sources: [URL]) async throws -> GenerateGeodatabaseJob {
        let task = GeodatabaseSyncTask(url: service.rootURL, environment: service.environment())
        let parameters = try await task.makeDefaultGenerateGeodatabaseParameters(extent: OfflineService.area)
        parameters.attachmentSources = sources
        return task.makeGenerateGeodatabaseJob(
            parameters: parameters, downloadFileURL: service.folder.appending(path: "two.gpkg"))
    }

    /// Takes the area once more.
    /// - Returns: the geodatabase, and how many contents were fetched one by one for it.
    private static func take(_ service: TestService, sources: [URL]) async throws -> (Geodatabase, fetched: Int) {
        let before = fetched(service)
        let job = try await job(service, sources: sources)
        job.start()
        let geodatabase = try await job.output
        try await geodatabase.load()
        return (geodatabase, fetched(service) - before)
    }

    private static func fetched(_ service: TestService) -> Int {
        service.interceptor.downloads.count { $0.path.contains("/attachments/") }
    }

    @Test("Only what is new or was changed is fetched; what is unsent on the device stays where it is")
    func onlyMissing() async throws {
        try await Self.with { service, one in
            let ids = try await service.rows(FeatureQuery(limit: 5)).map(\.objectID)
            let known = try #require(try await one.damage("Cause 1")?.attachments.first)
            var changed = Self.add("1.jpg", Self.photo(9), to: ids[1])
            changed.parent = nil
            changed.globalID = known.globalID
            try await service.applyAttachments(
                AttachmentEdits(adds: [Self.add("new.jpg", Self.photo(7), to: ids[4])], updates: [changed]))
            try await one.damage("Cause 2")?.addAttachment(
                named: "own.jpg", contentType: "image/jpeg", data: Self.photo(8))
            let gone = try #require(try await one.damage("Cause 0"))
            try await gone.deleteAttachment(try #require(try await gone.attachments.first))

            let (two, fetched) = try await Self.take(service, sources: [one.fileURL])
            // What was deleted here and not sent, what was changed and what is new.
            #expect(fetched == 3)
            for (cause, attachments) in try await service.servedAttachments() {
                #expect(try await two.attachments(of: cause) == attachments, "\(cause)")
            }
            #expect(try await two.attachments(of: "Cause 2") == ["2.jpg": Self.photo(2)])
            #expect(!two.hasLocalEdits && one.hasLocalEdits)
            // Both go on being synced.
            #expect(try await service.sync(one).isEmpty)
            #expect(try await service.sync(two).isEmpty)
            #expect(try await two.attachments(of: "Cause 2").keys.sorted() == ["2.jpg", "own.jpg"])
            #expect(try await two.attachments(of: "Cause 0").isEmpty)
            two.close()
        }
    }

    @Test("Such a geodatabase is like one that came as a file: its table and its rows")
    func likeAFile() async throws {
        try await Self.with { service, one in
            let (two, fetched) = try await Self.take(service, sources: [one.fileURL])
            #expect(fetched == 0)
            func table(_ geodatabase: Geodatabase) throws -> NSDictionary? {
                let text = try #require(try geodatabase.damages.definition).json().text
                return try JSONSerialization.jsonObject(with: Data(text.utf8)) as? NSDictionary
            }
            #expect(try table(two) == table(one))
            func rows(_ geodatabase: Geodatabase) async throws -> [FeatureSnapshot] {
                let parameters = QueryParameters()
                parameters.addOrderByField(OrderBy(fieldName: "primcause", sortOrder: .ascending))
                return try await geodatabase.damages.queryFeatures(using: parameters).features()
                    .map { FeatureSnapshot($0) }
            }
            let (first, second) = (try await rows(one), try await rows(two))
            #expect(first.count == 10)
            #expect(first == second)
            two.close()
        }
    }

    @Test("Where attachments are little of a file, a file with all of them comes")
    func little() async throws {
        try await Self.with(bytes: 1_000) { service, one in
            let (two, fetched) = try await Self.take(service, sources: [one.fileURL])
            #expect(fetched == 0)
            #expect(try await two.attachments(of: "Cause 1") == ["1.jpg": Self.photo(1, bytes: 1_000)])
            two.close()
        }
    }

    @Test("What can't be read there is fetched")
    func unreadable() async throws {
        try await Self.with { service, one in
            one.close()
            // The contents of a file that lost them: its list of attachments is whole.
            let path = one.fileURL.path
            let connection = try StoreConnection(path: path, mode: .readWrite)
            try connection.execute(
                "UPDATE fieldwork_media SET data = zeroblob(1000000)")
            let missing = service.folder.appending(path: "missing.gpkg")
            let (two, fetched) = try await Self.take(service, sources: [missing, one.fileURL])
            #expect(fetched == 3)
            #expect(try await two.attachments(of: "Cause 1") == ["1.jpg": Self.photo(1)])
            two.close()
        }
    }

    @Test("A job that is broken off and goes on knows what is here")
    func goesOn() async throws {
        try await Self.with { service, one in
            let first = try await Self.job(service, sources: [one.fileURL])
            service.interceptor.fail("createReplica", .losesAnswer)
            first.start()
            await #expect(throws: (any Error).self) { _ = try await first.output }
            let state = first.toJSON()
            let before = Self.fetched(service)
            let again = try GenerateGeodatabaseJob(
                snapshot: JSONParser.parse(state), environment: service.environment())
            #expect(again.parameters.attachmentSources == [one.fileURL])
            again.start()
            let two = try await again.output
            try await two.load()
            #expect(Self.fetched(service) == before)
            #expect(try await two.attachments(of: "Cause 1") == ["1.jpg": Self.photo(1)])
            two.close()
        }
    }
}
