import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

@testable import Fieldwork

/// The process died over the answer of a sync, and what was edited before the next one stands against the rest of it: the
/// file has rows of a generation that it will not reach by that answer. The simulator found them stay for good (seed 9512).
@Suite("An answer that was taken over in part", .fewAtATime)
struct HalfTakenAnswerTests {
    /// Takes over an answer, all but the note that it is done, and deletes what the answer tells of.
    private func takeHalf(_ service: TestService) async throws -> Geodatabase {
        let device = try await service.takeOffline("one", asFile: true)
        let session = try device.openSession()
        var record = try #require(session.replica)
        let others = try await service.takeOffline("two", asFile: true)
        try await others.addDamage("New")
        for cause in ["New", "Cause 1"] {
            try await others.damage(cause)?.addAttachment(
                named: "\(cause).jpg", contentType: "image/jpeg", data: Data(cause.utf8))
        }
        try await others.changeDamage("Cause 2", ["typdamage": "Major"])
        try await service.sync(others)

        let parameters = SyncGeodatabaseParameters()
        let document = ReplicaUploadDocument(session: session, record: record, parameters: parameters)
        let client = ReplicaClient(root: record.serviceURL, client: service.environment().client)
        let answer = try await client.synchronize(document.form(nil), isCompressed: false)
        record.arrived = ReplicaRecord.Arrived(
            answer: answer, parameters: parameters.json, through: record.sentGeneration)
        try await session.keep(record)
        _ = try await ReplicaDownload(
            session: session, sent: [], sentAttachments: [], parameters: parameters,
            downloads: service.environment().downloads
        ).takeOver(answer, into: &record)
        #expect(try await device.attachments(of: "New").keys.sorted() == ["New.jpg"])
        #expect(try await device.attachments(of: "Cause 1").keys.sorted() == ["Cause 1.jpg"])
        device.close()

        let reopened = Geodatabase(fileURL: device.fileURL)
        try await reopened.load()
        try await reopened.damages.delete(try #require(try await reopened.damage("Cause 2")))
        return reopened
    }

    private func expectSame(_ device: Geodatabase, _ service: TestService) async throws {
        #expect(!device.hasLocalEdits)
        let area = OfflineService.area
        let there = try await service.rows().filter { row in
            (row.geometry as? Point).map { $0.x >= area.xMin && $0.x <= area.xMax } ?? false
        }.compactMap { $0.attributes["primcause"]?.textValue }
        let here = try await device.damages.queryFeatures(using: QueryParameters()).features()
            .compactMap { $0.attributes["primcause"] as? String }
        #expect(here.sorted() == there.sorted())
        let served = try await service.servedAttachments()
        for cause in here { #expect(try await device.attachments(of: cause) == served[cause] ?? [:], "\(cause)") }
        let record = try #require(try device.openSession().replica)
        #expect(record.arrived == nil && record.halfTaken.isEmpty && record.halfTakenAttachments.isEmpty)
    }

    @Test("What came with it and has gone from the service since goes from the device, too")
    func gone() async throws {
        try await OfflineService.with(attachments: true) { service in
            let device = try await takeHalf(service)
            let new = try #require(try await service.rows().first { $0.attributes["primcause"] == .text("New") })
            let deletes = LayerEdits(layerID: 0, deletes: .features([.objectID(new.objectID)]))
            let batch = EditBatch(layers: [deletes], moment: Date.now)
            #expect(try await !service.store.apply(batch, to: service.name).hasErrors)
            let address = LayerAddress(service: service.name, layerID: 0)
            let photo = try #require(
                try await service.store.attachments(AttachmentQuery(), in: address).attachments.first)
            try await service.applyAttachments(AttachmentEdits(deletes: [AttachmentDelete(.id(photo.id))]))
            try await service.sync(device)
            try await expectSame(device, service)
            #expect(try await device.damage("New") == nil)
            #expect(try await service.rows().count == 19)
        }
    }

    @Test("What is still there stays, edited here or not, and whichever way the next syncs go")
    func stays() async throws {
        try await OfflineService.with(attachments: true) { service in
            let device = try await takeHalf(service)
            try await device.changeDamage("New", ["typdamage": "Destroyed"])
            for direction in [SyncGeodatabaseParameters.SyncDirection.upload, .bidirectional] {
                let task = GeodatabaseSyncTask(url: service.rootURL, environment: service.environment())
                let job = task.makeSyncGeodatabaseJob(
                    syncDirection: direction, rollsBackOnFailure: false, geodatabase: device)
                job.start()
                _ = try await job.output
                #expect(try await device.attachments(of: "New").keys.sorted() == ["New.jpg"])
            }
            try await expectSame(device, service)
            #expect(try await service.served("typdamage")["New"] == .text("Destroyed"))
        }
    }
}
