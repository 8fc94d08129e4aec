import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

@testable import Fieldwork

/// Devices that take an area of a real server offline, edit it, and come back.
@Suite("Working offline", .fewAtATime)
struct OfflineTests {
    /// The service of the sample app, as one that can be taken offline: every table has global ids.
    private static func with(_ test: (TestService) async throws -> Void) async throws {
        var definition = DamageService.definition
        definition.layers = definition.layers.filter { $0.globalIDField != nil }
        definition.capabilities.insert(.sync)
        for index in definition.layers.indices { definition.layers[index].capabilities.insert(.sync) }
        let adds = (0..<20).map { index in
            FeatureEdit(
                attributes: [
                    ("typdamage", .text("Minor")), ("primcause", .text("Cause \(index)")),
                    ("numoccup", .integer(Int64(index))),
                ], geometry: .geometry(place(index)))
        }
        try await TestService.with(definition, rows: [LayerEdits(layerID: 0, adds: adds)], test)
    }

    private static func place(_ index: Int) -> Point {
        Point(
            x: DamageService.place.x + Double(index) * 100, y: DamageService.place.y, spatialReference: .webMercator)
    }

    /// The first ten of the twenty places.
    private static var area: Envelope {
        Envelope(
            xMin: DamageService.place.x - 50, yMin: DamageService.place.y - 500, xMax: DamageService.place.x + 950,
            yMax: DamageService.place.y + 500, spatialReference: .webMercator)
    }

    private func task(_ service: TestService) -> GeodatabaseSyncTask {
        GeodatabaseSyncTask(url: service.url.deletingLastPathComponent(), environment: service.environment())
    }

    private func takeOffline(
        _ service: TestService, device: String, model: Geodatabase.SyncModel = .layer
    ) async throws -> Geodatabase {
        let task = task(service)
        let parameters = try await task.makeDefaultGenerateGeodatabaseParameters(extent: Self.area)
        parameters.syncModel = model
        let job = task.makeGenerateGeodatabaseJob(
            parameters: parameters, downloadFileURL: service.folder.appending(path: "\(device).gpkg"))
        #expect(job.status == .notStarted)
        job.start()
        let geodatabase = try await job.output
        #expect(job.status == .succeeded)
        #expect(job.progress.completedUnitCount == 100)
        try await geodatabase.load()
        return geodatabase
    }

    @discardableResult
    private func sync(_ geodatabase: Geodatabase, _ service: TestService) async throws -> [SyncLayerResult] {
        let task = task(service)
        let parameters = try await task.makeDefaultSyncGeodatabaseParameters(geodatabase: geodatabase)
        let job = task.makeSyncGeodatabaseJob(parameters: parameters, geodatabase: geodatabase)
        job.start()
        return try await job.output
    }

    private func table(_ geodatabase: Geodatabase) throws -> GeodatabaseFeatureTable {
        try #require(geodatabase.featureTable(withServiceLayerID: 0))
    }

    private func feature(_ cause: String, _ geodatabase: Geodatabase) async throws -> ArcGISFeature {
        let parameters = QueryParameters()
        parameters.whereClause = "primcause = '\(cause)'"
        let found = try await table(geodatabase).queryFeatures(using: parameters).features()
        return try #require(found.first { _ in true } as? ArcGISFeature, "\(cause)")
    }

    private func edit(_ cause: String, _ geodatabase: Geodatabase, _ values: [String: any Sendable]) async throws {
        let feature = try await feature(cause, geodatabase)
        for (name, value) in values { feature.setAttributeValue(value, forKey: name) }
        try await table(geodatabase).update(feature)
    }

    private func served(_ cause: String, _ service: TestService) async throws -> AttributeValues? {
        try await service.rows().first { $0.attributes["primcause"] == .text(cause) }?.attributes
    }

    // MARK: There and back

    @Test(
        "An area is taken along, edited, and brought back; another device gets what it has not",
        arguments: [
            Geodatabase.SyncModel.layer, .geodatabase,
        ])
    func thereAndBack(model: Geodatabase.SyncModel) async throws {
        try await Self.with { service in
            let one = try await takeOffline(service, device: "one", model: model)
            let two = try await takeOffline(service, device: "two", model: model)
            let damages = try table(one)
            #expect(try await damages.queryFeatureCount(using: QueryParameters()) == 10)
            #expect(!one.hasLocalEdits)
            #expect(one.syncModel == model)
            #expect(one.syncID != nil && one.syncID != two.syncID)
            #expect(damages.featureTemplates.map(\.name) == ["Damage"])

            try await damages.add(
                damages.makeFeature(attributes: ["typdamage": "Major", "primcause": "New"], geometry: Self.place(3)))
            try await edit("Cause 1", one, ["typdamage": "Destroyed"])
            try await damages.delete(try await feature("Cause 2", one))
            #expect(one.hasLocalEdits)
            #expect(try await sync(one, service).isEmpty)
            #expect(!one.hasLocalEdits)
            #expect(try await served("New", service)?["typdamage"] == .text("Major"))
            #expect(try await served("Cause 1", service)?["typdamage"] == .text("Destroyed"))
            #expect(try await served("Cause 2", service) == nil)

            try await sync(two, service)
            #expect(!two.hasLocalEdits)
            #expect(try await feature("New", two).attributes["typdamage"] as? String == "Major")
            #expect(try await feature("Cause 1", two).attributes["typdamage"] as? String == "Destroyed")
            #expect(try await table(two).queryFeatureCount(using: QueryParameters()) == 10)
            // Once more brings nothing, and sends nothing back.
            let generation = one.serverGeneration
            try await sync(one, service)
            try await sync(two, service)
            #expect(try await service.rows().count == 20)
            #expect(one.serverGeneration >= generation)
        }
    }

    @Test("Different fields of one feature merge; of the same field the last one in stands")
    func merge() async throws {
        try await Self.with { service in
            let one = try await takeOffline(service, device: "one")
            let two = try await takeOffline(service, device: "two")
            try await edit("Cause 1", one, ["typdamage": "Major"])
            try await edit("Cause 1", two, ["numoccup": Int16(7)])
            try await edit("Cause 4", one, ["typdamage": "Major"])
            try await edit("Cause 4", two, ["typdamage": "Affected"])
            try await sync(one, service)
            try await sync(two, service)
            try await sync(one, service)
            for geodatabase in [one, two] {
                let merged = try await feature("Cause 1", geodatabase).attributes
                #expect(merged["typdamage"] as? String == "Major")
                #expect(merged["numoccup"] as? Int16 == 7)
                #expect(try await feature("Cause 4", geodatabase).attributes["typdamage"] as? String == "Affected")
                #expect(!geodatabase.hasLocalEdits)
            }
            #expect(try await served("Cause 1", service)?["numoccup"] == .integer(7))
        }
    }

    @Test("An edit outside of the area is refused, inside it is kept")
    func outside() async throws {
        try await Self.with { service in
            let geodatabase = try await takeOffline(service, device: "one")
            let damages = try table(geodatabase)
            let far = damages.makeFeature(attributes: ["primcause": "Far"], geometry: Self.place(15))
            await #expect {
                try await damages.add(far)
            } throws: { error in
                if case GeodatabaseError.geometryOutsideReplicaExtent = error { true } else { false }
            }
            let moved = try await feature("Cause 1", geodatabase)
            moved.geometry = Self.place(15)
            await #expect(throws: GeodatabaseError.self) { try await damages.update(moved) }
            #expect(!geodatabase.hasLocalEdits)
        }
    }

    @Test("A sync whose answer is lost is done once, and edits made meanwhile stay")
    func lostAnswer() async throws {
        try await Self.with { service in
            let geodatabase = try await takeOffline(service, device: "one")
            let damages = try table(geodatabase)
            try await damages.add(damages.makeFeature(attributes: ["primcause": "New"], geometry: Self.place(3)))
            try await edit("Cause 1", geodatabase, ["typdamage": "Destroyed"])
            service.interceptor.fail("synchronizeReplica", .losesAnswer)
            await #expect(throws: (any Error).self) { try await sync(geodatabase, service) }
            #expect(geodatabase.hasLocalEdits)
            // The service has the edits; the device does not know, and goes on.
            try await edit("Cause 1", geodatabase, ["numoccup": Int16(9)])
            try await sync(geodatabase, service)
            try await sync(geodatabase, service)
            #expect(!geodatabase.hasLocalEdits)
            let rows = try await service.rows()
            #expect(rows.count { $0.attributes["primcause"] == .text("New") } == 1)
            #expect(rows.count == 21)
            let both = try #require(try await served("Cause 1", service))
            #expect(both["typdamage"] == .text("Destroyed") && both["numoccup"] == .integer(9))
        }
    }

    @Test("In a reference that the service does not keep, the area comes as a document and is the same")
    func otherReference() async throws {
        try await Self.with { service in
            let parameters = try await task(service).makeDefaultGenerateGeodatabaseParameters(extent: Self.area)
            parameters.outSpatialReference = .wgs84
            let job = task(service).makeGenerateGeodatabaseJob(
                parameters: parameters, downloadFileURL: service.folder.appending(path: "degrees.gpkg"))
            job.start()
            let degrees = try await job.output
            try await degrees.load()
            let metres = try await takeOffline(service, device: "metres")
            for number in 0..<10 {
                let (one, other) = (
                    try await feature("Cause \(number)", degrees), try await feature("Cause \(number)", metres)
                )
                #expect(one.attributes["numoccup"] as? Int16 == other.attributes["numoccup"] as? Int16)
                let place = try #require(one.geometry as? Point)
                #expect(place.spatialReference == .wgs84)
                let projected = try #require(GeometryEngine.project(place, into: .webMercator))
                #expect(abs(projected.x - (other.geometry as? Point ?? place).x) < 0.01)
            }
            try await edit("Cause 1", degrees, ["typdamage": "Destroyed"])
            try await sync(degrees, service)
            #expect(try await served("Cause 1", service)?["typdamage"] == .text("Destroyed"))
        }
    }

    // MARK: Jobs

    @Test("A job that was broken off goes on in another process; a cancelled one leaves nothing")
    func jobs() async throws {
        try await Self.with { service in
            let target = service.folder.appending(path: "later.gpkg")
            let parameters = try await task(service).makeDefaultGenerateGeodatabaseParameters(extent: Self.area)
            let first = task(service).makeGenerateGeodatabaseJob(parameters: parameters, downloadFileURL: target)
            let early = first.toJSON()
            // The service is asked, and then the process is gone.
            service.interceptor.fail("/jobs/", .unreachable)
            first.start()
            await #expect(throws: (any Error).self) { _ = try await first.output }
            #expect(!FileManager.default.fileExists(atPath: target.path))
            // The service goes on by itself with what it was asked for.
            var replicas = 0
            for _ in 0..<600 where replicas == 0 {
                try await Task.sleep(for: .milliseconds(100))
                replicas = try await service.store.replicas(of: service.name).count
            }
            #expect(replicas == 1)
            let state = try JSONParser.parse(early)
            let second = try GenerateGeodatabaseJob(snapshot: state, environment: service.environment())
            #expect(second.status == .paused)
            second.start()
            try await second.output.load()
            #expect(try await service.store.replicas(of: service.name).count == 1)

            let other = service.folder.appending(path: "never.gpkg")
            let cancelled = task(service).makeGenerateGeodatabaseJob(parameters: parameters, downloadFileURL: other)
            #expect(await cancelled.cancel())
            await #expect(throws: CancellationError.self) { _ = try await cancelled.output }
            let left = try FileManager.default.contentsOfDirectory(atPath: service.folder.path)
            #expect(!left.contains { $0.hasPrefix("never") })
            #expect(throws: CommonError.self) { _ = try Job.fromJSON(Data("{}".utf8)) }
            #expect(try Job.fromJSON(early) is GenerateGeodatabaseJob)
        }
    }

    @Test("A geodatabase in a transaction is not synced, and no transaction begins during a sync")
    func transactionAndSync() async throws {
        try await Self.with { service in
            let geodatabase = try await takeOffline(service, device: "one")
            try geodatabase.beginTransaction()
            await #expect(throws: CommonError.self) { try await sync(geodatabase, service) }
            try geodatabase.rollbackTransaction()
            try await sync(geodatabase, service)
            try await task(service).unregisterGeodatabase(geodatabase)
            #expect(geodatabase.syncID == nil)
            await #expect(throws: CommonError.self) { try await sync(geodatabase, service) }
        }
    }
}
