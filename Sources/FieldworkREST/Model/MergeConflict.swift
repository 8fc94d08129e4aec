package import FieldworkGeometry
package import Foundation

/// Who wins when a client and the service have both changed the same field since they last agreed, or when an update
/// meets a delete. Whatever loses is kept and can be brought back.
package enum ConflictRule: String, Sendable, Hashable, CaseIterable {
    case lastInWins, firstInWins
    /// As `firstInWins`, and the conflict stays open until somebody has looked at it.
    case holdForReview
}

/// A conflict: what it was about, and what lost.
package struct MergeConflict: Sendable, Hashable {
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        /// Both changed the same fields to different values.
        case fields
        /// An update came in for a feature that the service had deleted.
        case updateOfDeleted
        /// A delete came in for a feature that the service had changed.
        case deleteOfUpdated
        /// Both changed the same attachment.
        case attachment
        /// An update came in for an attachment that the service had deleted.
        case updateOfDeletedAttachment
        /// A delete came in for an attachment that the service had changed.
        case deleteOfUpdatedAttachment

        package var isOfAttachment: Bool {
            switch self {
            case .fields, .updateOfDeleted, .deleteOfUpdated: false
            case .attachment, .updateOfDeletedAttachment, .deleteOfUpdatedAttachment: true
            }
        }
    }

    package enum Winner: String, Sendable, Hashable, CaseIterable {
        case upload, service
    }

    package enum State: String, Sendable, Hashable, CaseIterable {
        /// Waits for somebody to look at it.
        case open
        /// The rule has decided it.
        case decided
        /// What had lost was brought back.
        case restored
    }

    /// What one side had: nil attributes for a feature that was deleted.
    package struct Side: Sendable, Hashable {
        /// The values in question by field name; nil when this side had deleted the feature.
        package var attributes: [String: AttributeValue]?
        /// Set when the geometry was in question; a geometry of nil means that there was none.
        package var geometry: GeometryValue?
        /// Set when an attachment was in question: as this side had it, or had it last before it deleted it.
        package var attachment: AttachmentValue?
        package var editor: String?
        package var moment: Date
        package var replicaID: UUID?

        package init(
            attributes: [String: AttributeValue]?, geometry: GeometryValue? = nil, editor: String?, moment: Date,
            replicaID: UUID?
        ) {
            self.attributes = attributes
            self.geometry = geometry
            self.editor = editor
            self.moment = moment
            self.replicaID = replicaID
        }
    }

    /// An attachment as one side had it.
    package struct AttachmentValue: Sendable, Hashable {
        package var globalID: UUID
        package var name: String
        package var contentType: String
        /// In bytes.
        package var size: Int64
        package var keywords: String
        /// The version of the history with its content; nil for what is not in the history.
        package var version: Int64?

        package init(
            globalID: UUID, name: String, contentType: String, size: Int64, keywords: String, version: Int64? = nil
        ) {
            self.globalID = globalID
            self.name = name
            self.contentType = contentType
            self.size = size
            self.keywords = keywords
            self.version = version
        }
    }

    /// What both sides had before they changed it, and what the two changed without meeting.
    package struct Base: Sendable, Hashable {
        /// The values in question by field name, as the client knew them; without those that nobody knows any more.
        package var attributes: [String: AttributeValue]
        /// Set when the geometry was in question and is known.
        package var geometry: GeometryValue?
        /// The fields that only the upload changed, the geometry by `geometryName`.
        package var uploadOnly: [String]
        /// The fields that only others changed.
        package var serviceOnly: [String]

        /// Stands for the geometry among the names of fields.
        package static let geometryName = "geometry"

        package init(
            attributes: [String: AttributeValue] = [:], geometry: GeometryValue? = nil, uploadOnly: [String] = [],
            serviceOnly: [String] = []
        ) {
            self.attributes = attributes
            self.geometry = geometry
            self.uploadOnly = uploadOnly
            self.serviceOnly = serviceOnly
        }
    }

    package struct GeometryValue: Sendable, Hashable {
        package var geometry: Geometry?

        package init(_ geometry: Geometry?) { self.geometry = geometry }
    }

    /// Counted from 1 within the service; 0 before it is recorded.
    package var id: Int64
    package var layerID: Int
    package var objectID: Int64
    package var globalID: UUID
    package var kind: Kind
    package var rule: ConflictRule
    package var winner: Winner
    package var state: State
    package var lost: Side
    package var won: Side
    /// nil for a conflict about a delete or an attachment, and where the client's base isn't known.
    package var base: Base?
    /// When the conflict was found.
    package var moment: Date

    package init(
        id: Int64 = 0, layerID: Int, objectID: Int64, globalID: UUID, kind: Kind, rule: ConflictRule, winner: Winner,
        state: State, lost: Side, won: Side, base: Base? = nil, moment: Date
    ) {
        self.id = id
        self.layerID = layerID
        self.objectID = objectID
        self.globalID = globalID
        self.kind = kind
        self.rule = rule
        self.winner = winner
        self.state = state
        self.lost = lost
        self.won = won
        self.base = base
        self.moment = moment
    }
}

extension ServiceDefinition {
    private static let ruleMember = "conflictRule"

    /// The rule of the service for conflicting edits of offline clients.
    package var conflictRule: ConflictRule {
        get { unknownMembers[Self.ruleMember]?.stringValue.flatMap(ConflictRule.init(rawValue:)) ?? .lastInWins }
        set { unknownMembers[Self.ruleMember] = .string(newValue.rawValue) }
    }
}
