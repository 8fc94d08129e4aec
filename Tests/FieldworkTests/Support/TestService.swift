import FieldworkGeometry
import FieldworkPortal
import FieldworkREST
import FieldworkServer
import FieldworkStore
import Foundation

@testable import Fieldwork

/// A real server on a free loopback port over a real store, and a folder for a device's edits.
final class TestService: Sendable {
    let folder: URL
    let store: GeoPackageStore
    let running: RunningFeatureServer
    let name: ServiceName
    let interceptor = Interceptor()

    private init(folder: URL, store: GeoPackageStore, running: RunningFeatureServer, name: ServiceName) {
        self.name = name
        self.folder = folder
        self.store = store
        self.running = running
    }

    static func with<Result>(
        damages: Int = 0, _ test: (TestService) async throws -> Result
    ) async throws -> Result {
        let adds = (0..<damages).map { index in
            FeatureEdit(
                attributes: [
                    ("typdamage", .text(index.isMultiple(of: 2) ? "Minor" : "Major")),
                    ("primcause", .text("Cause \(index)")), ("numoccup", .integer(Int64(index))),
                ],
                geometry: .geometry(
                    Point(
                        x: DamageService.place.x + Double(index) * 100, y: DamageService.place.y,
                        spatialReference: .webMercator)))
        }
        return try await with(DamageService.definition, rows: [LayerEdits(layerID: 0, adds: adds)], test)
    }

    /// A service of trees, each with as many inspections as its number.
    static func withTrees<Result>(
        _ count: Int, _ test: (TestService) async throws -> Result
    ) async throws -> Result {
        try await with(TreeService.definition, rows: TreeService.rows(trees: count), test)
    }

    static func with<Result>(
        _ definition: ServiceDefinition, rows: [LayerEdits], portal: FieldworkPortal.Portal? = nil,
        _ test: (TestService) async throws -> Result
    ) async throws -> Result {
        let folder = FileManager.default.temporaryDirectory.appending(path: "fieldwork-sdk-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try await GeoPackageStore.open(at: folder.appending(path: "services"))
        try await store.createService(definition)
        if rows.contains(where: { !$0.adds.isEmpty }) {
            let result = try await store.apply(
                EditBatch(
                    layers: rows, usesGlobalIDs: rows.contains { $0.adds.contains { $0.globalID != nil } },
                    moment: Date.now), to: definition.name)
            if let error = result.layers.flatMap(\.adds).lazy.compactMap(\.error).first {
                throw CommonError.internalError(details: "The test's rows are refused: \(error)")
            }
        }
        var configuration = ServerConfiguration(port: 0, definitionLifetime: .zero, portal: portal)
        configuration.dataFolder = folder.appending(path: "services")
        let running = try await RunningFeatureServer.start(store: store, configuration: configuration)
        let service = TestService(folder: folder, store: store, running: running, name: definition.name)
        do {
            let result = try await test(service)
            try await running.stop()
            return result
        } catch {
            try? await running.stop()
            throw error
        }
    }

    var url: URL {
        URL(string: "\(running.servicesAddress)/\(name.name)/FeatureServer/0") ?? folder
    }

    /// A device. Two with the same name are the same device, before and after a restart.
    func environment(device: String = "device") -> ServiceEnvironment {
        ServiceEnvironment(directory: folder.appending(path: device), client: interceptor, downloads: interceptor)
    }

    func geodatabase(device: String = "device") async throws -> ServiceGeodatabase {
        let geodatabase = ServiceGeodatabase(url: url, environment: environment(device: device))
        try await geodatabase.load()
        return geodatabase
    }

    /// What the server has.
    func rows(_ query: FeatureQuery = FeatureQuery(), layerID: Int = 0) async throws -> [FeatureRecord] {
        try await store.records(query, in: LayerAddress(service: name, layerID: layerID))
    }
}
