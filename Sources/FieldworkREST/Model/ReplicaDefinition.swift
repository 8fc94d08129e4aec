package import FieldworkGeometry
package import Foundation

/// What a client takes offline and keeps in step: layers, an area, conditions.
package struct ReplicaDefinition: Sendable, Hashable {
    package var id: UUID
    /// Unique within the service.
    package var name: String
    /// Who created it; nil when nobody had signed in.
    package var owner: String?
    package var syncModel: SyncModel
    package var target: Target
    package var direction: SyncDirection
    package var layers: [ReplicaLayer]
    /// The area, in its own reference; nil for everywhere.
    package var geometry: Geometry?
    /// The reference of the geometries that the client gets; nil for each layer's own.
    package var outputReference: SpatialReference?
    package var attachments: AttachmentSync
    package var created: Date
    /// The view through which it was made, by its path; nil for the service itself. It is synchronised through nothing else.
    package var view: String?
    /// What the layers were when the replica was prepared for others to start from, by `ServiceDefinition.preparedScope`; nil for a
    /// replica that is one client's own.
    package var preparedScope: String?

    package enum SyncModel: String, Sendable, Hashable, CaseIterable {
        case perLayer, perReplica, none
    }

    package enum Target: String, Sendable, Hashable, CaseIterable {
        case client, server
    }

    package init(
        id: UUID, name: String, owner: String? = nil, syncModel: SyncModel = .perLayer, target: Target = .client,
        direction: SyncDirection = .bidirectional, layers: [ReplicaLayer], geometry: Geometry? = nil,
        outputReference: SpatialReference? = nil, attachments: AttachmentSync = AttachmentSync(), created: Date
    ) {
        self.id = id
        self.name = name
        self.owner = owner
        self.syncModel = syncModel
        self.target = target
        self.direction = direction
        self.layers = layers
        self.geometry = geometry
        self.outputReference = outputReference
        self.attachments = attachments
        self.created = created
    }

    package func layer(id: Int) -> ReplicaLayer? { layers.first { $0.layerID == id } }

    /// The replica of a client that starts from a prepared one: the same rows under an id and an owner of its own.
    package func started(by own: ReplicaDefinition) -> ReplicaDefinition {
        var definition = self
        definition.id = own.id
        definition.name = own.name
        definition.owner = own.owner
        definition.created = own.created
        definition.preparedScope = nil
        // A client that never synchronises is not registered.
        if own.syncModel == .none { definition.syncModel = .none }
        return definition
    }
}

/// Which way changes go.
package enum SyncDirection: String, Sendable, Hashable, CaseIterable {
    case bidirectional, download, upload, snapshot
}

/// What a replica does with attachments.
package struct AttachmentSync: Sendable, Hashable {
    /// Whether the replica comes with them.
    package var isReturned: Bool
    package var direction: Direction

    package enum Direction: String, Sendable, Hashable, CaseIterable {
        case none, upload, bidirectional
    }

    package init(isReturned: Bool = false, direction: Direction = .none) {
        self.isReturned = isReturned
        self.direction = direction
    }
}

/// Which rows of a layer or table belong to a replica.
package struct ReplicaLayer: Sendable, Hashable {
    package var layerID: Int
    package var option: Option
    /// Whether the replica's area counts.
    package var usesGeometry: Bool
    package var condition: String?

    package enum Option: String, Sendable, Hashable, CaseIterable {
        /// The whole layer.
        case all
        /// What meets the condition and the area.
        case useFilter
        /// Nothing, or only what is related to the rows of other layers.
        case none
    }

    /// With `none`: whether the rows come that are related to those of other layers of the replica.
    package var includesRelated: Bool

    package init(
        layerID: Int, option: Option = .useFilter, usesGeometry: Bool = true, condition: String? = nil,
        includesRelated: Bool = false
    ) {
        self.layerID = layerID
        self.option = option
        self.usesGeometry = usesGeometry
        self.condition = condition
        self.includesRelated = includesRelated
    }
}

/// A replica as the service keeps it.
package struct Replica: Sendable, Hashable {
    package var definition: ReplicaDefinition
    /// By layer: everything up to this generation is on the client for certain, since it has said so.
    package var generations: [Int: Int64]
    package var lastSync: Date
    package var state: State

    package enum State: String, Sendable, Hashable, CaseIterable {
        /// The change log keeps what it still needs.
        case live
        /// It has been away for too long: the log no longer waits for it. It comes back to life with its next sync.
        case expired
        /// Unregistered. Its client may still hand in the edits that it has.
        case retired
    }

    package init(definition: ReplicaDefinition, generations: [Int: Int64], lastSync: Date, state: State = .live) {
        self.definition = definition
        self.generations = generations
        self.lastSync = lastSync
        self.state = state
    }
}

extension ReplicaDefinition {
    /// The rows of all layers of the replica.
    ///
    /// - Throws: `ServiceError` when a layer can't answer its condition.
    package func rows(in service: ServiceDefinition) throws(ServiceError) -> [Int: ReplicaRows] {
        var rows: [Int: ReplicaRows] = [:]
        for part in layers {
            guard let layer = service.layer(id: part.layerID) else { continue }
            rows[part.layerID] = try self.rows(part, of: layer, in: service)
        }
        return rows
    }

    private func rows(
        _ part: ReplicaLayer, of layer: LayerDefinition, in service: ServiceDefinition
    ) throws(ServiceError) -> ReplicaRows {
        switch part.option {
        case .all:
            var query = FeatureQuery()
            query.restrict(to: layer)
            return .matching(query)
        case .none:
            let relations = part.includesRelated ? relations(to: layer, in: service) : []
            guard relations.isEmpty || layer.restriction == nil else {
                throw .invalidParameter("The rows of \(layer.name) can't be taken along: some of them are not shown.")
            }
            return relations.isEmpty ? .none : .related(relations)
        case .useFilter:
            var parameters = RequestParameters()
            if let condition = part.condition { parameters.set("where", condition) }
            if part.usesGeometry, let geometry, !layer.isTable {
                parameters.set("geometry", GeoServicesJSON.json(for: geometry).text)
            }
            return .matching(try FeatureQuery(filter: parameters, layer: layer))
        }
    }

    /// The relationships that lead from other layers of the replica to one. Those through a table between are not
    /// followed: what they relate belongs to both sides.
    private func relations(to layer: LayerDefinition, in service: ServiceDefinition) -> [ReplicaRelation] {
        layers.filter { $0.layerID != layer.id }.flatMap { part -> [ReplicaRelation] in
            guard let origin = service.layer(id: part.layerID) else { return [] }
            return origin.relationships.compactMap { relationship in
                guard relationship.role == .origin, relationship.relatedTableID == layer.id,
                    relationship.relationshipTableID == nil,
                    let destination = layer.relationships.first(where: {
                        $0.id == relationship.id && $0.role == .destination
                    })
                else { return nil }
                return ReplicaRelation(
                    originID: origin.id, originKey: relationship.keyField, foreignKey: destination.keyField)
            }
        }
    }

    /// Whether a relationship leads to a layer from another one of the replica.
    package func isRelated(_ layer: LayerDefinition, in service: ServiceDefinition) -> Bool {
        !relations(to: layer, in: service).isEmpty
    }
}
