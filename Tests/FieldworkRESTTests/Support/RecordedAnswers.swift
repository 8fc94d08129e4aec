import FieldworkGeometry
import FieldworkREST
import Foundation
import Testing

/// A JSON document that a real service gave, or a part of one.
struct RecordedAnswer: CustomTestStringConvertible, Sendable {
    var name: String
    var json: JSONValue
    var testDescription: String { name }

    static let isThere = SharedData.url("geoservices") != nil

    /// Every recorded JSON document.
    static let all: [RecordedAnswer] = {
        guard let root = SharedData.url("geoservices"),
            let files = FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil)
        else { return [] }
        return files.compactMap { $0 as? URL }.filter { $0.pathExtension == "json" }
            .sorted { $0.path < $1.path }.compactMap { url in
                guard let data = try? Data(contentsOf: url), let json = try? JSONParser.parse(data) else { return nil }
                return RecordedAnswer(name: url.pathComponents.suffix(2).joined(separator: "/"), json: json)
            }
    }()

    /// What a document is an answer to; each is of one kind.
    enum Kind: CaseIterable {
        case service, layer, featureSet, relatedRecords, feature, geoJSON, objectIDs, count, edits, attachmentEdit,
            attachments, fields, relationship, error
        /// No answer of a feature service.
        case foreign
    }

    var kind: Kind {
        if Self.isForeign(name) { return .foreign }
        func has(_ key: String) -> Bool { json[key] != nil }
        if has("error") { return .error }
        if json["type"] == "FeatureCollection" || has("featureCollection") { return .geoJSON }
        if has("relatedRecordGroups") { return .relatedRecords }
        if has("features") { return .featureSet }
        if has("feature") { return .feature }
        if has("objectIds") { return .objectIDs }
        if has("count") { return .count }
        if has("addResults") || has("updateResults") || has("deleteResults") { return .edits }
        if Self.attachmentResults.contains(where: has) { return .attachmentEdit }
        if has("attachmentInfos") { return .attachments }
        if has("cardinality") { return .relationship }
        if has("fields"), has("name") { return .layer }
        if has("layers") || has("tables") || has("hasVersionedData") { return .service }
        if let first = json.arrayValue?.first { return first["attributes"] == nil ? .fields : .feature }
        return .foreign
    }

    static func of(_ kind: Kind) -> [RecordedAnswer] { all.filter { $0.kind == kind } }

    static let attachmentResults = ["addAttachmentResult", "updateAttachmentResult", "deleteAttachmentResults"]

    /// Beginnings of the names of documents of others: portals, geocoders and their errors, an image service, what clients
    /// send to Koop, and what a hosting portal says of changes to a definition: that they succeeded, with ids as texts.
    private static func isForeign(_ name: String) -> Bool {
        let beginnings = [
            "responses/item-", "responses/resources-", "responses/response-", "responses/responses-",
            "responses/search-", "responses/sharing-", "responses/user-", "responses/webmap-",
            "responses/errors-Billing",
            "responses/errors-Task", "responses/service-FeatureServiceResponse",
            "responses/service-UpdateServiceDefinitionSuccess", "responses/service-AddToFeatureServiceSuccess",
            "solution-js/getAGOLUser", "solution-js/getContentUser",
            "solution-js/getPortalsSelf", "solution-js/getUserResponse", "solution-js/itemdata-",
            "qgis/testImageServer-01", "classification/classBreaks", "classification/geoServices",
            "classification/uniqueValue",
        ]
        return beginnings.contains { name.hasPrefix($0) }
    }

    /// Layers and tables, those inside of other documents one by one.
    static let layers: [RecordedAnswer] =
        of(.layer).map { recorded in
            // What a client sends to have a layer made has no id yet.
            guard recorded.json["id"] == nil, var object = recorded.json.objectValue else { return recorded }
            object["id"] = 0
            return RecordedAnswer(name: recorded.name, json: .object(object))
        }
        + of(.service).flatMap { recorded in
            ["layers", "tables"].flatMap { recorded.json[$0]?.arrayValue ?? [] }.enumerated().map {
                RecordedAnswer(name: "\(recorded.name)[\($0)]", json: $1)
            }
        }

    /// The features of any answer as the set that they make.
    static let featureSets: [RecordedAnswer] =
        of(.featureSet)
        + of(.feature).map { recorded in
            let features = recorded.json["feature"].map { [$0] } ?? recorded.json.arrayValue ?? []
            return RecordedAnswer(name: recorded.name, json: ["features": .array(features)])
        }

    /// The geometries of GeoJSON features.
    static let geoJSONGeometries: [RecordedAnswer] = of(.geoJSON).flatMap { recorded in
        ((recorded.json["featureCollection"] ?? recorded.json)["features"]?.arrayValue ?? []).enumerated()
            .compactMap { index, feature in
                feature["geometry"].map { RecordedAnswer(name: "\(recorded.name)[\(index)]", json: $0) }
            }
    }
}
