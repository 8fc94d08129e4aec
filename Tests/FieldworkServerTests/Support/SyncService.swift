import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation

@testable import FieldworkServer

/// A service that clients may take offline: trees, and inspections that belong to them.
enum SyncService {
    static let name = ServiceName(name: "Field")

    static var definition: ServiceDefinition {
        var trees = TreesService.trees
        trees.relationships = [
            RelationshipDefinition(
                id: 0, name: "inspected", relatedTableID: 1, cardinality: .oneToMany, role: .origin,
                keyField: "GlobalID")
        ]
        var inspections = TreesService.inspections
        inspections.relationships = [
            RelationshipDefinition(
                id: 0, name: "inspected", relatedTableID: 0, cardinality: .oneToMany, role: .destination,
                keyField: "TreeID")
        ]
        return ServiceDefinition(
            name: name, capabilities: [.query, .create, .update, .delete, .editing, .sync, .changeTracking],
            maxRecordCount: 1_000, spatialReference: .webMercator, layers: [trees, inspections])
    }

    /// The trees in the service at first, west to east.
    static let trees = (0..<3).map { _ in UUID() }
    static let inspections = (0..<3).map { _ in UUID() }

    /// Runs a test against a server with three trees, 100 metres apart, and an inspection of each.
    static func serve<Result: Sendable>(
        rule: ConflictRule = .lastInWins,
        configuration: ServerConfiguration = ServerConfiguration(port: 0, definitionLifetime: .zero),
        _ test: (TestClient, WholeStore) async throws -> Result
    ) async throws -> Result {
        let folder = FileManager.default.temporaryDirectory.appending(path: "fieldwork-sync-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try await EveryStore.open(in: folder)
        var service = definition
        service.conflictRule = rule
        try await store.createService(service)
        let adds = trees.enumerated().map { index, id in
            FeatureEdit(
                globalID: id, attributes: [("Name", .text("Tree \(index)")), ("Condition", .text("Good"))],
                geometry: .geometry(Point(x: Double(index) * 100, y: 0, spatialReference: .webMercator)))
        }
        let notes = inspections.enumerated().map { index, id in
            FeatureEdit(
                globalID: id,
                attributes: [("TreeID", .text(GUID.normalForm(trees[index]))), ("Note", .text("Note \(index)"))])
        }
        let batch = EditBatch(
            layers: [LayerEdits(layerID: 0, adds: adds), LayerEdits(layerID: 1, adds: notes)], usesGlobalIDs: true,
            moment: TemporaryStore.moment)
        _ = try await store.apply(batch, to: name)
        return try await TestServer.with(store: store, configuration: configuration) { server in
            var client = server.client
            client.base += "/Field/FeatureServer"
            return try await test(client, store)
        }
    }
}

extension JSONValue {
    /// The names of features, in order.
    var names: [String] { (arrayValue ?? []).compactMap { $0["attributes"]?["Name"]?.stringValue } }
    var notes: [String] { (arrayValue ?? []).compactMap { $0["attributes"]?["Note"]?.stringValue } }

    /// A layer's element of a document.
    func element(_ list: String, _ id: Int64) -> JSONValue? {
        self[list]?.arrayValue?.first { $0["id"]?.integerValue == id }
    }

    /// The generation of a layer.
    func generation(_ id: Int64 = 0) -> Int64? {
        self["layerServerGens"]?.arrayValue?.first { $0["id"]?.integerValue == id }?["serverGen"]?.integerValue
    }
}
