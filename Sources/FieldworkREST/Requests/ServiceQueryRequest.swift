import FieldworkGeometry

/// A `query` of a service: one answer for several layers and tables, each with a condition of its own.
package struct ServiceQueryRequest: Sendable {
    package struct Element: Sendable {
        package var layer: LayerDefinition
        package var request: QueryRequest
    }

    /// In the order of the request.
    package var elements: [Element]
    /// Whether the answer is laid out for people, for which it has to be there as a whole.
    package var isPretty: Bool

    /// - Throws: what `QueryRequest` throws; for a layer that is not there or is named twice.
    package init(parameters: RequestParameters, service: ServiceDefinition) throws(ServiceError) {
        let format = parameters["f"]?.lowercased() ?? "json"
        guard ["json", "pjson", "html"].contains(format) else {
            throw .invalidParameter("The format '\(format.prefix(32))' is not supported by the 'query' of a service.")
        }
        // Ids are not cut by a record count: they go out piece by piece, in one line.
        let isOfIDs = try parameters.bool("returnIdsOnly") == true
        isPretty = format != "json" && !isOfIDs
        for name in ["outStatistics", "groupByFieldsForStatistics", "having", "objectIds", "globalIds"]
        where parameters[name] != nil {
            throw .invalidQuery("'\(name)' is not supported by the 'query' of a service.")
        }
        // Each layer has a condition of its own: one for all would be passed over.
        guard ["1=1", "1 = 1"].contains(parameters["where"] ?? "1=1") else {
            throw .invalidQuery("'where' is not supported by the 'query' of a service: 'layerDefs' has the conditions.")
        }
        elements = []
        for definition in try LayerDefinitionList(parameters, service: service).entries {
            guard let layer = service.layer(id: definition.layerID) else {
                throw .invalidQuery("'layerDefs' names layer \(definition.layerID), which the service does not have.")
            }
            guard !elements.contains(where: { $0.layer.id == layer.id }) else {
                throw .invalidQuery("'layerDefs' names layer \(layer.id) twice.")
            }
            var own = parameters
            own.set("f", "json")
            own.set("where", definition.condition ?? "1=1")
            own.set("outFields", definition.outFields ?? "*")
            // A table is chosen from by its condition alone.
            if layer.isTable { own.set("geometry", "") }
            // What has no times is there at all times.
            if layer.timeInfo == nil { own.set("time", "") }
            elements.append(
                Element(layer: layer, request: try QueryRequest(parameters: own, layer: layer, service: service)))
        }
    }
}

/// `layerDefs` in its three forms: `{"0":"a = 1"}`, `0:a = 1;1:b = 2`, `[{"layerId":0,"where":"a = 1"}]`. Without it all
/// layers and tables are meant.
struct LayerDefinitionList {
    struct Entry {
        var layerID: Int
        var condition: String?
        var outFields: String?
    }

    private(set) var entries: [Entry] = []

    init(_ parameters: RequestParameters, service: ServiceDefinition) throws(ServiceError) {
        guard let text = try parameters.list("layerDefs"), text != "null" else {
            entries = service.layers.map { Entry(layerID: $0.id) }
            return
        }
        switch text.first(where: { $0 != " " }) {
        case "{", "[": try read(try parameters.json("layerDefs") ?? .null)
        default: try read(plain: text)
        }
    }

    private static let malformed = ServiceError.invalidQuery("'layerDefs' can't be read.")

    private mutating func read(_ json: JSONValue) throws(ServiceError) {
        if let list = json.arrayValue {
            for element in list {
                guard let object = element.objectValue, let id = object.integer("layerId") ?? object.integer("id")
                else {
                    throw Self.malformed
                }
                entries.append(
                    Entry(layerID: id, condition: object.string("where"), outFields: object.string("outFields")))
            }
        } else if let object = json.objectValue {
            for member in object.members {
                guard let id = Int(member.key) else { throw Self.malformed }
                switch member.value {
                case .null: entries.append(Entry(layerID: id))
                case .string(let text): entries.append(Entry(layerID: id, condition: text.isEmpty ? nil : text))
                default: throw Self.malformed
                }
            }
        } else {
            throw Self.malformed
        }
    }

    /// Semicolons within quotes belong to a text.
    private mutating func read(plain text: String) throws(ServiceError) {
        var pieces: [String] = [""]
        var quote: Character?
        for character in text {
            if character == quote { quote = nil } else if quote == nil, "'\"".contains(character) { quote = character }
            if character == ";", quote == nil { pieces.append("") } else { pieces[pieces.count - 1].append(character) }
        }
        for piece in pieces where piece.contains(where: { $0 != " " }) {
            let parts = piece.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let id = Int(parts[0].filter { $0 != " " }) else { throw Self.malformed }
            let condition = parts[1].drop { $0 == " " }
            entries.append(Entry(layerID: id, condition: condition.isEmpty ? nil : String(condition)))
        }
    }
}
