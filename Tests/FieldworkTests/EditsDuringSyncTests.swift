import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

@testable import Fieldwork

/// Edits that cross with a sync, on both sides. Each of these ended once in a device that was unlike its service, and the
/// simulator found it.
@Suite("Edits that cross with a sync", .fewAtATime)
struct EditsDuringSyncTests {
    private static let content = "attachments/"

    private static func with(
        _ rule: ConflictRule = .lastInWins, _ test: (TestService) async throws -> Void
    ) async throws {
        try await OfflineService.with(rule: rule, attachments: true) { service in
            try await add("old.jpg", "old", to: 0, service)
            try await test(service)
        }
    }

    private static func add(_ name: String, _ content: String, to row: Int, _ service: TestService) async throws {
        let rows = try await service.rows(FeatureQuery(limit: row + 1))
        let edit = FieldworkREST.AttachmentEdit(
            parent: .objectID(rows[row].objectID), name: name, contentType: "image/jpeg",
            content: AttachmentContent(bytes: Array(content.utf8)))
        try await service.applyAttachments(AttachmentEdits(adds: [edit]))
    }

    private static func add(
        _ name: String, _ content: String, to cause: String, _ geodatabase: Geodatabase
    ) async throws {
        let feature = try #require(try await geodatabase.damage(cause))
        try await feature.addAttachment(named: name, contentType: "image/jpeg", data: Data(content.utf8))
    }

    private static func delete(_ cause: String, _ geodatabase: Geodatabase) async throws {
        try await geodatabase.damages.delete(try #require(try await geodatabase.damage(cause)))
    }

    private static func sync(
        _ geodatabase: Geodatabase, _ service: TestService, _ direction: SyncGeodatabaseParameters.SyncDirection
    ) async throws {
        let task = GeodatabaseSyncTask(url: service.rootURL, environment: service.environment())
        let parameters = try await task.makeDefaultSyncGeodatabaseParameters(
            geodatabase: geodatabase, syncDirection: direction)
        let job = task.makeSyncGeodatabaseJob(parameters: parameters, geodatabase: geodatabase)
        job.start()
        _ = try await job.output
    }

    // MARK: While an answer is on its way

    @Test("A feature that is deleted here while its change by others arrives stays deleted, here and in the service")
    func deletedWhileItsChangeArrives() async throws {
        try await Self.with { service in
            let one = try await service.takeOffline("one")
            let row = try #require(try await service.rows().first { $0.attributes["primcause"] == .text("Cause 2") })
            let change = FeatureEdit(objectID: row.objectID, attributes: [("numoccup", .integer(99))])
            _ = try await service.store.apply(
                EditBatch(layers: [LayerEdits(layerID: 0, updates: [change])], moment: Date.now), to: service.name)
            try await one.changeDamage("Cause 5", ["typdamage": "Major"])
            service.interceptor.fail(
                "synchronizeReplica", .answersAfter { try await Self.delete("Cause 2", one) })
            try await service.sync(one)
            #expect(try await one.damage("Cause 2") == nil)
            #expect(one.hasLocalEdits)
            try await service.sync(one)
            #expect(try await one.damage("Cause 2") == nil)
            #expect(try await service.served("numoccup")["Cause 2"] == nil)
        }
    }

    // MARK: While a content is fetched

    @Test("A feature that is deleted while its photo is fetched fails nothing; undone, it gets the photo")
    func deletedMeanwhile() async throws {
        try await Self.with { service in
            let one = try await service.takeOffline("one")
            try await Self.add("new.jpg", "new", to: 2, service)
            try await one.changeDamage("Cause 5", ["typdamage": "Major"])
            service.interceptor.fail(Self.content, .answersAfter { try await Self.delete("Cause 2", one) })
            try await service.sync(one)
            #expect(try await one.damage("Cause 2") == nil)
            try await one.undo()
            try await service.sync(one)
            try await service.sync(one)
            #expect(try await one.attachments(of: "Cause 2") == ["new.jpg": Data("new".utf8)])
            #expect(try await service.servedAttachments()["Cause 2"] == ["new.jpg": Data("new".utf8)])
        }
    }

    @Test("A photo that is replaced here while the service's is fetched stays replaced, and is awaited no more")
    func replacedMeanwhile() async throws {
        try await Self.with { service in
            let one = try await service.takeOffline("one")
            let address = LayerAddress(service: service.name, layerID: 0)
            let photo = try #require(
                try await service.store.attachments(AttachmentQuery(), in: address).attachments.first)
            let edit = FieldworkREST.AttachmentEdit(
                id: photo.id, name: "theirs.jpg", contentType: "image/jpeg",
                content: AttachmentContent(bytes: Array("theirs".utf8)))
            try await service.applyAttachments(AttachmentEdits(updates: [edit]))
            service.interceptor.fail(
                Self.content,
                .answersAfter {
                    let feature = try #require(try await one.damage("Cause 0"))
                    let own = try #require(try await feature.attachments.first)
                    try await feature.updateAttachment(
                        own, name: "mine.jpg", contentType: "image/jpeg", data: Data("mine".utf8))
                })
            try await service.sync(one)
            #expect(try await one.attachments(of: "Cause 0") == ["mine.jpg": Data("mine".utf8)])
            try await service.sync(one)
            #expect(try await service.servedAttachments() == ["Cause 0": ["mine.jpg": Data("mine".utf8)]])
            #expect(try one.openSession().replica?.awaitedAttachments.isEmpty == true)
            #expect(!one.hasLocalEdits)
        }
    }

    @Test("Photos that are deleted here while they are being sent fail nothing, and are gone on both sides")
    func deletedWhileSent() async throws {
        try await Self.with { service in
            let one = try await service.takeOffline("one")
            let large = String(repeating: "x", count: 40_000)
            for name in ["a.jpg", "b.jpg"] { try await Self.add(name, large, to: "Cause 1", one) }
            service.interceptor.fail(
                "uploads/register",
                .answersAfter {
                    let feature = try #require(try await one.damage("Cause 1"))
                    try await feature.deleteAttachments(try await feature.attachments)
                })
            try await service.sync(one)
            try await service.sync(one)
            #expect(try await service.servedAttachments()["Cause 1"] == nil)
            #expect(try await one.attachments(of: "Cause 1").isEmpty)
            #expect(!one.hasLocalEdits)
        }
    }

    // MARK: Deletes of both

    @Test("A feature that stayed for a photo's sake goes when the photo is taken back")
    func held() async throws {
        try await Self.with(.firstInWins) { service in
            let one = try await service.takeOffline("one")
            try await Self.add("mine.jpg", "mine", to: "Cause 1", one)
            let row = try await service.rows(FeatureQuery(limit: 2))[1]
            let deletes = LayerEdits(layerID: 0, deletes: .features([.objectID(row.objectID)]))
            _ = try await service.store.apply(EditBatch(layers: [deletes], moment: Date.now), to: service.name)
            try await Self.sync(one, service, .download)
            #expect(try await one.attachments(of: "Cause 1") == ["mine.jpg": Data("mine".utf8)])
            try await one.undo()
            try await service.sync(one)
            #expect(try await one.damage("Cause 1") == nil)
            #expect(!one.hasLocalEdits)
        }
    }

    @Test("A feature whose delete lost comes back with its attachments, also when nothing came with that sync")
    func lostDelete() async throws {
        try await Self.with(.firstInWins) { service in
            let (one, two) = (try await service.takeOffline("one"), try await service.takeOffline("two"))
            try await two.changeDamage("Cause 0", ["typdamage": "Major"])
            try await service.sync(two)
            try await Self.delete("Cause 0", one)
            try await Self.sync(one, service, .upload)
            try await Self.sync(one, service, .download)
            #expect(try await one.attachments(of: "Cause 0") == ["old.jpg": Data("old".utf8)])
            #expect(try await service.servedAttachments() == ["Cause 0": ["old.jpg": Data("old".utf8)]])
        }
    }

    @Test("A feature whose delete lost comes back, though what it lost to had come before the answer")
    func lostDeleteAfterDownload() async throws {
        try await Self.with(.firstInWins) { service in
            let (one, two) = (try await service.takeOffline("one"), try await service.takeOffline("two"))
            try await two.changeDamage("Cause 0", ["typdamage": "Major"])
            try await service.sync(two)
            try await Self.delete("Cause 0", one)
            service.interceptor.fail("synchronizeReplica", .losesAnswer)
            await #expect(throws: Fieldwork.ServiceError.self) { try await Self.sync(one, service, .upload) }
            try await Self.sync(one, service, .download)
            try await Self.sync(one, service, .upload)
            try await service.sync(one)
            #expect(try await one.damage("Cause 0")?.attributes["typdamage"] as? String == "Major")
            #expect(try await one.attachments(of: "Cause 0") == ["old.jpg": Data("old".utf8)])
        }
    }

    @Test("What was added, sent without an answer and deleted does not come back with a sync that sends nothing")
    func deletedBeforeAnswer() async throws {
        try await Self.with { service in
            let one = try await service.takeOffline("one")
            try await one.addDamage("Mine")
            try await Self.add("mine.jpg", "mine", to: "Cause 1", one)
            service.interceptor.fail("synchronizeReplica", .losesAnswer)
            await #expect(throws: Fieldwork.ServiceError.self) { try await Self.sync(one, service, .upload) }
            try await Self.delete("Mine", one)
            let feature = try #require(try await one.damage("Cause 1"))
            try await feature.deleteAttachments(try await feature.attachments)
            try await Self.sync(one, service, .download)
            #expect(try await one.damage("Mine") == nil)
            #expect(try await one.attachments(of: "Cause 1").isEmpty)
            for _ in 0..<2 { try await service.sync(one) }
            #expect(try await one.damage("Mine") == nil)
            #expect(try await one.attachments(of: "Cause 1").isEmpty)
            #expect(try await service.served("typdamage")["Mine"] == nil)
            #expect(try await service.servedAttachments() == ["Cause 0": ["old.jpg": Data("old".utf8)]])
        }
    }

    @Test("A photo that others deleted goes from the device that made it, also when its sync brought nothing")
    func ownPhotoDeleted() async throws {
        try await Self.with { service in
            let (one, two) = (try await service.takeOffline("one"), try await service.takeOffline("two"))
            try await Self.add("mine.jpg", "mine", to: "Cause 1", one)
            try await Self.sync(one, service, .upload)
            try await service.sync(two)
            let feature = try #require(try await two.damage("Cause 1"))
            try await feature.deleteAttachments(try await feature.attachments)
            try await service.sync(two)
            try await service.sync(one)
            #expect(try await one.attachments(of: "Cause 1").isEmpty)
            #expect(try await service.servedAttachments() == ["Cause 0": ["old.jpg": Data("old".utf8)]])
        }
    }

    // MARK: What became of an upload that was repeated

    @Test("What an edit lost to comes with its answer, also when that tells of a feature that was deleted here since")
    func lostBesideDelete() async throws {
        try await Self.with(.firstInWins) { service in
            let (one, two) = (try await service.takeOffline("one"), try await service.takeOffline("two"))
            try await two.changeDamage("Cause 0", ["typdamage": "Major"])
            try await service.sync(two)
            try await one.changeDamage("Cause 0", ["typdamage": "Destroyed"])
            service.interceptor.fail("synchronizeReplica", .losesAnswer)
            await #expect(throws: Fieldwork.ServiceError.self) { try await Self.sync(one, service, .upload) }
            try await Self.sync(one, service, .download)
            try await Self.delete("Cause 1", one)
            try await two.changeDamage("Cause 1", ["typdamage": "Major"])
            try await service.sync(two)
            for _ in 0..<2 { try await service.sync(one) }
            #expect(try await service.served("typdamage")["Cause 0"] == .text("Major"))
            #expect(try await one.damage("Cause 0")?.attributes["typdamage"] as? String == "Major")
            #expect(!one.hasLocalEdits)
        }
    }

    @Test("A feature that the service keeps deleted goes, also when its answer tells of one deleted here")
    func deletedBesideDelete() async throws {
        try await Self.with(.firstInWins) { service in
            let (one, two) = (try await service.takeOffline("one"), try await service.takeOffline("two"))
            try await Self.delete("Cause 0", two)
            try await service.sync(two)
            try await one.changeDamage("Cause 0", ["typdamage": "Destroyed"])
            service.interceptor.fail("synchronizeReplica", .losesAnswer)
            await #expect(throws: Fieldwork.ServiceError.self) { try await Self.sync(one, service, .upload) }
            try await Self.sync(one, service, .download)
            try await Self.delete("Cause 1", one)
            try await two.changeDamage("Cause 1", ["typdamage": "Major"])
            try await service.sync(two)
            for _ in 0..<2 { try await service.sync(one) }
            #expect(try await service.served("typdamage")["Cause 0"] == nil)
            #expect(try await one.damage("Cause 0") == nil)
            #expect(!one.hasLocalEdits)
        }
    }

    private static func replacePhoto(of cause: String, by name: String, _ geodatabase: Geodatabase) async throws {
        let feature = try #require(try await geodatabase.damage(cause))
        let photo = try #require(try await feature.attachments.first)
        try await feature.updateAttachment(
            photo, name: name, contentType: "image/jpeg", data: Data(name.utf8))
    }

    @Test(
        "A photo that the service keeps deleted goes, also when its delete came while it was being replaced",
        arguments: [SyncGeodatabaseParameters.SyncDirection.upload, .bidirectional])
    func photoKeptDeleted(direction: SyncGeodatabaseParameters.SyncDirection) async throws {
        try await Self.with(.firstInWins) { service in
            let (one, two) = (try await service.takeOffline("one"), try await service.takeOffline("two"))
            let feature = try #require(try await two.damage("Cause 0"))
            try await feature.deleteAttachments(try await feature.attachments)
            try await service.sync(two)
            try await Self.replacePhoto(of: "Cause 0", by: "mine.jpg", one)
            try await Self.sync(one, service, .download)
            #expect(try await one.attachments(of: "Cause 0").count == 1)
            try await Self.sync(one, service, direction)
            #expect(try await one.attachments(of: "Cause 0").isEmpty)
            #expect(try await service.servedAttachments().isEmpty)
            #expect(!one.hasLocalEdits)
        }
    }

    @Test("A photo that others replaced after an upload whose answer was lost comes as it is, also when it came before")
    func photoReplacedSince() async throws {
        try await Self.with { service in
            let (one, two) = (try await service.takeOffline("one"), try await service.takeOffline("two"))
            try await Self.replacePhoto(of: "Cause 0", by: "mine.jpg", one)
            service.interceptor.fail("synchronizeReplica", .losesAnswer)
            await #expect(throws: Fieldwork.ServiceError.self) { try await Self.sync(one, service, .upload) }
            try await service.sync(two)
            try await Self.replacePhoto(of: "Cause 0", by: "theirs.jpg", two)
            try await service.sync(two)
            try await Self.sync(one, service, .download)
            #expect(try await one.attachments(of: "Cause 0") == ["mine.jpg": Data("mine.jpg".utf8)])
            for _ in 0..<2 { try await service.sync(one) }
            let theirs = ["theirs.jpg": Data("theirs.jpg".utf8)]
            #expect(try await service.servedAttachments() == ["Cause 0": theirs])
            #expect(try await one.attachments(of: "Cause 0") == theirs)
        }
    }

    @Test("A photo that this device deleted in the service and brought back there stays, when it fetches the next time")
    func photoBroughtBack() async throws {
        try await Self.with { service in
            let one = try await service.takeOffline("one")
            let feature = try #require(try await one.damage("Cause 0"))
            try await feature.deleteAttachments(try await feature.attachments)
            try await Self.sync(one, service, .upload)
            try await one.undo()
            try await Self.replacePhoto(of: "Cause 0", by: "mine.jpg", one)
            try await Self.sync(one, service, .upload)
            try await service.sync(one)
            let mine = ["mine.jpg": Data("mine.jpg".utf8)]
            #expect(try await one.attachments(of: "Cause 0") == mine)
            #expect(try await service.servedAttachments() == ["Cause 0": mine])
            #expect(!one.hasLocalEdits)
        }
    }

    // MARK: After the service was put back

    @Test(
        "A feature that the service took from this device, and has again since it was put back, comes with all its values"
    )
    func backWithTheService() async throws {
        try await Self.with(.firstInWins) { service in
            let one = try await service.takeOffline("one")
            let row = try #require(try await service.rows().first { $0.attributes["primcause"] == .text("Cause 2") })
            let id = try #require(row.globalID)
            func office(_ edits: LayerEdits) async throws {
                _ = try await service.store.apply(
                    EditBatch(layers: [edits], usesGlobalIDs: true, moment: Date()), to: service.name)
            }
            try await office(LayerEdits(layerID: 0, deletes: .features([.globalID(id)])))
            try await one.changeDamage("Cause 2", ["typdamage": "Major"])
            try await Self.sync(one, service, .upload)
            #expect(try await one.damage("Cause 2") == nil)

            // As after a backup of before: the feature is there, and the service knows nothing of the upload.
            let again = FeatureEdit(
                globalID: id, attributes: ["typdamage", "primcause"].map { ($0, row.attributes[$0] ?? .null) },
                geometry: row.geometry.map { .geometry($0) } ?? .null)
            try await office(LayerEdits(layerID: 0, adds: [again]))
            let session = try one.openSession()
            var record = try #require(session.replica)
            let restored = RestoredService(from: record.serverGeneration, to: record.serverGeneration, uploads: [])
            record.goBack(restored, layers: session.file.definition.layers.map(\.id))
            try await session.keep(record)
            try await service.sync(one)
            let there = try #require(try await one.damage("Cause 2"))
            #expect(there.attributes["typdamage"] as? String == row.attributes["typdamage"]?.textValue)
            #expect(there.geometry != nil && !one.hasLocalEdits)
        }
    }
}
