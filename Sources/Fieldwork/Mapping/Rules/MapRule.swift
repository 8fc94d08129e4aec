import FieldworkGeometry
public import Foundation
import Synchronization

/// What the author of a map wants kept between its layers when features are edited: configuration of the map (the web
/// map's member `fieldworkRules`), not code for one map. Not part of the vendor's API.
///
/// Rules are kept on this device, by ordinary local edits: they are sent, undone and merged like what the user does.
public enum MapRule: Sendable, Hashable {
    /// A new feature takes values from the feature of another layer in which it lies.
    /// - Parameters:
    ///   - layerID: the layer of the new feature, by its id in the map.
    ///   - sourceLayerID: the other layer, by its id in the map.
    ///   - fields: the new feature's fields, each with the field whose value it takes.
    case fillFromContainingFeature(layerID: String, sourceLayerID: String, fields: [String: String])

    /// A feature has the values of the newest of the records that refer to it, and none when there are no records.
    /// - Parameters:
    ///   - layerID: the layer of the feature, by its id in the map.
    ///   - relationshipID: the relationship to the records, by its id in the layer.
    ///   - newestBy: the records' field that says which is the newest. Records without a value are the oldest.
    ///   - fields: the feature's fields, each with the records' field whose value it takes.
    case followNewestRecord(layerID: String, relationshipID: Int, newestBy: String, fields: [String: String])

    /// A new feature takes the address of its place. An app asks a locator for it, with `isForStorage`, and fills the field when the
    /// answer comes; what was typed stays.
    /// - Parameters:
    ///   - layerID: the layer of the new feature, by its id in the map.
    ///   - field: the new feature's field.
    ///   - locator: the locator's address; nil for those of the layer's server.
    case fillAddress(layerID: String, field: String, locator: URL?)

    /// The rules of a web map. Those of a kind that this version does not know are kept in the document, and not applied.
    static func rules(of document: JSONObject?) -> [MapRule] {
        (document?["fieldworkRules"]?.arrayValue ?? []).prefix(Limits.mapRules).compactMap(MapRule.init)
    }

    private init?(_ json: JSONValue) {
        guard let layerID = json["layerId"]?.stringValue else { return nil }
        var fields: [String: String] = [:]
        for member in json["fields"]?.objectValue?.members ?? [] {
            if let source = member.value.stringValue { fields[member.key] = source }
        }
        switch json["type"]?.stringValue {
        case "fillFromContainingFeature":
            guard let source = json["sourceLayerId"]?.stringValue else { return nil }
            self = .fillFromContainingFeature(layerID: layerID, sourceLayerID: source, fields: fields)
        case "followNewestRecord":
            guard let id = json["relationshipId"]?.integerValue, let key = json["newestBy"]?.stringValue else {
                return nil
            }
            self = .followNewestRecord(
                layerID: layerID, relationshipID: Int(clamping: id), newestBy: key, fields: fields)
        case "fillAddress":
            guard let field = json["field"]?.stringValue else { return nil }
            self = .fillAddress(
                layerID: layerID, field: field, locator: json["locator"]?.stringValue.flatMap { URL(string: $0) })
        default: return nil
        }
    }
}

extension GeoModel {
    /// The rules of the web map that the model was read from; none for others.
    public var rules: [MapRule] { MapRule.rules(of: state.withLock { $0.document }) }

    /// Tells the tables of a model that was just read what rules hold for their features.
    func connectRules() {
        let tables = tablesByLayerID
        for rule in rules {
            switch rule {
            case .fillFromContainingFeature(let layerID, let sourceID, let fields):
                guard let table = tables[layerID], let source = tables[sourceID] else { continue }
                let rule = ContainingFeatureRule(source: source, fields: fields)
                table.state.withLock { $0.creationRules.append(rule) }
            case .followNewestRecord(let layerID, let id, let key, let fields):
                let rule = NewestRecordRule(relationshipID: id, newestBy: key, fields: fields)
                tables[layerID]?.state.withLock { $0.recordRules.append(rule) }
            case .fillAddress:
                // An app knows which locator there is, and does not wait for it.
                continue
            }
        }
    }

    /// The tables of layers, of groups' layers and those beside them, by their ids in the web map.
    private var tablesByLayerID: [String: FeatureTable] {
        var found: [String: FeatureTable] = [:]
        func look(at layers: [Layer]) {
            for layer in layers {
                if let table = (layer as? FeatureLayer)?.featureTable { found[layer.id] = found[layer.id] ?? table }
                if let group = layer as? GroupLayer { look(at: group.layers) }
            }
        }
        look(at: operationalLayers)
        for table in tables {
            guard let id = table.state.withLock({ $0.entry?["id"]?.stringValue }) else { continue }
            found[id] = found[id] ?? table
        }
        return found
    }
}
