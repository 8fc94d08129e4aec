package import FieldworkREST
package import Foundation

/// A store that keeps files with features. They are written like features, by `apply`.
package protocol AttachmentStore: FeatureStore {
    /// A folder for what is on its way here. Nothing in it is a service.
    var workFolder: URL { get }

    func attachments(_ query: AttachmentQuery, in layer: LayerAddress) async throws -> AttachmentPage
    /// How many attachments features have; those that have none are left out.
    func attachmentCounts(_ query: AttachmentQuery, in layer: LayerAddress) async throws -> [AttachmentCount]
    /// One attachment with its bytes, or some of them; nil when there is none with this id, or when the feature is another.
    /// Throws `StoreError.corrupt` when the bytes are no longer those that were stored.
    func attachmentContent(
        _ id: AttachmentIdentifier, of objectID: Int64?, range: Range<Int>?, in layer: LayerAddress
    ) async throws -> StoredAttachment?
    /// What changed after a generation, oldest first: one entry an attachment and generation.
    func attachmentChanges(after generation: Int64, in layer: LayerAddress, limit: Int) async throws
        -> [AttachmentChange]
    /// The superseded versions of a feature's attachments, newest first, also those of a feature that is gone.
    func attachmentHistory(of objectID: Int64, in layer: LayerAddress) async throws -> [AttachmentVersion]
    /// The bytes of a superseded version.
    func attachmentContent(ofVersion version: Int64, in layer: LayerAddress) async throws -> EncodedFeatures?
}

/// An attachment and the bytes that were asked for, read while they are taken.
package struct StoredAttachment: Sendable {
    package var info: AttachmentInfo
    package var pieces: EncodedFeatures

    package init(info: AttachmentInfo, pieces: EncodedFeatures) {
        self.info = info
        self.pieces = pieces
    }
}

/// An entry of the attachments' change log.
package struct AttachmentChange: Sendable, Hashable {
    package var generation: Int64
    package var operation: FeatureChange.Operation
    package var id: Int64
    package var globalID: UUID?
    package var parentObjectID: Int64
    /// Whether the bytes changed, or only what is said of them.
    package var changesContent: Bool
    /// Whether it is gone because its feature is.
    package var wentWithFeature: Bool

    package init(
        generation: Int64, operation: FeatureChange.Operation, id: Int64, globalID: UUID?, parentObjectID: Int64,
        changesContent: Bool, wentWithFeature: Bool = false
    ) {
        self.generation = generation
        self.operation = operation
        self.id = id
        self.globalID = globalID
        self.parentObjectID = parentObjectID
        self.changesContent = changesContent
        self.wentWithFeature = wentWithFeature
    }
}

/// A version of an attachment that an edit replaced or deleted. Its bytes are kept.
package struct AttachmentVersion: Sendable, Hashable {
    /// Names the version for `attachmentContent(ofVersion:in:)`.
    package var version: Int64
    package var info: AttachmentInfo
    package var toGeneration: Int64
    package var endedBy: FeatureChange.Operation
    package var endedAt: Date
    package var editor: String?

    package init(
        version: Int64, info: AttachmentInfo, toGeneration: Int64, endedBy: FeatureChange.Operation, endedAt: Date,
        editor: String?
    ) {
        self.version = version
        self.info = info
        self.toGeneration = toGeneration
        self.endedBy = endedBy
        self.endedAt = endedAt
        self.editor = editor
    }
}
