import FieldworkGeometry
import FieldworkPortal
import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

@testable import Fieldwork

/// Prepared areas that packages of changes keep in step.
@Suite("Scheduled updates of prepared areas", .fewAtATime)
struct ScheduledUpdateTests {
    private func crew(
        _ name: String, _ portal: AreaPortal
    ) async throws -> DownloadPreplannedOfflineMapResult {
        try await portal.download(name) { $0.updateMode = .downloadScheduledUpdates }
    }

    /// The author prepares the area anew.
    private func prepareAnew(_ portal: AreaPortal) async throws {
        try await portal.own.signIn("ana")
        let area = try #require(try await portal.task().preplannedMapAreas.first)
        _ = try await MapAreaMaker(map: portal.map).update(area)
    }

    private func task(_ result: DownloadPreplannedOfflineMapResult, _ portal: AreaPortal) -> OfflineMapSyncTask {
        OfflineMapSyncTask(map: result.offlineMap, environment: portal.own.environment())
    }

    private func check(
        _ result: DownloadPreplannedOfflineMapResult, _ portal: AreaPortal
    ) async throws -> OfflineMapUpdatesInfo {
        try await task(result, portal).checkForUpdates()
    }

    /// What others do at their desks: a change, a delete, a new damage with a photo, one that moves out of the area.
    private func work(_ portal: AreaPortal) async throws {
        try await portal.edit(1, cause: "Changed")
        var edits = LayerEdits(layerID: 0)
        edits.deletes = .features([.objectID(2)])
        edits.updates = [FeatureEdit(objectID: 3, geometry: .geometry(OfflineService.place(15)))]
        edits.adds = [
            FeatureEdit(
                attributes: [("typdamage", .text("Minor")), ("primcause", .text("New"))],
                geometry: .geometry(OfflineService.place(4)))
        ]
        let made = try await portal.own.service.store.apply(
            EditBatch(layers: [edits], moment: Date.now), to: portal.own.service.name)
        #expect(!made.hasErrors)
        let id = try #require(made.layers.first?.adds.first?.objectID)
        try await portal.own.service.applyAttachments(
            AttachmentEdits(adds: [
                FieldworkREST.AttachmentEdit(
                    parent: .objectID(id), name: "new.jpg", contentType: "image/jpeg",
                    content: AttachmentContent(bytes: Array("new".utf8)))
            ]))
    }

    private var worked: [String] {
        (["Changed", "New"] + (3..<10).map { "Cause \($0)" }).sorted()
    }

    private func photos(_ result: DownloadPreplannedOfflineMapResult) async throws -> [String] {
        let table = try result.damages
        var names: [String] = []
        for case let feature as ArcGISFeature in try await table.queryFeatures(using: QueryParameters()).features() {
            for photo in try await feature.attachments {
                names.append("\(photo.name) \(String(decoding: try await photo.data, as: UTF8.self))")
            }
        }
        return names
    }

    /// Packages that the server has made and keeps.
    private func packages(_ portal: AreaPortal) -> [String] {
        let folder = portal.own.service.store.workFolder.appending(path: "results")
        return ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [])
            .filter { $0.hasSuffix(".json") && !$0.hasPrefix(".") }
    }

    @Test("Two crews take over what the author has prepared last by one package, and no service knows of them")
    func onePackage() async throws {
        try await AreaPortal.with(attachments: true) { portal in
            try await portal.prepare()
            try await portal.own.signIn("vera")
            let (north, south) = (try await crew("north", portal), try await crew("south", portal))
            defer { for result in [north, south] { result.mobileMapPackage.close() } }
            #expect(try await portal.replicas().count == 1)
            let task = task(north, portal)
            try await task.load()
            #expect(task.updateCapabilities?.supportsScheduledUpdatesForFeatures == true)
            #expect(task.updateCapabilities?.supportsSyncWithFeatureServices == false)

            // What nobody has prepared does not come.
            try await work(portal)
            var info = try await task.checkForUpdates()
            #expect(info.downloadAvailability == .noneAvailable && info.uploadAvailability == .noneAvailable)
            #expect(info.scheduledUpdatesDownloadSize == 0)
            #expect(try await portal.sync(north.offlineMap).hasErrors == false)
            let before = (0..<10).map { "Cause \($0)" }.sorted()
            #expect(try await north.causes() == before)

            try await prepareAnew(portal)
            try await portal.own.signIn("vera")
            info = try await task.checkForUpdates()
            #expect(info.downloadAvailability == .available && info.scheduledUpdatesDownloadSize > 100)
            let made = packages(portal)
            #expect(made.count == 1)
            for crew in [north, south] {
                let size = try await check(crew, portal).scheduledUpdatesDownloadSize
                #expect(size == info.scheduledUpdatesDownloadSize)
                let result = try await portal.sync(crew.offlineMap)
                #expect(!result.hasErrors && result.layerResults.count == 1)
                #expect(try await crew.causes() == worked)
                #expect(try await photos(crew) == ["new.jpg new"])
                #expect(try await check(crew, portal).downloadAvailability == .noneAvailable)
                #expect(!crew.mobileMapPackage.hasLocalEdits)
            }
            #expect(packages(portal) == made)
            #expect(try await portal.replicas().count == 1)

            // From there on the next package leads.
            try await portal.edit(4, cause: "Later")
            try await prepareAnew(portal)
            #expect(try await portal.sync(north.offlineMap).hasErrors == false)
            #expect(try await north.causes().contains("Later"))
            #expect(try await !south.causes().contains("Later"))
        }
    }

    @Test("It takes no edits, and says why; it opens the same way again")
    func noEdits() async throws {
        try await AreaPortal.with { portal in
            try await portal.prepare()
            let first = try await crew("look", portal)
            first.mobileMapPackage.close()
            let package = MobileMapPackage(fileURL: portal.folder("look"))
            try await package.load()
            defer { package.close() }
            let map = try #require(package.maps.first)
            try await map.load()
            let layer = try #require(map.operationalLayers.first as? FeatureLayer)
            let table = try #require(layer.featureTable as? GeodatabaseFeatureTable)
            #expect(!table.isEditable && !table.canAdd)
            let added = table.makeFeature(attributes: ["primcause": "Nowhere"], geometry: OfflineService.place(3))
            await #expect {
                try await table.add(added)
            } throws: { error in
                guard case GeodatabaseError.tableNotEditable(let details) = error else { return false }
                return details.contains("takes no edits: packages of changes keep the map in step")
            }
            let known = try #require(
                Array(try await table.queryFeatures(using: QueryParameters()).features()).first as? ArcGISFeature)
            #expect(!table.canUpdate(known) && !table.canDelete(known) && !known.canEditAttachments)
            await #expect(throws: GeodatabaseError.self) { try await table.delete(known) }
            #expect(try await table.queryFeatureCount(using: QueryParameters()) == 10)
            let task = OfflineMapSyncTask(map: map, environment: portal.own.environment())
            #expect(try await task.checkForUpdates().downloadAvailability == .noneAvailable)
            let parameters = try await task.makeDefaultOfflineMapSyncParameters()
            #expect(parameters.preplannedScheduledUpdatesOption == .downloadAllUpdates)
        }
    }

    @Test("A package that was taken over when the process ended is taken over again, and changes nothing")
    func takenTwice() async throws {
        try await AreaPortal.with(attachments: true) { portal in
            try await portal.prepare()
            let crew = try await crew("crew", portal)
            defer { crew.mobileMapPackage.close() }
            try await crew.offlineMap.load()
            let session = try #require(crew.mobileMapPackage.geodatabases.first).openSession()
            let before = try #require(try await session.preparedRecord())
            try await work(portal)
            try await prepareAnew(portal)
            for _ in 0..<2 {
                #expect(try await portal.sync(crew.offlineMap).hasErrors == false)
                #expect(try await crew.causes() == worked)
                #expect(try await photos(crew) == ["new.jpg new"])
                // As if it had not been written down that the package is in the file.
                try await session.keep(before)
            }
        }
    }

    @Test("What another program has edited in the file stays, and the rest of the feature is taken over")
    func edited() async throws {
        try await AreaPortal.with(attachments: true) { portal in
            try await portal.prepare()
            let crew = try await crew("crew", portal)
            defer { crew.mobileMapPackage.close() }
            try await crew.offlineMap.load()
            let session = try #require(crew.mobileMapPackage.geodatabases.first).openSession()
            let rows = try await session.file.records(FeatureQuery(), in: 0)
            let row = try #require(rows.first { $0.attributes["primcause"] == .text("Cause 5") })
            _ = try await session.apply(
                LayerEdits(
                    layerID: 0,
                    updates: [FeatureEdit(objectID: row.objectID, attributes: [("primcause", .text("By QGIS"))])]))
            try await work(portal)
            let edits = LayerEdits(
                layerID: 0,
                updates: [
                    FeatureEdit(
                        objectID: 6, attributes: [("primcause", .text("By the desk")), ("numoccup", .integer(77))])
                ])
            _ = try await portal.own.service.store.apply(
                EditBatch(layers: [edits], moment: Date.now), to: portal.own.service.name)
            try await prepareAnew(portal)
            #expect(try await portal.sync(crew.offlineMap).hasErrors == false)
            #expect(try await crew.causes() == worked.map { $0 == "Cause 5" ? "By QGIS" : $0 }.sorted())
            let after = try await session.file.records(FeatureQuery(objectIDs: [row.objectID]), in: 0).first
            #expect(after?.attributes["numoccup"] == .integer(77))
            #expect(crew.mobileMapPackage.hasLocalEdits)

            // A feature that is deleted here and changed there: nothing is taken over in part.
            let third = try #require(rows.first { $0.attributes["primcause"] == .text("Cause 7") })
            _ = try await session.apply(LayerEdits(layerID: 0, deletes: .features([.objectID(third.objectID)])))
            try await portal.edit(8, cause: "Changed there")
            try await portal.edit(9, cause: "Not in part")
            try await prepareAnew(portal)
            await #expect {
                _ = try await portal.sync(crew.offlineMap)
            } throws: { error in
                "\(error)".contains("another program has deleted features in it")
            }
            #expect(try await !crew.causes().contains("Not in part"))
        }
    }

    @Test("A file of other rows than the area has now gets all of them, and loses those that are not among them")
    func otherRows() async throws {
        try await AreaPortal.with(attachments: true) { portal in
            try await portal.prepare()
            let crew = try await crew("crew", portal)
            defer { crew.mobileMapPackage.close() }
            try await crew.offlineMap.load()
            let session = try #require(crew.mobileMapPackage.geodatabases.first).openSession()
            var record = try #require(try await session.preparedRecord())
            record.scope = "the former condition of the layer"
            try await session.keep(record)
            // A row that neither the area nor the changes know.
            let edits = [
                FeatureEdit(
                    globalID: UUID(), attributes: [("primcause", .text("Of the former condition"))],
                    geometry: .geometry(OfflineService.place(2)))
            ]
            try await ReplicaFeature.takeOver([LayerEdits(layerID: 0, adds: edits)], into: session.file)
            try await work(portal)
            try await prepareAnew(portal)
            #expect(try await portal.sync(crew.offlineMap).hasErrors == false)
            #expect(try await crew.causes() == worked)
            #expect(try await photos(crew) == ["new.jpg new"])
        }
    }

    @Test("An area that was deleted, or that somebody may not read any more, says so and leaves the map as it is")
    func gone() async throws {
        try await AreaPortal.with(attachments: true) { portal in
            try await portal.prepare()
            try await portal.own.signIn("vera")
            let crew = try await crew("crew", portal)
            defer { crew.mobileMapPackage.close() }
            let before = try await crew.causes()
            try await work(portal)
            try await prepareAnew(portal)
            let service = try await portal.own.store.facts(ofService: portal.own.service.name.path).id
            let author = Author(name: "test", address: "")
            _ = try await portal.own.store.share(service, organisation: false, for: .everybody, by: author)
            try await portal.own.signIn("vera")
            await #expect(throws: (any Error).self) { _ = try await portal.sync(crew.offlineMap) }
            #expect(packages(portal).isEmpty)
            _ = try await portal.own.store.share(service, organisation: true, for: .everybody, by: author)
            try await portal.own.signIn("ana")
            try await MapAreaMaker(map: portal.map).delete(
                try #require(try await portal.task().preplannedMapAreas.first))
            await #expect(throws: (any Error).self) { _ = try await portal.sync(crew.offlineMap) }
            #expect(try await crew.causes() == before)
        }
    }
}
