import Foundation
import TestSupport

/// Requests of every operation of `Documentation/operations.md`, with values that are sound, extreme, nested, repeated or
/// malformed. Number n of a seed is always the same.
struct GeneratedRequests {
    private struct Operation {
        var path: String
        var isPost: Bool
        var parameters: [String]
        /// Without which every request would be refused at once.
        var sound: [(name: String, value: String)]
    }

    private let seed: UInt64
    private let host: String

    init(seed: UInt64, port: Int) {
        self.seed = seed
        host = "127.0.0.1:\(port)"
    }

    /// The request of a number as it goes over the line.
    func request(_ number: Int) -> (line: String, bytes: [UInt8]) {
        var random = SeededGenerator(seed: seed, request: number)
        let operation = random.pick(Self.operations)
        var values = AttackValues(random: random)
        var form: [(String, [UInt8])] = []
        for _ in 0..<values.random.number(0..<7) {
            let name =
                values.random.chance(95) ? values.random.pick(operation.parameters) : values.random.pick(Self.common)
            form.append((name, values.value(of: name)))
            if values.random.chance(4) { form.append((name, values.value(of: name))) }
        }
        if values.random.chance(70) {
            for (name, value) in operation.sound where !form.contains(where: { $0.0 == name }) {
                form.append((name, Array(value.utf8)))
            }
        }
        // A deletion of all would leave nothing to ask for.
        if !operation.path.hasSuffix("deleteFeatures"), values.random.chance(60) {
            form.append(("where", values.value(of: values.random.chance(70) ? "all" : "where")))
        }
        form.append(
            ("f", Array(values.random.pick(["json", "json", "json", "pjson", "geojson", "pbf", "html", "x"]).utf8)))
        let path = operation.path.hasPrefix("/") ? operation.path : "/arcgis/rest/services/\(operation.path)"
        let isPost = operation.isPost || values.random.chance(50)
        return isPost ? post(path, form, &values) : get(path, form)
    }

    private func get(_ path: String, _ form: [(String, [UInt8])]) -> (line: String, bytes: [UInt8]) {
        let query = String(decoding: AttackValues.form(form).prefix(60_000), as: UTF8.self)
        let line = "GET \(path)?\(query) HTTP/1.1"
        return (line, Array("\(line)\r\nHost: \(host)\r\n\r\n".utf8))
    }

    private func post(
        _ path: String, _ form: [(String, [UInt8])], _ values: inout AttackValues
    ) -> (line: String, bytes: [UInt8]) {
        var (type, body) = ("application/x-www-form-urlencoded", [UInt8]())
        switch values.random.number(0..<10) {
        case 0:
            type = "application/json"
            body = values.json(depth: 0)
        case 1:
            type = "multipart/form-data; boundary=b"
            for (name, value) in form {
                body +=
                    Array("--b\r\nContent-Disposition: form-data; name=\"\(name)\"\r\n\r\n".utf8) + value
                    + Array("\r\n".utf8)
            }
            body += Array("--b--\r\n".utf8)
        default:
            body = AttackValues.form(form)
        }
        // A length that lies would hold the connection: that is a case of its own.
        let line = "POST \(path) HTTP/1.1"
        let head = "\(line)\r\nHost: \(host)\r\nContent-Type: \(type)\r\nContent-Length: \(body.count)\r\n\r\n"
        return ("\(line) \(String(decoding: body.prefix(400), as: UTF8.self))", Array(head.utf8) + body)
    }

    // MARK: Operations

    private static let common = [
        "where", "geometry", "outSR", "objectIds", "resultRecordCount", "gdbVersion", "nothing", "", "token",
        "callback",
    ]

    private static let shape = [
        "geometry", "geometryType", "inSR", "outSR", "spatialRel", "relationParam", "distance", "units", "defaultSR",
        "datumTransformation", "geometryPrecision", "maxAllowableOffset", "quantizationParameters", "returnZ",
        "returnM",
    ]

    private static let query =
        shape + [
            "where", "objectIds", "globalIds", "outFields", "returnGeometry", "returnCentroid", "returnEnvelope",
            "orderByFields", "time", "historicMoment", "resultOffset", "resultRecordCount", "resultType",
            "maxRecordCountFactor", "returnExceededLimitFeatures", "returnIdsOnly", "returnCountOnly",
            "returnExtentOnly",
            "returnDistinctValues", "outStatistics", "groupByFieldsForStatistics", "having", "topFilter", "fullText",
        ]

    private static let sync = [
        "replicaID", "replicaServerGen", "syncLayers", "syncDirection", "edits", "uploadId", "returnIdsForAdds",
        "rollbackOnFailure", "closeReplica", "transportType", "dataFormat", "layers", "replicaName", "layerQueries",
        "syncModel", "replicaOptions", "returnAttachments", "serverGens", "layerServerGens", "editsUploadId",
        "editsURL",
        "requestId", "geometry", "geometryType", "inSR", "replicaSR", "targetType", "returnInserts", "returnIdsOnly",
    ]

    private static let edits = [
        "features", "adds", "updates", "deletes", "attachments", "useGlobalIds", "rollbackOnFailure",
        "returnEditMoment",
        "objectIds", "where", "geometry", "calcExpression", "edits", "editSender", "editTurn", "editsUploadId",
        "returnDeleteResults", "returnServiceEditsOption", "honorSequenceOfEdits", "sqlFormat",
    ]

    private static let operations: [Operation] = {
        var operations: [Operation] = []
        func add(
            _ paths: [String], _ parameters: [String], posts: Bool = false, times: Int = 1,
            sound: [(name: String, value: String)] = []
        ) {
            for path in paths {
                for _ in 0..<times {
                    operations.append(Operation(path: path, isPost: posts, parameters: parameters, sound: sound))
                }
            }
        }
        let services = ["Crews/FeatureServer", "Areas/FeatureServer"]
        add(services.map { "\($0)/0/query" }, query, times: 6)
        add(services + services.map { "\($0)/query" }, query + ["layerDefs"], times: 2)
        add(services.map { "\($0)/0/queryTopFeatures" }, query, times: 2)
        add(services.map { "\($0)/0/queryRelatedRecords" }, query + ["relationshipId", "definitionExpression"])
        add(services.map { "\($0)/0/validateSQL" }, ["sql", "sqlType"], times: 2)
        add(services.flatMap { ["\($0)/queryDomains", "\($0)/queryContingentValues"] }, ["layers"])
        let map =
            shape + [
                "layers", "layerDefs", "tolerance", "mapExtent", "imageDisplay", "sr", "searchText", "contains",
                "searchFields",
                "returnGeometry", "returnFieldName", "dpi", "size", "dynamicLayers",
            ]
        add(
            ["Areas/MapServer/identify"], map, times: 2,
            sound: [
                ("geometryType", "esriGeometryPoint"), ("geometry", "2,2"), ("mapExtent", "0,0,6,6"),
                ("imageDisplay", "600,600,96"), ("tolerance", "3"), ("layers", "all"),
            ])
        add(["Areas/MapServer/find"], map, times: 2, sound: [("searchText", "Main"), ("layers", "0")])
        add(["Areas/MapServer/legend"], map, times: 2)
        add(
            ["Areas/MapServer/export"],
            map + ["bbox", "bboxSR", "imageSR", "format", "transparent", "mapScale", "time"], times: 3,
            sound: [("bbox", "0,0,6,6"), ("size", "64,64"), ("layers", "show:0"), ("format", "png32")])
        add(
            ["/arcgis/services/Areas/MapServer/WMSServer"],
            [
                "service", "request", "version", "layers", "styles", "crs", "bbox", "width", "height", "format", "i",
                "j",
                "query_layers", "info_format", "feature_count", "bgcolor", "dpi", "layer",
            ], times: 3,
            sound: [
                ("service", "WMS"), ("request", "GetMap"), ("version", "1.3.0"), ("layers", "0"), ("crs", "EPSG:3857"),
                ("bbox", "0,0,6,6"), ("width", "64"), ("height", "64"), ("format", "image/png"),
            ])
        let layers = services.map { "\($0)/0" }
        add(layers.map { "\($0)/addFeatures" } + layers.map { "\($0)/updateFeatures" }, edits, posts: true)
        add(layers.map { "\($0)/deleteFeatures" } + layers.map { "\($0)/calculate" }, edits, posts: true)
        add(layers.map { "\($0)/applyEdits" } + services.map { "\($0)/applyEdits" }, edits, posts: true, times: 2)
        add(["Crews/FeatureServer/createReplica"], sync, posts: true)
        add(
            ["Crews/FeatureServer/synchronizeReplica", "Crews/FeatureServer/extractChanges"], sync, posts: true,
            times: 2)
        add(["Crews/FeatureServer/unRegisterReplica", "Crews/FeatureServer/conflicts"], sync + ["state"])
        add(
            ["Crews/FeatureServer/0/1/addAttachment", "Crews/FeatureServer/0/1/updateAttachment"],
            ["attachment", "uploadId", "keywords", "attachmentId", "returnEditMoment"], posts: true)
        add(["Crews/FeatureServer/0/1/deleteAttachments"], ["attachmentIds", "rollbackOnFailure"], posts: true)
        add(
            ["Crews/FeatureServer/0/queryAttachments"],
            [
                "objectIds", "globalIds", "definitionExpression", "attachmentsDefinitionExpression", "attachmentTypes",
                "size", "keywords", "orderByFields", "resultOffset", "resultRecordCount", "returnUrl", "returnMetadata",
            ], times: 2)
        add(
            ["register", "upload", "1/commit", "1/append", "info"].map { "Crews/FeatureServer/uploads/\($0)" },
            ["itemName", "description", "file", "filename", "parts", "size", "sha256", "offset", "partId"], posts: true)
        add(
            [
                "", "Crews/FeatureServer/0/1", "Crews/FeatureServer/0/1/history", "Crews/FeatureServer/jobs/1",
                "Nothing",
                "Crews/FeatureServer/99999999999999999999/query", "Crews/FeatureServer/-1", "%00/FeatureServer",
                "..%2f..%2fetc/FeatureServer", "Crews/FeatureServer/layers", "Crews/FeatureServer/replicas",
                "Crews/FeatureServer/0/contingentValues", "Crews/FeatureServer/relationships",
            ], query)
        add(documented, portal + ["where", "objectIds", "layers", "geometry", "outSR"], times: 1)
        return operations
    }()

    /// What sign-ins, people, groups, items and searches for addresses take.
    private static let portal = [
        "username", "password", "client", "referer", "expiration", "redirect_uri", "client_id", "response_type",
        "grant_type", "code", "code_challenge", "code_challenge_method", "state", "refresh_token", "q", "num", "start",
        "sortField", "sortOrder", "title", "type", "tags", "text", "url", "thumbnail", "users", "groups", "items",
        "everyone", "org", "access", "role", "privileges", "SingleLine", "location", "searchExtent", "maxLocations",
        "addresses", "magicKey", "category", "sourceCountry", "langCode", "token",
    ]

    /// Every address of the table of operations, with something in the place of each of its names.
    private static let documented: [String] = {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../Documentation/operations.md").standardized
        let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
        let values = [
            "{service}": "Crews", "{folder}": "Old", "{layer}": "0", "{username}": "admin", "{name}": "a",
            "{prefix}": "p",
            "{item}": "0123456789abcdef0123456789abcdef", "{group}": "0123456789abcdef0123456789abcdef",
        ]
        return text.split(separator: "`").filter { $0.hasPrefix("/arcgis") && !$0.contains(" ") }.map { found in
            var path = values.reduce(String(found)) { $0.replacing($1.key, with: $1.value) }
            while let start = path.firstIndex(of: "{"), let end = path[start...].firstIndex(of: "}") {
                path.replaceSubrange(start...end, with: "1")
            }
            return path
        }
    }()
}
