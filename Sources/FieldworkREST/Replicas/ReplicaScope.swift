package import FieldworkGeometry
import Foundation

/// The layers, conditions and area of a request that makes a replica or asks for changes.
package struct ReplicaScope: Sendable {
    package var layers: [ReplicaLayer]
    package var geometry: Geometry?

    /// - Throws: `ServiceError` that names the parameter.
    package init(_ parameters: RequestParameters, service: ServiceDefinition) throws(ServiceError) {
        guard let words = try parameters.words("layers"), !words.isEmpty else {
            throw .invalidParameter("'layers' is required.")
        }
        geometry = try Self.geometry(parameters)
        let queries = try Self.queries(parameters)
        layers = []
        for word in words {
            guard let layer = Int(word).flatMap(service.layer) else {
                throw .invalidParameter("'layers' names '\(word.prefix(20))', which the service does not have.")
            }
            guard layer.globalIDField != nil else {
                throw .invalidParameter("The layer \(layer.id) has no global ids: it can't be kept in step.")
            }
            guard !layers.contains(where: { $0.layerID == layer.id }) else { continue }
            layers.append(try Self.part(layer, queries[String(layer.id)], hasArea: geometry != nil))
        }
        try addDefaults(service, queries)
    }

    private static func geometry(_ parameters: RequestParameters) throws(ServiceError) -> Geometry? {
        let inSR = try parameters.spatialReference("inSR")
        if let relation = parameters["spatialRel"], relation != SpatialFilter.Relation.intersects.rawValue {
            throw .invalidParameter("'spatialRel' must be \(SpatialFilter.Relation.intersects.rawValue).")
        }
        guard let geometry = try parameters.geometry("geometry", spatialReference: inSR) else { return nil }
        guard !geometry.isEmpty else { throw .invalidParameter("'geometry' is empty.") }
        return geometry
    }

    /// By the layer's number as it is written. Clients send keys that are none.
    private static func queries(_ parameters: RequestParameters) throws(ServiceError) -> [String: JSONObject] {
        guard let json = try parameters.json("layerQueries"), !json.isNull else { return [:] }
        guard let object = json.objectValue else {
            throw .invalidParameter("'layerQueries' must be an object with a member for each layer.")
        }
        var queries: [String: JSONObject] = [:]
        for member in object.members where Int(member.key) != nil { queries[member.key] = member.value.objectValue }
        return queries
    }

    private static func part(
        _ layer: LayerDefinition, _ query: JSONObject?, hasArea: Bool
    ) throws(ServiceError) -> ReplicaLayer {
        var part = ReplicaLayer(layerID: layer.id)
        guard let query else { return part }
        if let name = query.member(ignoringCase: "queryOption")?.stringValue, !name.isEmpty {
            guard
                let option = ReplicaLayer.Option.allCases.first(where: { $0.rawValue.lowercased() == name.lowercased() }
                )
            else { throw .invalidParameter("'layerQueries': the option '\(name.prefix(40))' is not known.") }
            part.option = option
        }
        part.usesGeometry = query.member(ignoringCase: "useGeometry")?.boolValue ?? true
        part.includesRelated = query.member(ignoringCase: "includeRelated")?.boolValue ?? false
        if let text = query.member(ignoringCase: "where")?.stringValue, !text.isEmpty { part.condition = text }
        if let fields = query.member(ignoringCase: "fields"), fields != .string(""), fields != .string("*"),
            !fields.isNull
        {
            throw .invalidParameter("'layerQueries': 'fields' is not supported: rows come whole.")
        }
        return part
    }

    /// A table for which nothing is said comes with the rows that are related to the others, or whole when none leads to
    /// it.
    private mutating func addDefaults(_ service: ServiceDefinition, _ queries: [String: JSONObject])
        throws(ServiceError)
    {
        let known = ReplicaDefinition(id: UUID(), name: "", layers: layers, created: .distantPast)
        for index in layers.indices {
            guard let layer = service.layer(id: layers[index].layerID), layer.isTable, queries[String(layer.id)] == nil,
                geometry != nil
            else { continue }
            layers[index].option = known.isRelated(layer, in: service) ? .none : .all
            layers[index].includesRelated = true
        }
        // A condition that the layer can't answer is refused before anything is made.
        var definition = known
        definition.layers = layers
        definition.geometry = geometry
        _ = try definition.rows(in: service)
    }
}

/// How a document comes to the client.
package enum ReplicaTransport: Sendable, Hashable {
    /// In the answer itself.
    case embedded
    /// As a file whose address the answer gives.
    case url

    init(_ parameters: RequestParameters) throws(ServiceError) {
        switch parameters["transportType"]?.lowercased() {
        case nil, "esritransporttypeurl": self = .url
        case "esritransporttypeembedded": self = .embedded
        default: throw .invalidParameter("'transportType' must be esriTransportTypeUrl or esriTransportTypeEmbedded.")
        }
    }
}

extension RequestParameters {
    /// The value of a parameter out of a list, without regard to case.
    func choice<Value: RawRepresentable & CaseIterable>(_ name: String, _ type: Value.Type) throws(ServiceError)
        -> Value?
    where Value.RawValue == String {
        guard let text = self[name] else { return nil }
        guard let value = Value.allCases.first(where: { $0.rawValue.lowercased() == text.lowercased() }) else {
            let choices = Value.allCases.map(\.rawValue).joined(separator: ", ")
            throw .invalidParameter("'\(name)' must be one of \(choices).")
        }
        return value
    }

    package func refuse(_ names: [String]) throws(ServiceError) {
        for name in names {
            guard let text = self[name], !["null", "{}", "[]", "false", "none"].contains(text.lowercased()) else {
                continue
            }
            throw .invalidParameter("'\(name)' is not supported.")
        }
    }
}
