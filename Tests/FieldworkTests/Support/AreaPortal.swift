import FieldworkGeometry
import FieldworkPortal
import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

@testable import Fieldwork

/// A web map of a portal whose areas are prepared, and people who download them.
struct AreaPortal {
    let own: OwnPortal
    /// The web map, as Ana sees it, who made it.
    let map: PortalItem

    static func with(attachments: Bool = false, _ test: (AreaPortal) async throws -> Void) async throws {
        try await OwnPortal.with(attachments: attachments) { own in
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
    var damages: GeodatabaseFeatureTable {
        get throws {
            let layer = try #require(offlineMap.operationalLayers.first as? FeatureLayer)
            return try #require(layer.featureTable as? GeodatabaseFeatureTable)
        }
    }

    func causes() async throws -> [String] {
        try await offlineMap.load()
        let result = try await damages.queryFeatures(using: QueryParameters())
        return Array(result.features()).compactMap { $0.attributes["primcause"] as? String }.sorted()
    }

    func add(_ cause: String) async throws {
        try await offlineMap.load()
        let table = try damages
        try await table.add(table.makeFeature(attributes: ["primcause": cause], geometry: OfflineService.place(3)))
    }
}
