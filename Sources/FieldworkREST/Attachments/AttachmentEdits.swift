package import Foundation

/// What is to be done with the attachments of one layer's features, after the features themselves were edited.
package struct AttachmentEdits: Sendable {
    package var adds: [AttachmentEdit]
    package var updates: [AttachmentEdit]
    package var deletes: [AttachmentDelete]

    package init(adds: [AttachmentEdit] = [], updates: [AttachmentEdit] = [], deletes: [AttachmentDelete] = []) {
        self.adds = adds
        self.updates = updates
        self.deletes = deletes
    }

    package var isEmpty: Bool { adds.isEmpty && updates.isEmpty && deletes.isEmpty }
    package var count: Int { adds.count + updates.count + deletes.count }
}

package enum AttachmentIdentifier: Sendable, Hashable {
    /// Unique in its layer.
    case id(Int64)
    case globalID(UUID)
}

/// One attachment to add or update. What an update doesn't name stays.
package struct AttachmentEdit: Sendable {
    /// Which attachment to update; an add's is only kept where ids are given by someone else.
    package var id: Int64?
    package var globalID: UUID?
    /// The feature. An add needs it; an update that names one fails when the attachment belongs to another.
    package var parent: FeatureIdentifier?
    package var name: String?
    package var contentType: String?
    package var keywords: String?
    package var content: AttachmentContent?
    /// The reason why the item could not be read at all; it fails with this error.
    package var rejection: EditError?
    /// What is done with an update. Only the store asks for another thing than to apply it.
    package var fate = Fate.applied

    package enum Fate: Sendable, Hashable {
        case applied
        /// The attachment comes back first, as it was when it was deleted.
        case restoresDeleted
        /// The service's version stands; this one is kept in the history.
        case keptOnly
        /// A version of the history becomes the attachment's state.
        case restoresVersion(Int64)
    }

    package init(
        id: Int64? = nil, globalID: UUID? = nil, parent: FeatureIdentifier? = nil, name: String? = nil,
        contentType: String? = nil, keywords: String? = nil, content: AttachmentContent? = nil,
        rejection: EditError? = nil
    ) {
        self.id = id
        self.globalID = globalID
        self.parent = parent
        self.name = name
        self.contentType = contentType
        self.keywords = keywords
        self.content = content
        self.rejection = rejection
    }
}

package struct AttachmentDelete: Sendable, Hashable {
    package var identifier: AttachmentIdentifier
    /// The feature it must belong to; nil for any.
    package var parent: FeatureIdentifier?
    /// An attachment that went with its feature is deleted all the same: when the feature comes back it does not.
    package var staysDeleted = false

    package init(_ identifier: AttachmentIdentifier, parent: FeatureIdentifier? = nil) {
        self.identifier = identifier
        self.parent = parent
    }
}

/// The bytes of an attachment on their way into a store. A file is read in pieces and left where it is.
package struct AttachmentContent: Sendable, Hashable {
    package enum Source: Sendable, Hashable {
        case bytes([UInt8])
        case file(path: String)
    }

    package var source: Source
    package var size: Int
    /// The SHA-256 of the bytes in hexadecimal, if whoever brings them has counted it. The store checks it.
    package var sha256: String?

    package init(bytes: [UInt8]) {
        source = .bytes(bytes)
        size = bytes.count
    }

    package init(path: String, size: Int, sha256: String? = nil) {
        source = .file(path: path)
        self.size = size
        self.sha256 = sha256
    }
}

/// What became of the attachments of one layer. The object ids of the results are ids of attachments.
package struct AttachmentEditResults: Sendable, Hashable {
    package var adds: [EditResult]
    package var updates: [EditResult]
    package var deletes: [EditResult]

    package init(adds: [EditResult] = [], updates: [EditResult] = [], deletes: [EditResult] = []) {
        self.adds = adds
        self.updates = updates
        self.deletes = deletes
    }

    package var all: [EditResult] { adds + updates + deletes }
}
