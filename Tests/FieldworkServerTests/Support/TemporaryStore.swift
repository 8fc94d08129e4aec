import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation

@testable import FieldworkServer

/// Servers over a real store in a temporary folder.
enum TemporaryStore {
    /// Moment of all edits that tests make beside the server.
    static let moment = Date(timeIntervalSince1970: 1_700_000_000)

    /// Runs a test against a server whose store holds the trees service, with some trees in it, and the archive.
    static func serve<Result: Sendable>(
        trees count: Int = 0,
        configuration: ServerConfiguration = ServerConfiguration(port: 0, definitionLifetime: .zero),
        _ test: (TestServer, GeoPackageStore) async throws -> Result
    ) async throws -> Result {
        let folder = FileManager.default.temporaryDirectory.appending(path: "fieldwork-server-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try await GeoPackageStore.open(at: folder)
        try await store.createService(TreesService.definition)
        try await store.createService(TreesService.archive)
        try await store.createService(TreesService.areas)
        if count > 0 {
            let edits = LayerEdits(layerID: 0, adds: (0..<count).map(tree))
            _ = try await store.apply(
                EditBatch(layers: [edits], moment: moment, origin: .load), to: TreesService.name)
        }
        return try await TestServer.with(store: store, configuration: configuration) { try await test($0, store) }
    }

    /// Trees stand on a grid of 100 columns, 10 metres apart, from the origin on. Their stems count from 1.
    private static func tree(_ index: Int) -> FeatureEdit {
        let position = Point(x: Double(index % 100) * 10, y: Double(index / 100) * 10, spatialReference: .webMercator)
        return FeatureEdit(
            attributes: [
                ("Name", .text("Tree \(index + 1)")), ("Species", .text(index % 3 == 0 ? "Oak" : "Lime")),
                ("Condition", .text("Good")), ("Height", .real(Double(index % 40) + 0.5)),
                ("Stems", .integer(Int64(index + 1))), ("Planted", .integer(1_600_000_000_000)),
            ],
            geometry: .geometry(position))
    }
}
