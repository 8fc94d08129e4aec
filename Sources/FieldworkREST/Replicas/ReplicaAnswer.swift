package import FieldworkGeometry
package import Foundation

/// What a service says of its replicas.
package enum ReplicaAnswer {
    package static func list(_ replicas: [Replica], returnsDates: Bool) -> JSONValue {
        .array(
            replicas.map { replica in
                var object = JSONObject()
                object.append("replicaName", .string(replica.definition.name))
                object.append("replicaID", .string(id(of: replica.definition)))
                if returnsDates { object.append("lastSyncDate", milliseconds(replica.lastSync)) }
                return .object(object)
            })
    }

    package static func id(of definition: ReplicaDefinition) -> String { definition.id.uuidString.lowercased() }

    package static func milliseconds(_ date: Date) -> JSONValue {
        .integer(Int64((date.timeIntervalSince1970 * 1_000).rounded()))
    }

    package static func info(_ replica: Replica) -> JSONValue {
        let definition = replica.definition
        var object = JSONObject()
        object.append("replicaName", .string(definition.name))
        object.append("replicaID", .string(id(of: definition)))
        object.append("replicaOwner", JSONValue(definition.owner ?? ""))
        object.append("syncModel", .string(definition.syncModel.rawValue))
        object.append("targetType", .string(definition.target.rawValue))
        object.append("syncDirection", .string(definition.direction.rawValue))
        if definition.syncModel == .perReplica {
            object.append("replicaServerGen", replica.generations.values.min().map { .integer($0) } ?? .null)
        } else {
            object.append("replicaServerGen", .null)
            object.append(
                "layerServerGens",
                .array(
                    definition.layers.map {
                        ["id": JSONValue($0.layerID), "serverGen": .integer(replica.generations[$0.layerID] ?? 0)]
                    }))
        }
        object.append("creationDate", milliseconds(definition.created))
        object.append("lastSyncDate", milliseconds(replica.lastSync))
        object.append("returnAttachments", .bool(definition.attachments.isReturned))
        object.append("attachmentsSyncDirection", .string(definition.attachments.direction.rawValue))
        object.append("spatialRel", .string(SpatialFilter.Relation.intersects.rawValue))
        if let geometry = definition.geometry { object.append("geometry", GeoServicesJSON.json(for: geometry)) }
        object.append("layers", .array(definition.layers.map(layer)))
        object.append("state", .string(replica.state.rawValue))
        if definition.preparedScope != nil { object.append("prepared", true) }
        return .object(object)
    }

    private static func layer(_ layer: ReplicaLayer) -> JSONValue {
        [
            "id": JSONValue(layer.layerID), "queryOption": .string(layer.option.rawValue),
            "useGeometry": .bool(layer.usesGeometry), "includeRelated": .bool(layer.includesRelated),
            "where": .string(layer.condition ?? ""),
        ]
    }

    /// The members that a document of a replica begins with.
    /// The name of the note in a replica's file that says which replica it is.
    package static let fileNote = "replicaDocument"

    /// The generations of a replica's layers, as its model tells them.
    package static func generations(of definition: ReplicaDefinition, _ generation: (Int) -> Int64) -> JSONObject {
        switch definition.syncModel {
        case .none: JSONObject()
        case .perReplica:
            JSONObject([
                "replicaServerGen": .integer(definition.layers.map { generation($0.layerID) }.min() ?? 0)
            ])
        case .perLayer:
            JSONObject([
                "layerServerGens": .array(
                    definition.layers.map {
                        ["id": JSONValue($0.layerID), "serverGen": .integer(generation($0.layerID))]
                    })
            ])
        }
    }

    package static func head(of definition: ReplicaDefinition) -> JSONObject {
        var head = JSONObject()
        head.append("replicaName", .string(definition.name))
        if definition.syncModel != .none { head.append("replicaID", .string(id(of: definition))) }
        head.append("transportType", "esriTransportTypeEmbedded")
        head.append("syncModel", .string(definition.syncModel.rawValue))
        head.append("targetType", .string(definition.target.rawValue))
        // Ours: requests may be compressed, and so may edits that come as an upload.
        head.append("acceptsGzip", true)
        return head
    }
}

/// What a service can do with replicas, as its root advertises it.
package enum ReplicaAbilities {
    /// Whether a service lets clients keep replicas: it says so, and every feature has an identity.
    package static func allowsSync(_ service: ServiceDefinition) -> Bool {
        service.capabilities.contains(.sync) && isTracked(service)
    }

    package static func allowsExtract(_ service: ServiceDefinition) -> Bool {
        (service.capabilities.contains(.changeTracking) || service.capabilities.contains(.sync)) && isTracked(service)
    }

    private static func isTracked(_ service: ServiceDefinition) -> Bool {
        !service.layers.isEmpty && service.layers.allSatisfy { $0.globalIDField != nil }
    }

    /// - Parameters:
    ///   - generation: of the service now.
    ///   - floors: by layer, the generation from which on changes can be had.
    package static func members(
        _ service: ServiceDefinition, generation: Int64, floors: [Int: Int64]
    ) -> JSONObject {
        var object = JSONObject()
        if allowsSync(service) {
            object.append("syncEnabled", true)
            object.append("syncCapabilities", syncCapabilities(service))
        }
        guard allowsExtract(service) else { return object }
        object.append(
            "extractChangesCapabilities",
            [
                "supportsReturnIdsOnly": true, "supportsReturnExtentOnly": false, "supportsReturnAttachments": true,
                "supportsLayerQueries": true, "supportsGeometry": true, "supportsSpatialFilter": true,
                "supportsReturnFeature": true, "supportsServerGens": true, "supportsFieldsToCompare": false,
                "supportsReturnHasGeometryUpdates": true,
            ])
        object.append(
            "changeTrackingInfo",
            [
                "layerServerGens": .array(
                    service.layers.map {
                        [
                            "id": JSONValue($0.id), "minServerGen": .integer(floors[$0.id] ?? 0),
                            "serverGen": .integer(generation),
                        ]
                    })
            ])
        return object
    }

    private static func syncCapabilities(_ service: ServiceDefinition) -> JSONValue {
        [
            "supportsAsync": true, "supportsRegisteringExistingData": true, "supportsSyncDirectionControl": true,
            "supportsPerLayerSync": true, "supportsPerReplicaSync": true, "supportsSyncModelNone": true,
            "supportsRollbackOnFailure": true, "supportsAttachmentsSyncDirection": true,
            "supportsBiDirectionalSyncForServer": false, "supportedSyncDataOptions": 0,
            "supportsQueryWithDatumTransformation": false, "supportsLayerQueryFields": false,
            // What clients that know more than the plain protocol may use.
            "fieldwork": [
                "supportsUploadId": true, "supportsFieldMerge": true, "supportsGeoPackage": true,
                "conflictRule": .string(service.conflictRule.rawValue),
            ],
        ]
    }
}
