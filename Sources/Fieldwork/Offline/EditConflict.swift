public import FieldworkGeometry
import FieldworkREST
public import Foundation

/// Two edits of one feature, or of one of its attachments, that a feature service could not both let stand when one of them was synchronised: what was in
/// question, who won by the service's rule, and what lost. Nothing of it is lost: `EditConflicts.restore(_:)` brings it back.
/// Not part of the vendor's API; services of other makers keep no conflicts.
public struct EditConflict: Sendable, Identifiable {
    /// What met.
    public enum Kind: String, Sendable, CaseIterable {
        /// Both sides changed the same fields, or the geometry, to different values.
        case fields
        /// A change was handed in of a feature that the service had deleted.
        case updateOfDeleted
        /// A delete was handed in of a feature that the service had changed.
        case deleteOfUpdated
        /// Both sides changed the same attachment.
        case attachment
        /// A change was handed in of an attachment that the service had deleted.
        case updateOfDeletedAttachment
        /// A delete was handed in of an attachment that the service had changed.
        case deleteOfUpdatedAttachment
    }

    /// An attachment in question, as one side had it or had it last.
    public struct AttachmentValue: Sendable, Hashable {
        /// The attachment's global id.
        public let globalID: UUID
        /// The name of the file.
        public let name: String
        /// The media type.
        public let contentType: String
        /// In bytes.
        public let size: Int64
        /// The words that forms and pop-ups find it by.
        public let keywords: String
    }

    /// Whether somebody has to look at it.
    public enum State: String, Sendable, CaseIterable {
        /// Waits for somebody to decide.
        case open
        /// Decided by the service's rule, or by `EditConflicts.close(_:)`.
        case decided
        /// What had lost was brought back.
        case restored
    }

    /// What one of the two had.
    public struct Side: Sendable {
        /// The values in question by field name, in the types of the fields as features have them; a value of null is
        /// absent from here and its name is in `fieldNames`. Empty where this side had deleted the feature.
        public let attributes: [String: any Sendable]
        /// The fields in question, in alphabetical order.
        public let fieldNames: [String]
        /// Whether this side had deleted the feature, or the attachment in question.
        public let isDeleted: Bool
        /// The attachment in question; nil for a conflict about the feature itself.
        public let attachment: AttachmentValue?
        /// Whether the geometry was in question.
        public let hasGeometry: Bool
        /// The geometry in question, in the layer's spatial reference; nil for none.
        public let geometry: Geometry?
        /// Who had made the edit; nil when nobody was signed in.
        public let editor: String?
        /// When the edit was made.
        public let date: Date
        /// The replica it came from, as `Geodatabase.syncID` names it; nil for an edit that was made in the service.
        public let replicaID: UUID?
    }

    /// What the feature had before either side changed it.
    public struct Base: Sendable {
        /// The values in question by field name, in the types of the fields; a value of null is absent from here and its
        /// name is in `fieldNames`.
        public let attributes: [String: any Sendable]
        /// The fields in question whose value before is known, in alphabetical order.
        public let fieldNames: [String]
        /// Whether the geometry was in question and is known.
        public let hasGeometry: Bool
        /// The geometry in question, in the layer's spatial reference; nil for none.
        public let geometry: Geometry?
        /// The fields that only the edit that was handed in changed: they were merged without a question.
        public let uploadOnlyFieldNames: [String]
        /// The fields that only others changed.
        public let serviceOnlyFieldNames: [String]
        /// Whether only one of the two moved the feature.
        public let isGeometryMerged: Bool
    }

    /// Names the conflict within its service.
    public let id: Int64
    /// The layer or table, as the service numbers it.
    public let layerID: Int
    /// The feature's object id in the service.
    public let objectID: Int64
    /// The feature's global id.
    public let globalID: UUID
    /// What met.
    public let kind: Kind
    /// Whether somebody has to look at it.
    public internal(set) var state: State
    /// Whether the edit that was handed in won; else what the service had.
    public let isUploadWinner: Bool
    /// What lost.
    public let lost: Side
    /// What stands.
    public let won: Side
    /// What was before both; nil for a conflict about a delete or an attachment, and where the service doesn't know any more
    /// what the geodatabase knew.
    public let base: Base?
    /// When the service found it.
    public let date: Date

    /// Reads what a service answers. Throws `ServiceError.unknown` for what isn't a conflict.
    init(json: JSONValue, service: ServiceDefinition) throws {
        guard let id = json["id"]?.integerValue, let number = json["layerId"]?.integerValue,
            let layerID = Int(exactly: number), let objectID = json["objectId"]?.integerValue,
            let globalID = json["globalId"]?.stringValue.flatMap(GUID.parse),
            let kind = json["kind"]?.stringValue.flatMap(Kind.init(rawValue:)),
            let state = json["state"]?.stringValue.flatMap(State.init(rawValue:)),
            let moment = json["moment"]?.doubleValue, let lost = json["lost"], let won = json["won"]
        else { throw ServiceError.unknown(details: "A conflict of the service can't be read.") }
        let layer = service.layer(id: layerID)
        self.id = id
        self.layerID = layerID
        self.objectID = objectID
        self.globalID = globalID
        self.kind = kind
        self.state = state
        isUploadWinner = json["winner"]?.stringValue == "upload"
        self.lost = try Side(json: lost, layer: layer)
        self.won = try Side(json: won, layer: layer)
        base = try json["base"].map { try Base(json: $0, layer: layer) }
        date = Date(timeIntervalSince1970: moment / 1_000)
    }
}

extension EditConflict.Base {
    fileprivate init(json: JSONValue, layer: LayerDefinition?) throws {
        let base: MergeConflict.Base
        do {
            base = try MergeConflict.Base(json: json)
        } catch {
            throw ServiceError(error)
        }
        func fields(_ names: some Sequence<String>) -> [String] {
            names.compactMap { layer?.field(named: $0)?.name }.sorted()
        }
        attributes = EditConflict.attributes(base.attributes, layer)
        fieldNames = fields(base.attributes.keys)
        hasGeometry = base.geometry != nil
        geometry = base.geometry?.geometry
        uploadOnlyFieldNames = fields(base.uploadOnly)
        serviceOnlyFieldNames = fields(base.serviceOnly)
        isGeometryMerged = (base.uploadOnly + base.serviceOnly).contains(MergeConflict.Base.geometryName)
    }
}

extension EditConflict {
    /// Stored values in the types that features have them in.
    fileprivate static func attributes(
        _ values: [String: AttributeValue], _ layer: LayerDefinition?
    ) -> [String: any Sendable] {
        var attributes: [String: any Sendable] = [:]
        for (name, value) in values {
            guard let field = layer?.field(named: name) else { continue }
            // Numbers without a fraction and dates look alike before their field is known.
            let stored = AttributeConversion.normalised(value, type: field.type)
            attributes[field.name] = AttributeConversion.clientValue(stored, type: field.type)
        }
        return attributes
    }
}

extension EditConflict.Side {
    fileprivate init(json: JSONValue, layer: LayerDefinition?) throws {
        let side: MergeConflict.Side
        do {
            side = try MergeConflict.Side(json: json)
        } catch {
            throw ServiceError(error)
        }
        attributes = EditConflict.attributes(side.attributes ?? [:], layer)
        fieldNames = (side.attributes ?? [:]).keys.compactMap { layer?.field(named: $0)?.name }.sorted()
        isDeleted = side.attributes == nil
        attachment = side.attachment.map { value in
            EditConflict.AttachmentValue(
                globalID: value.globalID, name: value.name, contentType: value.contentType, size: value.size,
                keywords: value.keywords)
        }
        hasGeometry = side.geometry != nil
        geometry = side.geometry?.geometry
        editor = side.editor
        date = side.moment
        replicaID = side.replicaID
    }
}
