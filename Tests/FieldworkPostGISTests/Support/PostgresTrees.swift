import FieldworkGeometry
import FieldworkPostGIS
import FieldworkREST
import FieldworkStore
import Foundation
import TemporaryPostgres
import Testing

/// A service of trees in a database of its own.
struct PostgresTrees {
    let address: String
    let store: PostgresStore
    let name = ServiceName(name: "Trees")
    var layer: LayerAddress { LayerAddress(service: name, layerID: 0) }

    init(hasAttachments: Bool = false) async throws {
        address = try await TemporaryPostgres.shared.value.storeAddress()
        store = try await PostgresStore.open(address)
        try await store.createService(Self.definition(name, hasAttachments: hasAttachments))
    }

    static func definition(_ name: ServiceName, hasAttachments: Bool = false) -> ServiceDefinition {
        ServiceDefinition(
            name: name,
            layers: [
                LayerDefinition(
                    id: 0, name: "Trees", geometryType: .point, spatialReference: .webMercator,
                    fields: [
                        FieldDefinition(name: "OBJECTID", type: .oid, isNullable: false, isEditable: false),
                        FieldDefinition(name: "species", type: .string, length: 20),
                        FieldDefinition(name: "GlobalID", type: .globalID, isNullable: false, isEditable: false),
                    ], globalIDField: "GlobalID", hasAttachments: hasAttachments)
            ])
    }

    static func tree(_ species: String, x: Double = 0, y: Double = 0, globalID: UUID? = nil) -> FeatureEdit {
        FeatureEdit(
            globalID: globalID, attributes: [("species", .text(species))],
            geometry: .geometry(Point(x: x, y: y, spatialReference: .webMercator)))
    }

    @discardableResult
    func apply(
        adds: [FeatureEdit] = [], updates: [FeatureEdit] = [], deletes: [Int64] = [], photos: [AttachmentEdit] = [],
        usesGlobalIDs: Bool = false
    ) async throws -> LayerEditResults {
        var edits = LayerEdits(
            layerID: 0, adds: adds, updates: updates, deletes: .features(deletes.map { .objectID($0) }))
        edits.attachments.adds = photos
        let batch = EditBatch(layers: [edits], usesGlobalIDs: usesGlobalIDs, editor: "ada", moment: .now)
        return try #require(try await store.apply(batch, to: name).layers.first)
    }

    /// Another program in the service's schema.
    func connection() throws -> PostgresConnection {
        var settings = try PostgresSettings(address)
        settings.searchPath = ["trees"]
        return try PostgresConnection(settings)
    }
}
