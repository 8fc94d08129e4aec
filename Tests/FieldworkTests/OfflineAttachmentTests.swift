import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

@testable import Fieldwork

/// Attachments of features that were taken offline: they come along, are edited there, and go back exactly once.
@Suite("Attachments offline", .fewAtATime)
struct OfflineAttachmentTests {
    private static let photo = Data("a photo".utf8)
    /// Too large to go within the edits.
    private static let large = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 / 251) })

    private static func with(
        rule: ConflictRule = .lastInWins, _ test: (TestService) async throws -> Void
    ) async throws {
        try await OfflineService.with(rule: rule, attachments: true) { service in
            let ids = try await service.rows(FeatureQuery(limit: 2)).map(\.objectID)
            let adds = zip(ids, ["zero.jpg", "one.jpg"]).map { id, name in
                FieldworkREST.AttachmentEdit(
                    parent: .objectID(id), name: name, contentType: "image/jpeg", keywords: "old",
                    content: AttachmentContent(bytes: Array(name.utf8)))
            }
            try await service.applyAttachments(AttachmentEdits(adds: adds))
            try await test(service)
        }
    }

    private func attachment(_ name: String, of cause: String, _ geodatabase: Geodatabase) async throws
        -> Fieldwork.Attachment
    {
        let feature = try #require(try await geodatabase.damage(cause))
        return try #require(try await feature.attachments.first { $0.name == name }, "\(name)")
    }

    private func add(_ name: String, _ data: Data, to cause: String, _ geodatabase: Geodatabase) async throws {
        let feature = try #require(try await geodatabase.damage(cause))
        try await feature.addAttachment(named: name, contentType: "image/jpeg", data: data)
    }

    // MARK: There and back

    @Test(
        "Attachments come along in a file and in a document, go back, and reach the others", arguments: [true, false])
    func thereAndBack(asFile: Bool) async throws {
        try await Self.with { service in
            let one = try await service.takeOffline("one", asFile: asFile)
            let two = try await service.takeOffline("two", asFile: asFile)
            #expect(try await one.attachments(of: "Cause 0") == ["zero.jpg": Data("zero.jpg".utf8)])
            #expect(try await attachment("zero.jpg", of: "Cause 0", one).keywords == "old")
            #expect(!one.hasLocalEdits)
            #expect(try await attachment("zero.jpg", of: "Cause 0", one).isLocal == false)

            try await add("new.jpg", Self.photo, to: "Cause 3", one)
            try await add("large.jpg", Self.large, to: "Cause 3", one)
            let zero = try await attachment("zero.jpg", of: "Cause 0", one)
            try await one.damage("Cause 0")?.updateAttachment(
                zero, name: "better.png", contentType: "image/png", data: Data("better".utf8))
            try await one.damage("Cause 1")?.deleteAttachment(attachment("one.jpg", of: "Cause 1", one))
            try await one.addDamage("Fresh")
            try await add("fresh.jpg", Self.photo, to: "Fresh", one)
            #expect(one.hasLocalEdits)
            #expect(try await service.sync(one).isEmpty)
            #expect(!one.hasLocalEdits)
            let expected = [
                "Cause 0": ["better.png": Data("better".utf8)],
                "Cause 3": ["new.jpg": Self.photo, "large.jpg": Self.large], "Fresh": ["fresh.jpg": Self.photo],
            ]
            #expect(try await service.servedAttachments() == expected)
            try await service.sync(two)
            for (cause, attachments) in expected { #expect(try await two.attachments(of: cause) == attachments) }
            #expect(try await two.attachments(of: "Cause 1").isEmpty)
            #expect(!two.hasLocalEdits)
            // A further sync has nothing to bring.
            try await service.sync(one)
            #expect(try await one.attachments(of: "Cause 3") == expected["Cause 3"])
            #expect(try await service.store.file(service.name).check().isEmpty)
        }
    }

    @Test("A feature that is deleted takes its attachments along, and an undo brings both back everywhere")
    func withFeature() async throws {
        try await Self.with { service in
            let one = try await service.takeOffline("one")
            let two = try await service.takeOffline("two")
            try await one.damages.delete(try #require(try await one.damage("Cause 0")))
            #expect(try await service.sync(one).isEmpty)
            #expect(try await service.servedAttachments().keys.sorted() == ["Cause 1"])
            try await service.sync(two)
            #expect(try await two.damage("Cause 0") == nil)
            #expect(try await one.undo())
            let zero = ["zero.jpg": Data("zero.jpg".utf8)]
            #expect(try await one.attachments(of: "Cause 0") == zero)
            // And in the service and on the other devices.
            #expect(try await service.sync(one).isEmpty)
            #expect(!one.hasLocalEdits)
            #expect(try await EditConflicts(serviceURL: service.rootURL).conflicts().isEmpty)
            #expect(try await service.servedAttachments()["Cause 0"] == zero)
            try await service.sync(two)
            #expect(try await two.attachments(of: "Cause 0") == zero)
        }
    }

    @Test("Where no attachments go either way the tables have none; with upload only they go there")
    func directions() async throws {
        try await Self.with { service in
            for asFile in [true, false] {
                let none = try await service.takeOffline("none-\(asFile)", asFile: asFile, .none, returns: false)
                #expect(try !none.damages.hasAttachments)
                #expect(try #require(try await none.damage("Cause 0")).canEditAttachments == false)
                let up = try await service.takeOffline("up-\(asFile)", asFile: asFile, .upload, returns: false)
                #expect(try await up.attachments(of: "Cause 0").isEmpty)
                try await add("\(asFile).jpg", Self.photo, to: "Cause 5", up)
                #expect(try await service.sync(up).isEmpty)
                #expect(try await service.servedAttachments()["Cause 5"]?["\(asFile).jpg"] == Self.photo)
            }
        }
    }

    // MARK: Cut lines

    @Test("A lost answer leaves each attachment in the service once")
    func lostAnswer() async throws {
        try await Self.with { service in
            let one = try await service.takeOffline("one")
            try await add("new.jpg", Self.photo, to: "Cause 3", one)
            try await add("large.jpg", Self.large, to: "Cause 3", one)
            service.interceptor.fail("synchronizeReplica", .losesAnswer)
            await #expect(throws: Fieldwork.ServiceError.self) { try await service.sync(one) }
            let uploads = service.interceptor.sent.count { $0 == "append" }
            #expect(uploads == 1)
            #expect(try await service.sync(one).isEmpty)
            #expect(
                try await service.servedAttachments()["Cause 3"] == ["new.jpg": Self.photo, "large.jpg": Self.large])
            // What was uploaded is not uploaded again.
            #expect(service.interceptor.sent.count { $0 == "append" } == uploads)
            #expect(!one.hasLocalEdits)
        }
    }

    @Test("An upload that was cut goes on in another process, and is not registered again")
    func resumedUpload() async throws {
        try await Self.with { service in
            let one = try await service.takeOffline("one")
            let data = Self.large + Self.large + Self.large + Self.large
            #expect(data.count > 1_024 * 1_024)
            try await add("large.jpg", data, to: "Cause 3", one)
            // It is there; then the line is dead for a while.
            service.interceptor.fail(
                "append", .answersAfter { [interceptor = service.interceptor] in interceptor.isOffline = true })
            await #expect(throws: Fieldwork.ServiceError.self) { try await service.sync(one) }
            one.close()
            service.interceptor.isOffline = false
            let before = service.interceptor.sent.count
            let again = Geodatabase(fileURL: service.folder.appending(path: "one.gpkg"))
            #expect(try await service.sync(again).isEmpty)
            let sent = service.interceptor.sent.dropFirst(before)
            #expect(!sent.contains("append"))
            #expect(!sent.contains("register"))
            #expect(try await service.servedAttachments()["Cause 3"] == ["large.jpg": data])
        }
    }

    @Test("A content that arrived though its answer did not is not sent again")
    func lostUploadAnswer() async throws {
        try await Self.with { service in
            let one = try await service.takeOffline("one")
            try await add("large.jpg", Self.large, to: "Cause 3", one)
            service.interceptor.fail("append", .losesAnswer)
            #expect(try await service.sync(one).isEmpty)
            #expect(service.interceptor.sent.count { $0 == "append" } == 1)
            #expect(try await service.servedAttachments()["Cause 3"] == ["large.jpg": Self.large])
        }
    }

    @Test("A feature that left the area and was moved back here comes with the photos it was given meanwhile")
    func movedBack() async throws {
        try await Self.with { service in
            let one = try await service.takeOffline("one")
            let row = try #require(try await service.rows(FeatureQuery(limit: 1)).first)
            try await service.applyAttachments(
                AttachmentEdits(adds: [
                    FieldworkREST.AttachmentEdit(
                        parent: .objectID(row.objectID), name: "new.jpg", contentType: "image/jpeg",
                        content: AttachmentContent(bytes: Array(Self.photo)))
                ]))
            let outside = FeatureEdit(objectID: row.objectID, geometry: .geometry(OfflineService.place(15)))
            let moved = try await service.store.apply(
                EditBatch(layers: [LayerEdits(layerID: 0, updates: [outside])], moment: .now), to: service.name)
            #expect(!moved.hasErrors)
            let feature = try #require(try await one.damage("Cause 0"))
            feature.geometry = OfflineService.place(5)
            try await one.damages.update(feature)
            // This one brings the news that the feature has left, which waits behind the edit made here.
            let task = GeodatabaseSyncTask(url: service.rootURL, environment: service.environment())
            let job = task.makeSyncGeodatabaseJob(
                parameters: try await task.makeDefaultSyncGeodatabaseParameters(
                    geodatabase: one, syncDirection: .download), geodatabase: one)
            job.start()
            _ = try await job.output
            #expect(try await one.attachments(of: "Cause 0").keys.sorted() == ["zero.jpg"])
            #expect(try await service.sync(one).isEmpty)
            #expect(try await one.attachments(of: "Cause 0").keys.sorted() == ["new.jpg", "zero.jpg"])
            #expect(try await one.attachments(of: "Cause 0")["new.jpg"] == Self.photo)
            #expect(!one.hasLocalEdits)
        }
    }
}
