import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import Testing

/// A folder that is gone when the test is over.
final class TemporaryFolder: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "fieldwork-store-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }
}

/// Small services to test with.
enum Samples {
    static let name = ServiceName(name: "Trees")
    static let trees = LayerAddress(service: name, layerID: 0)
    static let visits = LayerAddress(service: name, layerID: 1)
    static let moment = Date(timeIntervalSince1970: 1_767_323_045.678)

    static let condition = DomainDefinition(
        name: "Condition",
        kind: .codedValues([
            .init(code: .text("good"), name: "Good"), .init(code: .text("fair"), name: "Fair"),
            .init(code: .text("poor"), name: "Poor"),
        ]))

    static var treeFields: [FieldDefinition] {
        [
            FieldDefinition(name: "OBJECTID", type: .oid, isNullable: false, isEditable: false),
            FieldDefinition(name: "species", alias: "Species of tree", type: .string, length: 20),
            FieldDefinition(name: "condition", type: .string, length: 10, domain: condition),
            FieldDefinition(
                name: "height", type: .double,
                domain: DomainDefinition(name: "Height", kind: .range(minimum: .integer(0), maximum: .integer(120)))),
            FieldDefinition(name: "stems", type: .smallInteger, isNullable: false, defaultValue: .integer(1)),
            FieldDefinition(name: "planted", type: .date),
            FieldDefinition(name: "note \"x\"; DROP", type: .string, length: 4_000),
            FieldDefinition(name: "GlobalID", type: .globalID, isNullable: false, isEditable: false),
            FieldDefinition(name: "Creator", type: .string, length: 50, isEditable: false),
            FieldDefinition(name: "CreationDate", type: .date, isEditable: false),
            FieldDefinition(name: "Editor", type: .string, length: 50, isEditable: false),
            FieldDefinition(name: "EditDate", type: .date, isEditable: false),
        ]
    }

    static var treeLayer: LayerDefinition {
        LayerDefinition(
            id: 0, name: "Trees", description: "Street trees", geometryType: .point, spatialReference: .webMercator,
            fields: treeFields, globalIDField: "GlobalID", displayField: "species", editFields: EditFieldsDefinition())
    }

    static var visitTable: LayerDefinition {
        LayerDefinition(
            id: 1, name: "Visits",
            fields: [
                FieldDefinition(name: "OBJECTID", type: .oid, isNullable: false, isEditable: false),
                FieldDefinition(name: "tree", type: .guid),
                FieldDefinition(name: "remark", type: .string, length: 100),
            ])
    }

    static var service: ServiceDefinition {
        ServiceDefinition(name: name, description: "For tests", layers: [treeLayer, visitTable])
    }

    /// A store with the service, empty.
    static func store(in folder: TemporaryFolder) async throws -> GeoPackageStore {
        let store = try await GeoPackageStore.open(at: folder.url)
        try await store.createService(service)
        return store
    }

    /// The same on the store that the test runs on, for replicas.
    static func replicaStore(in folder: TemporaryFolder) async throws -> any ReplicaStore {
        try #require(try await anyStore(in: folder) as? any ReplicaStore)
    }

    /// The same on the store that the test runs on.
    static func anyStore(in folder: TemporaryFolder) async throws -> any FeatureStore {
        let store = try await StoreKind.current.make(in: folder)
        try await store.createService(service)
        return store
    }

    static func tree(
        _ species: String, x: Double = 0, y: Double = 0, globalID: UUID? = nil,
        _ attributes: [(name: String, value: AttributeValue)] = []
    ) -> FeatureEdit {
        FeatureEdit(
            globalID: globalID, attributes: [(name: "species", value: .text(species))] + attributes,
            geometry: .geometry(Point(x: x, y: y, spatialReference: .webMercator)))
    }

    static func batch(
        adds: [FeatureEdit] = [], updates: [FeatureEdit] = [], deletes: [FeatureIdentifier] = [], layerID: Int = 0,
        usesGlobalIDs: Bool = false, rollsBackOnFailure: Bool = true, editor: String? = "ada",
        origin: EditBatch.Origin = .edit
    ) -> EditBatch {
        EditBatch(
            layers: [LayerEdits(layerID: layerID, adds: adds, updates: updates, deletes: .features(deletes))],
            usesGlobalIDs: usesGlobalIDs, rollsBackOnFailure: rollsBackOnFailure, editor: editor, moment: moment,
            origin: origin)
    }
}

extension FeatureStore {
    /// The lines that `TextEncoder` wrote for a query.
    func lines(_ query: FeatureQuery, in layer: LayerAddress = Samples.trees) async throws -> [String] {
        var bytes: [UInt8] = []
        for try await piece in try await encodedFeatures(query, in: layer, encoder: TextEncoder()) { bytes += piece }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }
}
