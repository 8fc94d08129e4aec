import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation

/// A feature as it stands in a replica's documents.
struct ReplicaFeature: Sendable {
    var objectID: Int64?
    var globalID: UUID
    var attributes: [(name: String, value: AttributeValue)]
    var geometry: FeatureEdit.GeometryEdit

    /// - Throws: `ServiceError.unknown` for a feature without a global id: nothing could tell it apart.
    init(json: JSONValue, layer: LayerDefinition) throws {
        var values: [(name: String, value: AttributeValue)] = []
        var (objectID, globalID): (Int64?, UUID?) = (nil, nil)
        for member in json["attributes"]?.objectValue?.members ?? [] {
            guard let field = layer.field(named: member.key) else { continue }
            let value = AttributeConversion.normalised(AttributeValue(json: member.value), type: field.type)
            switch field.name {
            case layer.objectIDField: objectID = value.integerValue
            case layer.globalIDField: globalID = value.textValue.flatMap(GUID.parse)
            default: values.append((field.name, value))
            }
        }
        guard let globalID else { throw ServiceError.unknown(details: "A feature of \(layer.name) has no global id.") }
        self.objectID = objectID
        self.globalID = globalID
        attributes = values
        if layer.isTable {
            geometry = .unchanged
        } else if let shape = json["geometry"], !shape.isNull {
            let read = try GeoServicesJSON.geometry(from: shape, defaultSpatialReference: layer.spatialReference)
            geometry = read.map { .geometry($0) } ?? .null
        } else {
            geometry = json["geometry"] == nil ? .unchanged : .null
        }
    }

    func edit(keepsObjectID: Bool) -> FeatureEdit {
        FeatureEdit(
            objectID: keepsObjectID ? objectID : nil, globalID: globalID, attributes: attributes, geometry: geometry)
    }

    /// Takes over state of the service: as it is, and not as edits of this device.
    static func takeOver(_ layers: [LayerEdits], into file: GeoPackageFile) async throws {
        let result = try await onDevice {
            try await file.apply(EditBatch(layers: layers, moment: DeviceClock.now(), origin: .cache))
        }
        let failures = result.layers.flatMap(\.all).compactMap(\.error)
        if let failure = failures.first(where: { $0 != .rolledBack }) ?? failures.first {
            throw GeodatabaseError.internalError(
                details: "What the service sent could not be kept on this device: \(failure.description)")
        }
    }
}
