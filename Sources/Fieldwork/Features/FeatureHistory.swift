public import FieldworkGeometry
import FieldworkREST
import FieldworkStore
public import Foundation

/// What a feature was before: the versions that edits of anybody replaced. Not part of the vendor's API.
///
/// `ArcGISFeatureTable.history(of:)` gives it, from the service's history or from that of a geodatabase's file.
public struct FeatureHistory: Sendable {
    /// How a version ended.
    public enum Ending: Sendable, Hashable {
        /// An edit put another version in its place.
        case updated
        /// The feature was deleted.
        case deleted
    }

    /// A version that an edit replaced or deleted.
    public struct Version: Sendable, Identifiable {
        /// The generation that ended it: the number of the transaction, of the service or of the file.
        public let id: Int64
        /// The generation in which it came to be; 0 for one that is older than the change log.
        public let fromGeneration: Int64
        /// Its values by field name, in the types of the fields as features have them. A value of null is absent.
        public let attributes: [String: any Sendable]
        /// Its geometry, in the layer's spatial reference; nil for none.
        public let geometry: Geometry?
        /// How it ended.
        public let ending: Ending
        /// When it ended, by the clock of where the history is kept.
        public let endDate: Date
        /// Who ended it; nil when nobody was signed in.
        public let editor: String?
        /// The replica whose edit ended it, as `Geodatabase.syncID` names it; nil for an edit that was made where the
        /// history is kept.
        public let replicaID: UUID?
    }

    /// The versions, the newest first. What the feature is now isn't among them.
    public let versions: [Version]
    /// Whether these are all versions; else there are older ones.
    public let isComplete: Bool
}

extension FeatureHistory {
    init(_ versions: [FeatureVersion], layer: LayerDefinition) {
        self.versions = versions.map { Version($0, layer: layer) }
        isComplete = true
    }

    /// Reads what a service answers. Throws `ServiceError.unknown` for what isn't a history.
    init(json: JSONValue, layer: LayerDefinition) throws {
        guard let versions = json["versions"]?.arrayValue else {
            throw ServiceError.unknown(details: "The history of a feature can't be read.")
        }
        self.versions = try versions.map { try Version(json: $0, layer: layer) }
        isComplete = json["exceededTransferLimit"]?.boolValue != true
    }
}

extension FeatureHistory.Version {
    fileprivate init(_ version: FeatureVersion, layer: LayerDefinition) {
        self.init(
            id: version.toGeneration, fromGeneration: version.fromGeneration,
            attributes: Self.attributes(of: version.record.attributes, layer: layer),
            geometry: version.record.geometry, ending: version.endedBy == .delete ? .deleted : .updated,
            endDate: version.endedAt, editor: version.editor, replicaID: version.replicaID)
    }

    fileprivate init(json: JSONValue, layer: LayerDefinition) throws {
        guard let from = json["fromGeneration"]?.integerValue, let to = json["toGeneration"]?.integerValue,
            let endedBy = json["endedBy"]?.stringValue.flatMap(FeatureChange.Operation.init(rawValue:)),
            let endedAt = json["endedAt"]?.doubleValue, let feature = json["feature"],
            let values = feature["attributes"]?.objectValue
        else { throw ServiceError.unknown(details: "A version of a feature can't be read.") }
        var attributes: [String: AttributeValue] = [:]
        for member in values.members { attributes[member.key] = AttributeValue(json: member.value) }
        let geometry: Geometry?
        if let json = feature["geometry"], !json.isNull {
            geometry = try GeoServicesJSON.geometry(from: json, defaultSpatialReference: layer.spatialReference)
        } else {
            geometry = nil
        }
        self.init(
            id: to, fromGeneration: from, attributes: Self.attributes(of: attributes, layer: layer),
            geometry: geometry, ending: endedBy == .delete ? .deleted : .updated,
            endDate: Date(timeIntervalSince1970: endedAt / 1_000), editor: json["editor"]?.stringValue,
            replicaID: json["replicaID"]?.stringValue.flatMap(GUID.parse))
    }

    private static func attributes(
        of values: some Sequence<AttributeValues.Element>, layer: LayerDefinition
    ) -> [String: any Sendable] {
        var attributes: [String: any Sendable] = [:]
        for (name, value) in values {
            guard let field = layer.field(named: name) else { continue }
            // Numbers without a fraction and dates look alike before their field is known.
            let stored = AttributeConversion.normalised(value, type: field.type)
            attributes[field.name] = AttributeConversion.clientValue(stored, type: field.type)
        }
        return attributes
    }
}
