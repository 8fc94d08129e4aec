package import Foundation

/// The edits that a client made on its replica and hands in.
package struct ReplicaUpload: Sendable {
    /// Names this upload: the same one again gets the recorded results and changes nothing. nil for clients that know
    /// only the plain protocol.
    package var id: UUID?
    package var replicaID: UUID
    package var layers: [ReplicaLayerUpload]
    package var rollsBackOnFailure: Bool
    package var editor: String?
    package var moment: Date
    /// What decides when two have changed the same. Clients of the plain protocol know of no other rule than the default.
    package var rule: ConflictRule
    /// What the edits reach; nil for all.
    package var scope: EditScope?

    package init(
        id: UUID? = nil, replicaID: UUID, layers: [ReplicaLayerUpload], rollsBackOnFailure: Bool = false,
        editor: String? = nil, moment: Date, rule: ConflictRule = .lastInWins
    ) {
        self.id = id
        self.replicaID = replicaID
        self.layers = layers
        self.rollsBackOnFailure = rollsBackOnFailure
        self.editor = editor
        self.moment = moment
        self.rule = rule
    }
}

/// The edits of one layer. Features are named by global id.
package struct ReplicaLayerUpload: Sendable {
    package var layerID: Int
    /// The generation that the client had when it edited; an edit with a base of its own goes before it. nil when that is
    /// not known: then every difference counts as a conflict.
    package var baseGeneration: Int64?
    package var adds: [FeatureEdit]
    package var updates: [FeatureEdit]
    package var deletes: [UUID]
    /// Named by global ids, like the features.
    package var attachments = AttachmentEdits()

    package init(
        layerID: Int, baseGeneration: Int64? = nil, adds: [FeatureEdit] = [], updates: [FeatureEdit] = [],
        deletes: [UUID] = []
    ) {
        self.layerID = layerID
        self.baseGeneration = baseGeneration
        self.adds = adds
        self.updates = updates
        self.deletes = deletes
    }

    package var isEmpty: Bool { adds.isEmpty && updates.isEmpty && deletes.isEmpty && attachments.isEmpty }
}

/// What became of an upload.
package struct ReplicaUploadResult: Sendable, Hashable {
    package var layers: [LayerEditResults]
    /// The generation that the upload became; nil when it changed nothing.
    package var generation: Int64?
    /// Whether these are the recorded results of an upload that was handed in before.
    package var isRecorded: Bool
    /// The conflicts that were found, as they are listed.
    package var conflicts: [Int64]

    package init(
        layers: [LayerEditResults], generation: Int64?, isRecorded: Bool = false, conflicts: [Int64] = []
    ) {
        self.layers = layers
        self.generation = generation
        self.isRecorded = isRecorded
        self.conflicts = conflicts
    }

    package var hasErrors: Bool {
        layers.contains { $0.all.contains { !$0.isSuccess } }
    }
}
