package import FieldworkGeometry
import Foundation

extension ReplicaDefinition {
    /// The definition in a form that gives it back whole: what a store keeps.
    package var storageJSON: JSONValue {
        var object = JSONObject()
        object.append("id", .string(id.uuidString))
        object.append("name", .string(name))
        object.append("owner", JSONValue(owner))
        object.append("syncModel", .string(syncModel.rawValue))
        object.append("target", .string(target.rawValue))
        object.append("direction", .string(direction.rawValue))
        object.append("layers", .array(layers.map(Self.json)))
        if let geometry { object.append("geometry", GeoServicesJSON.json(for: geometry)) }
        if let outputReference { object.append("outputReference", GeoServicesJSON.json(for: outputReference)) }
        object.append("returnsAttachments", .bool(attachments.isReturned))
        object.append("attachments", .string(attachments.direction.rawValue))
        object.append("created", .integer(Int64((created.timeIntervalSince1970 * 1_000).rounded())))
        if let view { object.append("view", .string(view)) }
        if let preparedScope { object.append("preparedScope", .string(preparedScope)) }
        return .object(object)
    }

    private static func json(_ layer: ReplicaLayer) -> JSONValue {
        [
            "id": JSONValue(layer.layerID), "option": .string(layer.option.rawValue),
            "usesGeometry": .bool(layer.usesGeometry), "condition": JSONValue(layer.condition),
            "includesRelated": .bool(layer.includesRelated),
        ]
    }

    /// Reads what `storageJSON` wrote.
    package init(storageJSON json: JSONValue) throws(ServiceError) {
        guard let object = json.objectValue, let id = object.string("id").flatMap(UUID.init(uuidString:)),
            let name = object.string("name"),
            let syncModel = object.string("syncModel").flatMap(SyncModel.init(rawValue:)),
            let target = object.string("target").flatMap(Target.init(rawValue:)),
            let direction = object.string("direction").flatMap(SyncDirection.init(rawValue:)),
            let created = object["created"]?.doubleValue
        else { throw Self.malformed }
        var geometry: Geometry?
        var reference: SpatialReference?
        do {
            if let json = object["geometry"] { geometry = try GeoServicesJSON.geometry(from: json) }
            if let json = object["outputReference"] { reference = try GeoServicesJSON.spatialReference(from: json) }
        } catch {
            throw Self.malformed
        }
        var layers: [ReplicaLayer] = []
        for layer in object.array("layers") { layers.append(try Self.layer(layer)) }
        self.init(
            id: id, name: name, owner: object.string("owner"), syncModel: syncModel, target: target,
            direction: direction, layers: layers, geometry: geometry, outputReference: reference,
            attachments: AttachmentSync(
                isReturned: object.bool("returnsAttachments") ?? false,
                direction: object.string("attachments").flatMap(AttachmentSync.Direction.init(rawValue:)) ?? .none),
            created: Date(timeIntervalSince1970: created / 1_000))
        view = object.string("view")
        preparedScope = object.string("preparedScope")
    }

    private static func layer(_ json: JSONValue) throws(ServiceError) -> ReplicaLayer {
        guard let object = json.objectValue, let id = object.integer("id"),
            let option = object.string("option").flatMap(ReplicaLayer.Option.init(rawValue:)),
            let usesGeometry = object.bool("usesGeometry")
        else { throw malformed }
        return ReplicaLayer(
            layerID: id, option: option, usesGeometry: usesGeometry, condition: object.string("condition"),
            includesRelated: object.bool("includesRelated") ?? false)
    }

    private static var malformed: ServiceError { .invalidParameter("The stored definition of a replica is malformed.") }
}
