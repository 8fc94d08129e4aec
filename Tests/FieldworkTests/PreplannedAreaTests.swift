import FieldworkGeometry
import FieldworkPortal
import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

@testable import Fieldwork

/// A web map of a portal whose areas are prepared, and people who download them.
private struct AreaPortal {
    let own: OwnPortal
    /// The web map, as Ana sees it, who made it.
    let map: PortalItem

    static func with(_ test: (AreaPortal) async throws -> Void) async throws {
        try await OwnPortal.with { own in
            try await own.store.addServiceItems([own.service.name.path])
            let service = try await own.store.facts(ofService: own.service.name.path).id
            _ = try await own.store.share(
                service, organisation: true, for: .everybody, by: Author(name: "test", address: ""))
            let (portal, user) = try await own.loaded(as: "ana")
            let item = PortalItem(portal: portal, kind: .webMap, title: "Damages")
            let document = """
                {"operationalLayers":[{"id":"damage","title":"Damage","layerType":"ArcGISFeatureLayer",
                "url":"\(own.service.url.absoluteString)"}],"version":"2.31"}
                """
            try await user.add(item, with: .json(Data(document.utf8)))
            try await item.share(with: .organization)
            try await test(AreaPortal(own: own, map: item))
        }
    }

    private var order: MapAreaMaker.Order { MapAreaMaker.Order(title: "North", area: OfflineService.area) }

    @discardableResult
    func prepare() async throws -> MapAreaMaker.Outcome { try await MapAreaMaker(map: map).create(order) }

    /// The task of a person who has signed in.
    func task() throws -> OfflineMapTask {
        OfflineMapTask(portalItem: PortalItem(portal: own.portal(), id: try #require(map.id)))
    }

    func folder(_ name: String) -> URL { own.service.folder.appending(path: name) }

    func job(
        _ name: String, _ change: (DownloadPreplannedOfflineMapParameters) -> Void = { _ in }
    ) async throws -> DownloadPreplannedOfflineMapJob {
        let task = try task()
        let area = try #require(try await task.preplannedMapAreas.first)
        let parameters = try await task.makeDefaultDownloadPreplannedOfflineMapParameters(preplannedMapArea: area)
        change(parameters)
        return task.makeDownloadPreplannedOfflineMapJob(parameters: parameters, downloadDirectory: folder(name))
    }

    func download(
        _ name: String, _ change: (DownloadPreplannedOfflineMapParameters) -> Void = { _ in }
    ) async throws -> DownloadPreplannedOfflineMapResult {
        let job = try await job(name, change)
        job.start()
        return try await job.output
    }

    func sync(_ map: Map) async throws -> OfflineMapSyncResult {
        let task = OfflineMapSyncTask(map: map, environment: own.environment())
        let job = task.makeSyncOfflineMapJob(parameters: try await task.makeDefaultOfflineMapSyncParameters())
        job.start()
        return try await job.output
    }

    /// Causes of the damages that the service has.
    func served() async throws -> [String] {
        try await own.service.rows().compactMap { $0.attributes["primcause"]?.textValue }.sorted()
    }

    func replicas(_ states: Set<Replica.State> = [.live]) async throws -> [Replica] {
        try await own.service.store.replicas(of: own.service.name).filter { states.contains($0.state) }
    }

    /// Somebody at a desk changes a damage of the area.
    func edit(_ objectID: Int64, cause: String) async throws {
        let edits = LayerEdits(
            layerID: 0, updates: [FeatureEdit(objectID: objectID, attributes: [("primcause", .text(cause))])])
        let result = try await own.service.store.apply(
            EditBatch(layers: [edits], moment: Date.now), to: own.service.name)
        #expect(!result.hasErrors)
    }
}

extension DownloadPreplannedOfflineMapResult {
    fileprivate var damages: GeodatabaseFeatureTable {
        get throws {
            let layer = try #require(offlineMap.operationalLayers.first as? FeatureLayer)
            return try #require(layer.featureTable as? GeodatabaseFeatureTable)
        }
    }

    fileprivate func causes() async throws -> [String] {
        try await offlineMap.load()
        let result = try await damages.queryFeatures(using: QueryParameters())
        return Array(result.features()).compactMap { $0.attributes["primcause"] as? String }.sorted()
    }

    fileprivate func add(_ cause: String) async throws {
        try await offlineMap.load()
        let table = try damages
        try await table.add(table.makeFeature(attributes: ["primcause": cause], geometry: OfflineService.place(3)))
    }
}

@Suite("Areas that are prepared", .fewAtATime)
struct PreplannedAreaTests {
    @Test("Two crews get the same file, edit offline, and nothing is lost or doubled; a third person's edits arrive")
    func twoCrews() async throws {
        try await AreaPortal.with { portal in
            let made = try await portal.prepare()
            #expect(made.services == 1 && made.size > 0 && made.reasons.isEmpty)
            let prepared = try #require(try await portal.replicas().first)
            #expect(prepared.definition.preparedScope != nil)
            // Changed after the file was made: both crews get it with their first synchronisation.
            try await portal.edit(1, cause: "Desk")
            try await portal.own.signIn("ben")
            let (north, south) = (try await portal.download("north"), try await portal.download("south"))
            defer { for result in [north, south] { result.mobileMapPackage.close() } }
            #expect(!north.hasErrors && !south.hasErrors)
            // No row was read for them: the file is the one that was made before.
            let before = try await north.causes()
            #expect(before.count == 10 && before.contains("Cause 0") && !before.contains("Desk"))
            #expect(try await south.causes() == before)
            let ids = try await portal.replicas().map(\.definition.id)
            #expect(Set(ids).count == 3)
            let own = [north, south].compactMap { $0.mobileMapPackage.geodatabases.first?.syncID }
            #expect(Set(own).count == 2 && !own.contains(prepared.definition.id))

            try await north.add("From north")
            try await south.add("From south")
            #expect(try await portal.sync(north.offlineMap).hasErrors == false)
            try await portal.edit(2, cause: "Desk again")
            #expect(try await portal.sync(south.offlineMap).hasErrors == false)
            #expect(try await portal.sync(north.offlineMap).hasErrors == false)
            let served = try await portal.served()
            #expect(served.count == 22 && served.count { $0 == "From north" } == 1)
            #expect(served.count { $0 == "From south" } == 1)
            let expected = before.filter { !["Cause 0", "Cause 1"].contains($0) }
            let after = (expected + ["Desk", "Desk again", "From north", "From south"]).sorted()
            #expect(try await north.causes() == after)
            #expect(try await south.causes() == after)
        }
    }

    @Test("The areas of a map are listed with what they are; one whose files are not ready can't be downloaded")
    func listing() async throws {
        try await AreaPortal.with { portal in
            #expect(try await portal.task().preplannedMapAreas.isEmpty)
            let made = try await portal.prepare()
            try await portal.own.signIn("vera")
            let area = try #require(try await portal.task().preplannedMapAreas.first)
            #expect(area.portalItem.title == "North" && area.packagingStatus == nil && area.contentItems.isEmpty)
            try await area.load()
            #expect(area.packagingStatus == .complete && area.contentItems.count == 1)
            #expect(area.contentSize == made.size && area.packagingDate != nil)
            let extent = try #require(area.areaOfInterest?.extent)
            #expect(abs(extent.xMin - OfflineService.area.xMin) < 0.01)
            try await portal.map.reread()
            #expect(portal.map.typeKeywords.contains("Offline"))

            for (status, isKnown) in [("processing", true), ("failed", true)] {
                var change = ItemChange()
                change.others["properties"] = ["status": .string(status)]
                try await portal.own.store.updateItem(
                    made.area.rawValue, change, for: .everybody, by: Author(name: "test", address: ""))
                let unready = PreplannedMapArea(portalItem: area.portalItem)
                await #expect {
                    try await unready.load()
                } throws: { error in
                    if case MappingError.packagingNotComplete = error { true } else { false }
                }
                #expect((unready.packagingStatus != nil) == isKnown)
            }
        }
    }

    @Test("A download that was broken off goes on in another process, under the same replica")
    func broken() async throws {
        try await AreaPortal.with { portal in
            try await portal.prepare()
            let first = try await portal.job("crew")
            let state = first.toJSON()
            first.start()
            let note = portal.folder("crew.making").appending(path: "data.gpkg.job")
            for _ in 0..<2_000 where !FileManager.default.fileExists(atPath: note.path) {
                try await Task.sleep(for: .milliseconds(1))
            }
            first.pause()
            let again = try DownloadPreplannedOfflineMapJob(
                snapshot: try JSONParser.parse(state), environment: portal.own.environment())
            #expect(again.parameters.preplannedMapArea.portalItem.id != nil)
            again.start()
            let result = try await again.output
            defer { result.mobileMapPackage.close() }
            #expect(try await result.causes().count == 10)
            // The prepared one and the crew's.
            #expect(try await portal.replicas().count == 2)
            #expect(try MobileMapPackage.damage(fileURL: portal.folder("crew")).isEmpty)
        }
    }

    @Test("An area that is prepared anew gives newer files; who has the former ones goes on with them")
    func renewal() async throws {
        try await AreaPortal.with { portal in
            try await portal.prepare()
            let former = try await portal.download("former")
            defer { former.mobileMapPackage.close() }
            let begun = try await portal.job("begun")
            try await portal.edit(1, cause: "Newer")
            let area = try #require(try await portal.task().preplannedMapAreas.first)
            _ = try await MapAreaMaker(map: portal.map).update(area)
            #expect(try await portal.replicas([.retired]).count == 1)
            let newer = try await portal.download("newer")
            defer { newer.mobileMapPackage.close() }
            #expect(try await newer.causes().contains("Newer"))
            #expect(try await !former.causes().contains("Newer"))
            // It read the area before, and takes what there is now.
            begun.start()
            let late = try await begun.output
            defer { late.mobileMapPackage.close() }
            #expect(try await late.causes().contains("Newer"))
            try await former.add("From the former file")
            #expect(try await portal.sync(former.offlineMap).hasErrors == false)
            #expect(try await former.causes().contains("Newer"))
            #expect(try await portal.served().count { $0 == "From the former file" } == 1)

            try await MapAreaMaker(map: portal.map).delete(
                try #require(try await portal.task().preplannedMapAreas.first))
            #expect(try await portal.task().preplannedMapAreas.isEmpty)
            #expect(try await portal.replicas().allSatisfy { $0.definition.preparedScope == nil })
            #expect(try await portal.sync(newer.offlineMap).hasErrors == false)
        }
    }

    @Test("An area that is never synchronised registers nothing with its services")
    func withoutUpdates() async throws {
        try await AreaPortal.with { portal in
            try await portal.prepare()
            let result = try await portal.download("copy") { $0.updateMode = .noUpdates }
            defer { result.mobileMapPackage.close() }
            #expect(try await result.causes().count == 10)
            #expect(result.mobileMapPackage.geodatabases.first?.syncID == nil)
            #expect(try await portal.replicas().count == 1)
            #expect(try await portal.sync(result.offlineMap).layerResults.isEmpty)
        }
    }

    @Test("Who sees the map and may not read its features gets none of them")
    func withoutRight() async throws {
        try await AreaPortal.with { portal in
            try await portal.prepare()
            let service = try await portal.own.store.facts(ofService: portal.own.service.name.path).id
            _ = try await portal.own.store.share(
                service, organisation: false, for: .everybody, by: Author(name: "test", address: ""))
            try await portal.own.signIn("vera")
            await #expect(throws: (any Error).self) { _ = try await portal.download("secret") }
            #expect(!FileManager.default.fileExists(atPath: portal.folder("secret").path))
            let left = FileManager.default.enumerator(atPath: portal.folder("secret.making").path)
            #expect((left?.allObjects as? [String] ?? []).allSatisfy { !$0.contains(".gpkg") || $0.hasSuffix(".job") })
            #expect(try await portal.replicas().count == 1)
        }
    }
}
