import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

@testable import Fieldwork

/// Syncs that do not go as planned; each of these was once a way to lose an edit, and the simulator found it.
@Suite("Interrupted syncs", .fewAtATime)
struct InterruptedSyncTests {
    private static func with(
        rule: ConflictRule = .lastInWins, _ test: (TestService) async throws -> Void
    ) async throws {
        var definition = DamageService.definition
        definition.layers = definition.layers.filter { $0.globalIDField != nil }
        definition.capabilities.insert(.sync)
        definition.conflictRule = rule
        for index in definition.layers.indices { definition.layers[index].capabilities.insert(.sync) }
        let adds = (0..<4).map { index in
            FeatureEdit(
                attributes: [("typdamage", .text("Minor")), ("primcause", .text("Cause \(index)"))],
                geometry: .geometry(place(index)))
        }
        try await TestService.with(definition, rows: [LayerEdits(layerID: 0, adds: adds)], test)
    }

    private static func place(_ index: Int) -> Point {
        Point(
            x: DamageService.place.x + Double(index) * 100, y: DamageService.place.y, spatialReference: .webMercator)
    }

    private func task(_ service: TestService) -> GeodatabaseSyncTask {
        GeodatabaseSyncTask(url: service.url.deletingLastPathComponent(), environment: service.environment())
    }

    /// - Parameter count: how many of the places are taken along, from the west.
    private func takeOffline(_ service: TestService, _ device: String, count: Int = 4) async throws -> Geodatabase {
        let west = DamageService.place
        let area = Envelope(
            xMin: west.x - 50, yMin: west.y - 500, xMax: west.x + Double(count) * 100 - 50, yMax: west.y + 500,
            spatialReference: .webMercator)
        let task = task(service)
        let parameters = try await task.makeDefaultGenerateGeodatabaseParameters(extent: area)
        let job = task.makeGenerateGeodatabaseJob(
            parameters: parameters, downloadFileURL: service.folder.appending(path: "\(device).gpkg"))
        job.start()
        let geodatabase = try await job.output
        try await geodatabase.load()
        return geodatabase
    }

    private func sync(
        _ geodatabase: Geodatabase, _ service: TestService,
        _ direction: SyncGeodatabaseParameters.SyncDirection = .bidirectional
    ) async throws {
        let task = task(service)
        let parameters = try await task.makeDefaultSyncGeodatabaseParameters(
            geodatabase: geodatabase, syncDirection: direction)
        let job = task.makeSyncGeodatabaseJob(parameters: parameters, geodatabase: geodatabase)
        job.start()
        _ = try await job.output
    }

    private func feature(_ cause: String, _ geodatabase: Geodatabase) async throws -> ArcGISFeature {
        let table = try #require(geodatabase.featureTable(withServiceLayerID: 0))
        let parameters = QueryParameters()
        parameters.whereClause = "primcause = '\(cause)'"
        let found = try await table.queryFeatures(using: parameters).features()
        return try #require(found.first { _ in true } as? ArcGISFeature, "\(cause)")
    }

    private func edit(_ cause: String, _ geodatabase: Geodatabase, _ values: [String: any Sendable]) async throws {
        let feature = try await feature(cause, geodatabase)
        for (name, value) in values { feature.setAttributeValue(value, forKey: name) }
        try await feature.table?.update(feature)
    }

    @Test("A sync that completes one that broke off hands in what was edited since, too", arguments: [true, false])
    func editsSince(answerIsLost: Bool) async throws {
        try await Self.with { service in
            let one = try await takeOffline(service, "one")
            try await edit("Cause 0", one, ["typdamage": "Major"])
            service.interceptor.fail("synchronizeReplica", answerIsLost ? .losesAnswer : .unreachable)
            await #expect(throws: Fieldwork.ServiceError.self) { try await sync(one, service) }
            try await edit("Cause 0", one, ["typdamage": "Destroyed"])
            try await edit("Cause 1", one, ["typdamage": "Affected"])
            try await sync(one, service)
            #expect(!one.hasLocalEdits)
            #expect(try await served("Cause 0", service)["typdamage"] == .text("Destroyed"))
            #expect(try await served("Cause 1", service)["typdamage"] == .text("Affected"))
            // The one that broke off, the same again, and what came later.
            #expect(service.interceptor.sent.count { $0 == "synchronizeReplica" } == 3)
        }
    }

    private func served(_ cause: String, _ service: TestService) async throws -> AttributeValues {
        try #require(try await service.rows().first { $0.attributes["primcause"] == .text(cause) }).attributes
    }

    @Test("A feature that is edited again while its upload is under way loses neither edit")
    func editedAgain() async throws {
        try await Self.with { service in
            let device = try await takeOffline(service, "one")
            try await edit("Cause 1", device, ["typdamage": "Major"])
            service.interceptor.fail("synchronizeReplica", .unreachable)
            await #expect(throws: (any Error).self) { try await sync(device, service) }
            try await edit("Cause 1", device, ["numoccup": Int16(7)])
            try await sync(device, service)
            try await sync(device, service)
            let both = try await served("Cause 1", service)
            #expect(both["typdamage"] == .text("Major") && both["numoccup"] == .integer(7))
            #expect(!device.hasLocalEdits)
        }
    }

    @Test("A sync that only fetches leaves an upload that is under way, and its values, alone")
    func fetching() async throws {
        try await Self.with { service in
            let (device, other) = (try await takeOffline(service, "one"), try await takeOffline(service, "two"))
            try await edit("Cause 1", device, ["typdamage": "Major"])
            service.interceptor.fail("synchronizeReplica", .unreachable)
            await #expect(throws: (any Error).self) { try await sync(device, service) }
            try await edit("Cause 1", other, ["typdamage": "Affected"])
            try await sync(other, service)
            try await sync(device, service, .download)
            #expect(device.hasLocalEdits)
            #expect(try await feature("Cause 1", device).attributes["typdamage"] as? String == "Major")
            try await sync(device, service)
            #expect(try await served("Cause 1", service)["typdamage"] == .text("Major"))
        }
    }

    @Test("The first sending of an upload carries its name: the service's own rule for conflicts holds")
    func named() async throws {
        try await Self.with(rule: .firstInWins) { service in
            let (device, other) = (try await takeOffline(service, "one"), try await takeOffline(service, "two"))
            try await edit("Cause 1", other, ["typdamage": "Affected"])
            try await edit("Cause 1", device, ["typdamage": "Major"])
            try await sync(other, service)
            try await sync(device, service)
            #expect(try await served("Cause 1", service)["typdamage"] == .text("Affected"))
            #expect(try await feature("Cause 1", device).attributes["typdamage"] as? String == "Affected")
        }
    }

    @Test("Who was away for longer than the log is kept gets all rows anew, and keeps what he has not sent")
    func longAway() async throws {
        try await Self.with { service in
            let (device, other) = (try await takeOffline(service, "one"), try await takeOffline(service, "two"))
            try await edit("Cause 1", other, ["typdamage": "Affected"])
            let table = try #require(other.featureTable(withServiceLayerID: 0))
            try await table.delete(try await feature("Cause 2", other))
            try await sync(other, service)
            let later = Date.now + 1_000_000
            #expect(try await service.store.compactLog(of: service.name, silentSince: later, olderThan: later) > 0)
            try await edit("Cause 3", device, ["typdamage": "Major"])
            try await sync(device, service, .download)
            #expect(try await feature("Cause 1", device).attributes["typdamage"] as? String == "Affected")
            #expect(try await feature("Cause 3", device).attributes["typdamage"] as? String == "Major")
            let own = try #require(device.featureTable(withServiceLayerID: 0))
            #expect(try await own.queryFeatureCount(using: QueryParameters()) == 3)
            try await sync(device, service)
            #expect(try await served("Cause 3", service)["typdamage"] == .text("Major"))
            #expect(try await service.store.check() == [])
        }
    }

    @Test("What was handed in without fetching, and has left the area since, goes with the next fetch")
    func strayed() async throws {
        try await Self.with { service in
            let device = try await takeOffline(service, "one", count: 2)
            let table = try #require(device.featureTable(withServiceLayerID: 0))
            try await table.add(table.makeFeature(attributes: ["primcause": "New"], geometry: Self.place(1)))
            try await sync(device, service, .upload)
            let other = try await takeOffline(service, "two")
            let moved = try await feature("New", other)
            moved.geometry = Self.place(3)
            try await moved.table?.update(moved)
            try await sync(other, service)
            try await sync(device, service)
            #expect(try await table.queryFeatureCount(using: QueryParameters()) == 2)
        }
    }

    @Test("A feature that the service keeps deleted goes, also when its delete came while it was being edited")
    func deletedMeanwhile() async throws {
        try await Self.with(rule: .firstInWins) { service in
            let (device, other) = (try await takeOffline(service, "one"), try await takeOffline(service, "two"))
            let table = try #require(other.featureTable(withServiceLayerID: 0))
            try await table.delete(try await feature("Cause 1", other))
            try await sync(other, service)
            try await edit("Cause 1", device, ["typdamage": "Major"])
            try await sync(device, service, .download)
            #expect(device.hasLocalEdits)
            try await sync(device, service, .upload)
            try await sync(device, service)
            let own = try #require(device.featureTable(withServiceLayerID: 0))
            #expect(try await own.queryFeatureCount(using: QueryParameters()) == 3)
            #expect(!device.hasLocalEdits)
        }
    }

    @Test("Keeping a feature as it is edits nothing")
    func nothingEdited() async throws {
        try await Self.with { service in
            let device = try await takeOffline(service, "one")
            try await edit("Cause 1", device, ["typdamage": "Minor"])
            #expect(!device.hasLocalEdits)
        }
    }

    @Test("What a sync brought is taken over whole by the next one, when the process died over it")
    func diedOverAnswer() async throws {
        try await Self.with { service in
            let device = try await takeOffline(service, "one")
            let session = try device.openSession()
            var record = try #require(session.replica)
            func office(_ edits: LayerEdits) async throws {
                #expect(
                    try await !service.store.apply(EditBatch(layers: [edits], moment: Date.now), to: service.name)
                        .hasErrors)
            }
            try await office(
                LayerEdits(
                    layerID: 0,
                    adds: [FeatureEdit(attributes: [("primcause", .text("New"))], geometry: .geometry(Self.place(1)))]))
            // The answer has come and is half taken over: the new feature is in the file, the generation is not.
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
            )
            .takeOver(answer, into: &record)
            #expect(try await feature("New", device).attributes["primcause"] as? String == "New")
            device.close()
            // Meanwhile it is gone from the service, which has no reason to tell anybody about it.
            let new = try #require(try await service.rows().first { $0.attributes["primcause"] == .text("New") })
            try await office(LayerEdits(layerID: 0, deletes: .features([.objectID(new.objectID)])))

            let reopened = Geodatabase(fileURL: device.fileURL)
            try await reopened.load()
            #expect(try reopened.openSession().replica?.arrived != nil)
            try await sync(reopened, service)
            let table = try #require(reopened.featureTable(withServiceLayerID: 0))
            #expect(try await table.queryFeatureCount(using: QueryParameters()) == 4)
            #expect(try reopened.openSession().replica?.arrived == nil)
        }
    }
}
