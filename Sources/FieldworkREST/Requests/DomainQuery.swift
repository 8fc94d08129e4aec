package import FieldworkGeometry

/// `queryDomains` of a service: the domains that the fields, types and subtypes of layers have, each
/// once.
package enum DomainQuery {
    package static func answer(
        _ parameters: RequestParameters, service: ServiceDefinition
    ) throws(ServiceError) -> JSONValue {
        var layers = service.layers
        if let ids = try parameters.objectIDs("layers") {
            layers = []
            for id in ids {
                guard let layer = Int(exactly: id).flatMap(service.layer) else {
                    throw .invalidParameter("'layers' names layer \(id), which the service does not have.")
                }
                layers.append(layer)
            }
        }
        var known: Set<DomainDefinition> = []
        var answer: [JSONValue] = []
        for layer in layers {
            for (field, domain) in layer.allDomains where known.insert(domain).inserted {
                var object = domain.json.objectValue ?? JSONObject()
                if object["fieldType"] == nil { object["fieldType"] = .string(field.type.rawValue) }
                answer.append(.object(object))
            }
        }
        return ["domains": .array(answer)]
    }
}

extension LayerDefinition {
    fileprivate var allDomains: [(field: FieldDefinition, domain: DomainDefinition)] {
        var all = fields.compactMap { field in field.domain.map { (field: field, domain: $0) } }
        for domains in types.map(\.domains) + subtypes.map(\.domains) {
            for (name, domain) in domains.sorted(by: { $0.key < $1.key }) where domain.kind != .inherited {
                if let field = field(named: name) { all.append((field, domain)) }
            }
        }
        return all
    }
}
