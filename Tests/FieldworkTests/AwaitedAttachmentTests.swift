import FieldworkREST
import FieldworkStore
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Fieldwork

/// A photo that can't be had holds up nothing else, and comes as soon as it can be had.
@Suite("Attachments that are awaited", .fewAtATime)
struct AwaitedAttachmentTests {
    private static let photo = Data((0..<50_000).map { UInt8(truncatingIfNeeded: $0 &* 13 &+ $0 / 251) })
    private static let content = "attachments/"

    private static func with(_ test: (TestService) async throws -> Void) async throws {
        try await OfflineService.with(attachments: true, test)
    }

    private static func add(_ name: String, to row: Int, _ service: TestService) async throws {
        let rows = try await service.rows(FeatureQuery(limit: row + 1))
        let edit = FieldworkREST.AttachmentEdit(
            parent: .objectID(rows[row].objectID), name: name, contentType: "image/jpeg",
            content: AttachmentContent(bytes: Array(photo)))
        try await service.applyAttachments(AttachmentEdits(adds: [edit]))
    }

    private static func job(_ geodatabase: Geodatabase, _ service: TestService) async throws -> SyncGeodatabaseJob {
        let job = try await OfflineService.syncJob(geodatabase, environment: service.environment())
        job.start()
        _ = try await job.output
        return job
    }

    @Test("A photo that the service fails over waits, is told of, holds up no edit, and comes when it can")
    func refused() async throws {
        try await Self.with { service in
            let one = try await service.takeOffline("one")
            try await Self.add("a.jpg", to: 2, service)
            try await Self.add("b.jpg", to: 3, service)
            let feature = try #require(try await service.rows(FeatureQuery(limit: 3)).last).objectID
            for kind in ["Major", "Affected", "Destroyed"] {
                service.interceptor.fail("/\(feature)/\(Self.content)", .refused)
                try await one.changeDamage("Cause 5", ["typdamage": kind])
                let job = try await Self.job(one, service)
                #expect(job.messages.contains { $0.message.hasPrefix("1 photos or files can't be had now") })
                #expect(try await service.served("typdamage")["Cause 5"] == .text(kind))
                #expect(!one.hasLocalEdits)
                #expect(try await one.attachments(of: "Cause 2").isEmpty)
                // The others came.
                #expect(try await one.attachments(of: "Cause 3") == ["b.jpg": Self.photo])
            }
            let before = service.interceptor.sent.count
            let job = try await Self.job(one, service)
            #expect(!job.messages.contains { $0.message.contains("can't be had") })
            #expect(service.interceptor.sent.count == before + 2)
            #expect(try await one.attachments(of: "Cause 2") == ["a.jpg": Self.photo])
            // It is awaited no more.
            try await service.sync(one)
            #expect(service.interceptor.sent.count == before + 3)
        }
    }

    @Test("Several photos are fetched at a time: the others are asked for before the first one is there")
    func severalAtOnce() async throws {
        try await Self.with { service in
            let one = try await service.takeOffline("one")
            for row in 0..<5 { try await Self.add("\(row).jpg", to: row, service) }
            let interceptor = service.interceptor
            let asked = Mutex(0)
            interceptor.fail(
                Self.content,
                .answersAfter {
                    // Fetched one by one, the first would wait here for nothing.
                    for _ in 0..<500 where interceptor.downloads.count < Limits.parallelRequests {
                        try await Task.sleep(for: .milliseconds(10))
                    }
                    asked.withLock { $0 = interceptor.downloads.count }
                })
            try await service.sync(one)
            #expect(asked.withLock { $0 } >= Limits.parallelRequests)
            for row in 0..<5 {
                #expect(try await one.attachments(of: "Cause \(row)") == ["\(row).jpg": Self.photo], "\(row)")
            }
        }
    }

    @Test("A sync that only sends photos asks for none, and forgets none")
    func onlySending() async throws {
        try await Self.with { service in
            let one = try await service.takeOffline("one")
            try await Self.add("a.jpg", to: 2, service)
            service.interceptor.fail(Self.content, .refused)
            try await service.sync(one)
            let feature = try #require(try await one.damage("Cause 4"))
            try await feature.addAttachment(named: "mine.jpg", contentType: "image/jpeg", data: Data("mine".utf8))
            let task = GeodatabaseSyncTask(url: service.rootURL, environment: service.environment())
            let job = task.makeSyncGeodatabaseJob(
                parameters: try await task.makeDefaultSyncGeodatabaseParameters(
                    geodatabase: one, syncDirection: .upload), geodatabase: one)
            // Whatever is asked of contents fails.
            service.interceptor.fail(Self.content, .unreachable)
            job.start()
            #expect(try await job.output.isEmpty)
            service.interceptor.mend()
            #expect(try await service.servedAttachments()["Cause 4"] == ["mine.jpg": Data("mine".utf8)])
            #expect(try await one.attachments(of: "Cause 2").isEmpty)
            try await service.sync(one)
            #expect(try await one.attachments(of: "Cause 2") == ["a.jpg": Self.photo])
        }
    }

    @Test("A line that breaks over a photo fails the sync, whose edits and rows are there, and is not asked in vain")
    func brokenLine() async throws {
        try await Self.with { service in
            let one = try await service.takeOffline("one")
            for row in 0..<10 { try await Self.add("a.jpg", to: row, service) }
            try await one.changeDamage("Cause 5", ["typdamage": "Major"])
            for _ in 0..<10 { service.interceptor.fail(Self.content, .unreachable) }
            await #expect {
                try await service.sync(one)
            } throws: { error in
                if case Fieldwork.ServiceError.connectionFailed = error { true } else { false }
            }
            // Those that were on their way, and none that would have followed.
            #expect((1...Limits.parallelRequests).contains(service.interceptor.downloads.count))
            service.interceptor.mend()
            #expect(try await service.served("typdamage")["Cause 5"] == .text("Major"))
            #expect(!one.hasLocalEdits)
            one.close()

            let again = Geodatabase(fileURL: service.folder.appending(path: "one.gpkg"))
            try await again.load()
            #expect(try await again.damage("Cause 2")?.attachments.isEmpty == true)
            try await again.changeDamage("Cause 5", ["typdamage": "Destroyed"])
            #expect(try await service.sync(again).isEmpty)
            #expect(try await service.served("typdamage")["Cause 5"] == .text("Destroyed"))
            for row in 0..<10 { #expect(try await again.attachments(of: "Cause \(row)") == ["a.jpg": Self.photo]) }
        }
    }

    @Test("A photo that is deleted in the service, with its feature or alone, is awaited no more")
    func deletedMeanwhile() async throws {
        try await Self.with { service in
            let one = try await service.takeOffline("one")
            for row in 2..<4 { try await Self.add("a.jpg", to: row, service) }
            for _ in 0..<2 { service.interceptor.fail(Self.content, .refused) }
            try await service.sync(one)
            let rows = try await service.rows(FeatureQuery(limit: 4))
            let address = LayerAddress(service: service.name, layerID: 0)
            let served = try await service.store.attachments(AttachmentQuery(), in: address).attachments
            let photo = try #require(served.first { $0.parentObjectID == rows[2].objectID })
            try await service.applyAttachments(AttachmentEdits(deletes: [AttachmentDelete(.id(photo.id))]))
            let deletes = LayerEdits(layerID: 0, deletes: .features([.objectID(rows[3].objectID)]))
            _ = try await service.store.apply(EditBatch(layers: [deletes], moment: Date.now), to: service.name)
            let before = service.interceptor.sent.count
            for round in 1...2 {
                try await service.sync(one)
                #expect(service.interceptor.sent.count == before + round)
            }
            #expect(try await one.attachments(of: "Cause 2").isEmpty)
            #expect(try await one.damage("Cause 3") == nil)
        }
    }

    @Test("A photo that the service replaces meanwhile comes as it is then")
    func replacedMeanwhile() async throws {
        try await Self.with { service in
            let one = try await service.takeOffline("one")
            try await Self.add("a.jpg", to: 2, service)
            service.interceptor.fail(Self.content, .refused)
            try await service.sync(one)
            let address = LayerAddress(service: service.name, layerID: 0)
            let photo = try #require(
                try await service.store.attachments(AttachmentQuery(), in: address).attachments.first)
            let edit = FieldworkREST.AttachmentEdit(
                id: photo.id, name: "better.jpg", contentType: "image/jpeg",
                content: AttachmentContent(bytes: Array("better".utf8)))
            try await service.applyAttachments(AttachmentEdits(updates: [edit]))
            try await service.sync(one)
            #expect(try await one.attachments(of: "Cause 2") == ["better.jpg": Data("better".utf8)])
        }
    }

    @Test("An area whose document names a photo that the service fails over is taken offline; the first sync brings it")
    func takenOffline() async throws {
        try await Self.with { service in
            try await Self.add("a.jpg", to: 2, service)
            service.interceptor.fail(Self.content, .refused)
            let one = try await service.takeOffline("one", asFile: false)
            #expect(try await one.attachments(of: "Cause 2").isEmpty)
            try await service.sync(one)
            #expect(try await one.attachments(of: "Cause 2") == ["a.jpg": Self.photo])
        }
    }
}
