package import FieldworkGeometry
package import Foundation

/// Edits that belong together. Every write, whoever asks for it, becomes one of these.
package struct EditBatch: Sendable {
    package var layers: [LayerEdits]
    /// Identify features by global id: adds keep the client's, and an add whose global id exists already fails.
    package var usesGlobalIDs: Bool
    /// One failed item undoes the whole batch.
    package var rollsBackOnFailure: Bool
    /// Who edits, for editor tracking and history; nil when nobody has signed in.
    package var editor: String?
    package var moment: Date
    package var origin: Origin
    /// The result tells every feature that was changed, before and after.
    package var returnsEditedFeatures = false
    /// The result tells of each feature that a condition chose for deletion, of which there may be
    /// `Limits.listedDeletes`; else only how it went.
    package var listsMatches = true
    /// What a rule of a layer asks for, not a client: it may set fields that clients can't.
    package var isMadeByRule = false
    /// Its place among the batches of whoever sends it; nil when that does not count.
    package var turn: EditTurn?
    /// What the batch reaches; nil for all.
    package var scope: EditScope?

    package enum Origin: Sendable, Hashable {
        /// A user's edit: schema rules, editor tracking, change log.
        case edit
        /// A bulk load into a new layer: schema rules and global ids, no history of what was not there before;
        /// editor fields keep the loaded values.
        case load
        /// State that comes from the service into a client's cache: taken as it is, not logged as a local edit.
        case cache
    }

    package init(
        layers: [LayerEdits], usesGlobalIDs: Bool = false, rollsBackOnFailure: Bool = true, editor: String? = nil,
        moment: Date, origin: Origin = .edit
    ) {
        self.layers = layers
        self.usesGlobalIDs = usesGlobalIDs
        self.rollsBackOnFailure = rollsBackOnFailure
        self.editor = editor
        self.moment = moment
        self.origin = origin
    }
}

/// The features that edits through a view reach. Others are not there for them.
package struct EditScope: Sendable {
    /// By layer, for those that show some of their features.
    package var conditions: [Int: SQLExpression]

    package init(conditions: [Int: SQLExpression]) { self.conditions = conditions }
}

package struct LayerEdits: Sendable {
    package var layerID: Int
    package var adds: [FeatureEdit]
    package var updates: [FeatureEdit]
    package var deletes: Deletes
    /// Deleted features that come back as they were last, with their ids, before anything else is done. Only the store
    /// asks for it.
    package var restores: [UUID] = []
    /// Done after the features.
    package var attachments = AttachmentEdits()
    /// Updates that the store makes itself; their results follow those of `updates`.
    package var calculation: FieldCalculation?

    package enum Deletes: Sendable {
        case features([FeatureIdentifier])
        case matching(FeatureQuery)
    }

    package init(layerID: Int, adds: [FeatureEdit] = [], updates: [FeatureEdit] = [], deletes: Deletes = .features([]))
    {
        self.layerID = layerID
        self.adds = adds
        self.updates = updates
        self.deletes = deletes
    }
}

package enum FeatureIdentifier: Sendable, Hashable {
    case objectID(Int64)
    case globalID(UUID)
}

/// One feature to add or update. Attributes that are not named keep their value (update) or take the default (add).
package struct FeatureEdit: Sendable {
    package var objectID: Int64?
    package var globalID: UUID?
    /// Names match the layer's fields without regard to case. Values are as they came from the client: the store
    /// coerces and checks them against the field.
    package var attributes: [(name: String, value: AttributeValue)]
    package var geometry: GeometryEdit

    package enum GeometryEdit: Sendable {
        case unchanged
        case null
        case geometry(Geometry)
    }

    /// What an add calls itself until the store gives it an id: other edits of the same batch may name it by these.
    package var provisionalObjectID: Int64?
    package var provisionalGlobalID: UUID?
    /// The generation on which an offline client made the edit, where that is another than its upload says.
    package var baseGeneration: Int64?

    /// The reason why the item could not be read at all (malformed geometry, wrong JSON); it fails with this error.
    package var rejection: EditError?

    package init(
        objectID: Int64? = nil, globalID: UUID? = nil, attributes: [(name: String, value: AttributeValue)] = [],
        geometry: GeometryEdit = .unchanged, rejection: EditError? = nil
    ) {
        self.objectID = objectID
        self.globalID = globalID
        self.attributes = attributes
        self.geometry = geometry
        self.rejection = rejection
    }
}

/// Why one item of a batch failed.
package struct EditError: Error, Sendable, Hashable {
    package var code: Int
    package var description: String

    package init(code: Int, description: String) {
        self.code = code
        self.description = description
    }

    package static let rolledBack = EditError(code: 1003, description: "Operation rolled back.")
}

/// What became of one item, in the order in which it was submitted.
package struct EditResult: Sendable, Hashable {
    package var objectID: Int64?
    package var globalID: UUID?
    package var error: EditError?

    package var isSuccess: Bool { error == nil }

    package init(objectID: Int64?, globalID: UUID?, error: EditError? = nil) {
        self.objectID = objectID
        self.globalID = globalID
        self.error = error
    }
}

package struct LayerEditResults: Sendable, Hashable {
    package var layerID: Int
    package var adds: [EditResult]
    package var updates: [EditResult]
    package var deletes: [EditResult]
    package var attachments = AttachmentEditResults()

    package init(layerID: Int, adds: [EditResult] = [], updates: [EditResult] = [], deletes: [EditResult] = []) {
        self.layerID = layerID
        self.adds = adds
        self.updates = updates
        self.deletes = deletes
    }

    /// The results of features and attachments.
    package var all: [EditResult] { adds + updates + deletes + attachments.all }
}

package struct EditBatchResult: Sendable, Hashable {
    package var layers: [LayerEditResults]
    /// The generation that the batch became; nil when it changed nothing (all rolled back).
    package var generation: Int64?
    package var moment: Date
    /// What was done, layer by layer, where the batch asked for it.
    package var editedFeatures: [EditedFeatures] = []

    package init(layers: [LayerEditResults], generation: Int64?, moment: Date) {
        self.layers = layers
        self.generation = generation
        self.moment = moment
    }

    package var hasErrors: Bool {
        layers.contains { $0.all.contains { !$0.isSuccess } }
    }
}

/// A feature as a value: what a store gives when a caller wants features rather than bytes.
package struct FeatureRecord: Sendable, Hashable {
    package var objectID: Int64
    package var globalID: UUID?
    package var attributes: AttributeValues
    package var geometry: Geometry?

    package init(objectID: Int64, globalID: UUID?, attributes: AttributeValues, geometry: Geometry?) {
        self.objectID = objectID
        self.globalID = globalID
        self.attributes = attributes
        self.geometry = geometry
    }
}
