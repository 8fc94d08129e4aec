import ArcGIS
import FieldworkGeometry
import FieldworkREST
import FieldworkServer
import FieldworkStore
import Foundation

/// A server with the service that the source documents edit.
enum SeedServer {
    static let name = ServiceName(name: "DamageAssessment")

    private static let device = FileManager.default.temporaryDirectory
        .appending(path: "fieldwork-seed-device-\(UUID().uuidString)")

    /// Keeps the edits of all tests of this process in one folder of their own.
    static func keepEditsAside() { ArcGISEnvironment.localEditsDirectory = device }

    private static let kinds = DomainDefinition(
        name: "DamageKind",
        kind: .codedValues(
            ["Inaccessible", "Affected", "Minor", "Major", "Destroyed"].map { .init(code: .text($0), name: $0) }))

    private static let layer = LayerDefinition(
        id: 0, name: "Damage", geometryType: .point, spatialReference: .webMercator,
        fields: [
            FieldDefinition(name: "OBJECTID", type: .oid, isNullable: false, isEditable: false),
            FieldDefinition(name: "typdamage", type: .string, length: 32, domain: kinds),
            FieldDefinition(name: "primcause", type: .string, length: 254),
            FieldDefinition(name: "globalid", type: .globalID, length: 38, isNullable: false, isEditable: false),
        ], globalIDField: "globalid")

    /// Runs a test with the address of the layer and a look at what the server has.
    static func with(
        _ test: @Sendable (URL, @Sendable () async throws -> [FeatureRecord]) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "fieldwork-seed-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try await GeoPackageStore.open(at: folder.appending(path: "services"))
        try await store.createService(
            ServiceDefinition(name: name, spatialReference: .webMercator, layers: [layer]))
        let running = try await RunningFeatureServer.start(store: store)
        let rows: @Sendable () async throws -> [FeatureRecord] = {
            try await store.records(FeatureQuery(), in: LayerAddress(service: name, layerID: 0))
        }
        do {
            let address = "\(running.servicesAddress)/DamageAssessment/FeatureServer/0"
            try await test(URL(string: address) ?? folder, rows)
            try await running.stop()
        } catch {
            try? await running.stop()
            throw error
        }
    }
}
