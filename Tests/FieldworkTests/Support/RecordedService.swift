import FieldworkREST
import Foundation
import Testing

@testable import Fieldwork

/// A layer that a real service once described, with the answers that it gave then.
struct RecordedService: Sendable, CustomTestStringConvertible {
    let name: String
    /// The description of the layer.
    let layer: JSONValue
    /// The answers to a query for all, in JSON, page by page; none where no query was recorded.
    var pages: [JSONValue] = []
    /// The same in PBF, where that was recorded.
    var packedPages: [Data] = []
    /// The answers to a query for ids and to one for the count, where they were recorded.
    var ids: JSONValue?
    var count: JSONValue?

    var testDescription: String { name }
    var layerID: Int { layer["id"]?.integerValue.flatMap { Int(exactly: $0) } ?? 0 }
    var features: [JSONValue] { pages.flatMap { $0["features"]?.arrayValue ?? [] } }

    // MARK: Answering

    /// What the server says to a request below `…/FeatureServer`.
    func answer(_ request: LoopbackServer.Request) -> LoopbackServer.Action {
        let parameters = request.parameters
        guard request.path.hasSuffix("/query") else {
            if request.path.hasSuffix("/\(layerID)") { return .json(layer.text) }
            if request.path.hasSuffix("/FeatureServer") {
                let entry: JSONValue = ["id": JSONValue(layerID), "name": layer["name"] ?? ""]
                return .json(JSONValue.object(JSONObject(["layers": [entry], "tables": []])).text)
            }
            return .json(#"{"error":{"code":400,"message":"Invalid URL","details":["Invalid URL"]}}"#)
        }
        if parameters["returnCountOnly"] == "true" {
            return .json((count ?? ["count": JSONValue(features.count)]).text)
        }
        if parameters["returnIdsOnly"] == "true" {
            return .json((ids ?? ["objectIds": .array(features.map { .integer(id(of: $0) ?? 0) })]).text)
        }
        // What a page begins with is known by the places of the recorded pages only.
        let offset = parameters["resultOffset"].flatMap { Int($0) } ?? 0
        let size = max(pages.first.map { $0["features"]?.arrayValue?.count ?? 0 } ?? 0, 1)
        if parameters["f"] == "pbf", !packedPages.isEmpty {
            let index = offset / size
            return .answer(
                status: 200, headers: [("Content-Type", "application/x-protobuf")],
                body: packedPages.indices.contains(index) ? packedPages[index] : Data())
        }
        guard pages.indices.contains(offset / size) else { return .json(#"{"features":[]}"#) }
        let page = pages[offset / size]
        guard let wanted = wantedIDs(parameters) else { return .json(page.text) }
        guard var object = page.objectValue else { return .json(page.text) }
        object["features"] = .array(features.filter { id(of: $0).map(wanted.contains) ?? false })
        object["exceededTransferLimit"] = nil
        return .json(JSONValue.object(object).text)
    }

    private func id(of feature: JSONValue) -> Int64? {
        let name = layer["objectIdField"]?.stringValue ?? idFieldName
        return feature["attributes"]?.objectValue?.member(ignoringCase: name)?.integerValue
    }

    private var idFieldName: String {
        (layer["fields"]?.arrayValue ?? []).first { $0["type"] == "esriFieldTypeOID" }?["name"]?.stringValue
            ?? "OBJECTID"
    }

    /// The ids that a query means, by their list or by their range; nil for all.
    private func wantedIDs(_ parameters: [String: String]) -> Set<Int64>? {
        if let list = parameters["objectIds"] { return Set(list.split(separator: ",").compactMap { Int64($0) }) }
        guard let range = parameters["where"]?.split(separator: " "), let between = range.firstIndex(of: "BETWEEN"),
            range.count > between + 3,
            let least = Int64(range[between + 1]), let most = Int64(range[between + 3].filter(\.isNumber))
        else { return nil }
        return Set(features.compactMap(id).filter { $0 >= least && $0 <= most })
    }

    // MARK: What was recorded

    private static func json(_ path: String) -> JSONValue? {
        SharedData.url("geoservices/\(path)").flatMap { try? Data(contentsOf: $0) }
            .flatMap { try? JSONParser.parse($0) }
    }

    private static func names(_ folder: String) -> [String] {
        guard let url = SharedData.url("geoservices/\(folder)") else { return [] }
        return ((try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []).sorted()
    }

    /// Everything that has the description of a layer.
    static let all: [RecordedService] = (fromQGIS + fromCounties + fromScripts)
        // One describes a service of images, another a layer that is yet to be made.
        .filter { $0.layer["id"] != nil && $0.layer["name"] != nil }

    /// Some services answered a count with something else: that was no answer.
    private static func having(_ member: String, _ json: JSONValue?) -> JSONValue? {
        guard let json, json[member] != nil else { return nil }
        return json
    }

    private static let fromQGIS = names("qgis").filter { $0.hasSuffix("-01-layer.json") }.compactMap { file in
        let test = file.dropLast("-01-layer.json".count)
        return json("qgis/\(file)").map { layer in
            RecordedService(
                name: "QGIS \(test)", layer: layer, pages: [json("qgis/\(test)-03-query.json")].compactMap(\.self),
                ids: json("qgis/\(test)-02-query-ids.json"))
        }
    }

    private static let fromCounties = names("esridump").compactMap { county -> RecordedService? in
        let base = "esridump/\(county)"
        func file(_ suffix: String) -> JSONValue? {
            json("\(base)/\(county)-\(suffix).json") ?? json("\(base)/\(suffix).json")
        }
        return file("metadata").map { layer in
            RecordedService(
                name: county, layer: layer, pages: [file("0") ?? json("\(base)/page-partial.json")].compactMap(\.self),
                ids: having("objectIds", file("ids-only")),
                count: having("count", file("count-only")))
        }
    }

    private static let fromScripts = [
        "layerDefinition-layerDefinitionSid", "service-getFeatureServiceResponse",
    ].compactMap { name in
        json("arcgis-rest-js/responses/\(name).json").map { RecordedService(name: name, layer: $0) }
    }

    /// Layers of which the same features were recorded in JSON and in PBF. Their descriptions were not: they are made of what
    /// the answers say.
    static let inBothFormats: [RecordedService] = [
        ("arcGISPointResponse", "PBFPointResponse"), ("arcGISLineResponse", "PBFLineResponse"),
        ("arcGISPolygonResponse", "PBFPolygonResponse"), ("PointHasZ", "PBFPointHasZ"), ("PointHasM", "PBFPointHasM"),
        ("PointHasZM", "PBFPointHasZM"), ("LineHasZ", "PBFLineHasZ"), ("LineHasM", "PBFLineHasM"),
        ("LineHasZM", "PBFLineHasZM"), ("PolygonHasZ", "PBFPolygonHasZ"), ("PolygonHasM", "PBFPolygonHasM"),
        ("PolygonHasZM", "PBFPolygonHasZM"),
    ].compactMap { plain, packed in
        guard let page = json("arcgis-rest-js/arcgis/\(plain).json"), let body = data(packed) else { return nil }
        return RecordedService(name: plain, layer: layer(of: page, named: plain), pages: [page], packedPages: [body])
    }

    private static func data(_ name: String) -> Data? {
        SharedData.url("geoservices/arcgis-rest-js/pbf/CRS3857/\(name).pbf").flatMap { try? Data(contentsOf: $0) }
    }

    /// A layer with the fields and geometries of an answer.
    static func layer(of page: JSONValue, named name: String) -> JSONValue {
        var object = JSONObject([
            "currentVersion": 11.1, "id": 0, "name": .string(name), "type": "Feature Layer",
            "supportedQueryFormats": "JSON, geoJSON, PBF", "maxRecordCount": 2_000,
            "advancedQueryCapabilities": ["supportsPagination": true, "supportsOrderBy": true],
        ])
        for key in ["fields", "geometryType", "spatialReference", "hasZ", "hasM"] { object[key] = page[key] }
        object["objectIdField"] = page["objectIdFieldName"]
        return .object(object)
    }

    /// One layer of polygons in six recorded pages of PBF.
    static let inPages: RecordedService? = {
        let names = (1...5).map { "PBFPolygonPage\($0)" } + ["PBFPolygonPage6Partial"]
        let packed = names.compactMap { data($0) }
        guard packed.count == names.count, let first = try? PBFFeatureSetReader.read(Array(packed[0])) else {
            return nil
        }
        var object = JSONObject([
            "geometryType": "esriGeometryPolygon", "spatialReference": ["wkid": 3857],
            "fields": .array(first.fields.map(\.json)), "objectIdFieldName": .string(first.objectIDField ?? ""),
        ])
        // The places of the pages are told by the size of the first.
        object["features"] = .array(Array(repeating: [:], count: first.features.count))
        let page = JSONValue.object(object)
        return RecordedService(
            name: "pages", layer: layer(of: page, named: "pages"), pages: [page], packedPages: packed)
    }()
}
