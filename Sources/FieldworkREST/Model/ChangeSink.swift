package import Foundation

/// What changed in the rows of a layer that a client keeps, between a generation and now. A row that came into the
/// client's area or condition is an add, one that left it a delete.
package struct LayerDelta: Sendable, Hashable {
    package var adds: [Int64]
    package var updates: [Int64]
    package var deletes: [DeletedFeature]
    /// Whether a geometry of the updates changed.
    package var hasGeometryUpdates: Bool
    /// Those of the updates that came into the client's rows: it has kept them with its own edits, but was not told of their
    /// attachments.
    package var returned: [Int64] = []

    package init(
        adds: [Int64] = [], updates: [Int64] = [], deletes: [DeletedFeature] = [], hasGeometryUpdates: Bool = false
    ) {
        self.adds = adds
        self.updates = updates
        self.deletes = deletes
        self.hasGeometryUpdates = hasGeometryUpdates
    }

    package var isEmpty: Bool { adds.isEmpty && updates.isEmpty && deletes.isEmpty }
}

/// A feature that is gone, for one who had it.
package struct DeletedFeature: Sendable, Hashable {
    package var objectID: Int64
    package var globalID: UUID?

    package init(objectID: Int64, globalID: UUID?) {
        self.objectID = objectID
        self.globalID = globalID
    }
}

/// The rows of one layer or table that a client keeps.
package enum ReplicaRows: Sendable, Hashable {
    case none
    case matching(FeatureQuery)
    /// What is related to the rows of the layers with these relationships: rows that hold the key of one of those.
    case related([ReplicaRelation])
}

/// How rows of a table belong to those of another layer: they hold its key.
package struct ReplicaRelation: Sendable, Hashable {
    package var originID: Int
    package var originKey: String
    package var foreignKey: String

    package init(originID: Int, originKey: String, foreignKey: String) {
        self.originID = originID
        self.originKey = originKey
        self.foreignKey = foreignKey
    }
}

/// What a client asks of the change log, layer by layer, read as one state of the service.
package struct ChangeRequest: Sendable {
    package struct Layer: Sendable {
        package var layerID: Int
        /// Changes after this generation; nil for the whole present state.
        package var since: Int64?
        /// How geometries leave.
        package var output: GeometryOutput
        /// What the client has just handed in: what it knows already is not sent back to it.
        package var upload: ReplicaLayerUpload?
        /// The generation that the upload became.
        package var uploadGeneration: Int64?
        /// Whether attachments are wanted as well.
        package var includesAttachments = false
        /// The replica whose client asks: what it handed in and may not keep it is told to delete.
        package var replicaID: UUID?

        package init(
            layerID: Int, since: Int64?, output: GeometryOutput = GeometryOutput(), upload: ReplicaLayerUpload? = nil,
            replicaID: UUID? = nil
        ) {
            self.layerID = layerID
            self.since = since
            self.output = output
            self.upload = upload
            self.replicaID = replicaID
        }
    }

    package var layers: [Layer]
    /// The rows that the client keeps of every layer, also of those that are not asked for: others may depend on them.
    package var rows: [Int: ReplicaRows]

    package init(layers: [Layer], rows: [Int: ReplicaRows]) {
        self.layers = layers
        self.rows = rows
    }
}

/// Takes changes or whole layers from a store and makes a document of them. Calls come in this order: `begin`, then for
/// each layer `beginLayer`, its features as pieces of `Encoder`'s bytes, its attachments, `endLayer`; `end`.
package protocol ChangeSink: Sendable {
    associatedtype Encoder: FeatureEncoder

    /// - Parameter generation: the state that is read: changes after it are the next delta.
    mutating func begin(generation: Int64) throws
    /// - Parameter delta: nil for a layer that comes as a whole.
    mutating func beginLayer(_ layer: LayerDefinition, delta: LayerDelta?) throws
    /// Writes the features of one kind of change; nil when they are not wanted.
    mutating func encoder(for kind: ChangedFeatures, of layer: LayerDefinition, query: FeatureQuery) throws -> Encoder?
    mutating func features(_ bytes: [UInt8]) throws
    mutating func endFeatures(_ kind: ChangedFeatures) throws
    /// Comes before `endLayer`, once for each kind of change that attachments are asked for, and then its attachments.
    mutating func beginAttachments(_ kind: ChangedFeatures) throws
    /// - Parameter content: gives the bytes in pieces, if they are wanted.
    mutating func attachment(
        _ info: AttachmentInfo, content: (_ take: ([UInt8]) throws -> Void) throws -> Void) throws
    mutating func deletedAttachments(_ globalIDs: [UUID]) throws
    mutating func endLayer(_ layer: LayerDefinition) throws
    mutating func end() throws
}

/// A document that holds features alone.
extension ChangeSink {
    package mutating func beginAttachments(_ kind: ChangedFeatures) throws {}
    package mutating func attachment(
        _ info: AttachmentInfo, content: (_ take: ([UInt8]) throws -> Void) throws -> Void
    ) throws {}
    package mutating func deletedAttachments(_ globalIDs: [UUID]) throws {}
}

/// The features of a document of changes, in the order in which they come.
package enum ChangedFeatures: Sendable, Hashable {
    /// A whole layer.
    case all
    case adds, updates
}
