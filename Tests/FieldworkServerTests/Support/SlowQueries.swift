import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation

@testable import FieldworkServer

/// A service with so many trees that a condition can be made as slow as wanted.
enum SlowQueries {
    static let trees = 20_000

    /// Runs a test against a server over a store of the kind that the test runs on.
    /// - Parameter trees: how many there are to begin with.
    static func serve(
        trees: Int = trees, configuration: ServerConfiguration,
        _ test: (TestServer, WholeStore) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "fieldwork-slow-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try await EveryStore.open(in: folder)
        var service = TreesService.definition
        service.capabilities = SyncService.definition.capabilities
        try await store.createService(service)
        let edits = LayerEdits(layerID: 0, adds: (0..<trees).map(tree))
        if trees > 0 {
            _ = try await store.apply(
                EditBatch(layers: [edits], moment: TemporaryStore.moment, origin: .load), to: TreesService.name)
        }
        // The server closes the store.
        try await TestServer.with(store: store, configuration: configuration) { try await test($0, store) }
    }

    private static let species = String(repeating: "Oak", count: 16)

    private static func tree(_ number: Int) -> FeatureEdit {
        FeatureEdit(
            attributes: [("Name", .text("Tree \(number)")), ("Species", .text(species)), ("Stems", .integer(1))],
            geometry: .geometry(
                Point(x: Double(number % 200), y: Double(number / 200), spatialReference: .webMercator)))
    }

    /// A condition that no tree meets, after it has been compared with so many patterns.
    static func condition(_ patterns: Int) -> String {
        (0..<patterns).map { "UPPER(Name) LIKE '%T%R%E%E%no tree \($0)%'" }.joined(separator: " OR ")
    }

    /// Would take a minute on a quick machine, near all that a condition may ask for.
    private static let endlessCondition: String = {
        let start = String(repeating: "OAK", count: 6)
        return (0..<3_900).map { "UPPER(Species) LIKE '%\(start)no tree \($0)%'" }.joined(separator: " OR ")
    }()

    static let endless = "where=\(TestClient.escape(endlessCondition))"

    /// A replica of what meets such a condition, in the answer itself.
    static let endlessReplica: String = {
        let queries = #"{"0":{"queryOption":"useFilter","useGeometry":false,"where":"\#(endlessCondition)"}}"#
        return "f=json&replicaName=r&layers=0&syncModel=none&dataFormat=json&transportType=esriTransportTypeEmbedded"
            + "&layerQueries=\(TestClient.escape(queries))"
    }()
}
