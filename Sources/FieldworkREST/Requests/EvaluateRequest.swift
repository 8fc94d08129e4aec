import FieldworkGeometry
import Foundation

/// `evaluate` of a validation service: the validation rules of layers are asked about features that are there.
package struct EvaluateRequest: Sendable {
    /// The features of one layer.
    package struct Element: Sendable {
        package var layer: LayerDefinition
        package var features: FeatureQuery
    }

    /// In the order of the definition; layers without validation rules are not among them.
    package var elements: [Element]

    /// - Parameter service: the layers that whoever asks may read.
    package init(parameters: RequestParameters, service: ServiceDefinition) throws(ServiceError) {
        try Self.check(parameters)
        let extent = try parameters.geometry("evaluationArea", spatialReference: nil)
        if let extent, !(extent is Envelope) {
            throw .invalidParameter("'evaluationArea' must be an envelope.")
        }
        let selection = try Self.selection(parameters, service)
        elements = []
        for layer in service.layers {
            var features = FeatureQuery()
            if let selection {
                guard let chosen = selection[layer.id] else { continue }
                features = chosen
            }
            guard layer.attributeRules.contains(where: { $0.isEnabled && $0.kind == .validation }) else { continue }
            if let extent {
                guard let reference = layer.spatialReference else { continue }
                features.spatialFilter = SpatialFilter(
                    geometry: try Self.projected(extent, into: reference), relation: .intersects)
            }
            features.restrict(to: layer)
            elements.append(Element(layer: layer, features: features))
        }
    }

    /// Without versions every parameter that names one but the only one there is says something that can't be done.
    private static func check(_ parameters: RequestParameters) throws(ServiceError) {
        for name in ["gdbVersion", "sessionId"]
        where parameters[name].map({ !["null", "sde.default", "default"].contains($0.lowercased()) }) == true {
            throw .invalidParameter("'\(name)' is not supported: the service has no versions.")
        }
        for name in ["changesInVersion", "async"] where try parameters.bool(name) == true {
            throw .invalidParameter("'\(name)' is not supported by 'evaluate'.")
        }
        let types = try parameters.words("evaluationType") ?? ["validationRules"]
        if let other = types.first(where: { $0.lowercased() != "validationrules" }) {
            throw .invalidParameter(
                "The 'evaluationType' '\(other.prefix(64))' is not supported; 'validationRules' is. Calculations run with each edit."
            )
        }
    }

    /// The features that are chosen by their ids, by layer; nil where none are.
    private static func selection(
        _ parameters: RequestParameters, _ service: ServiceDefinition
    ) throws(ServiceError) -> [Int: FeatureQuery]? {
        guard let json = try parameters.json("selection"), !json.isNull else { return nil }
        guard let list = json.arrayValue else { throw .invalidParameter("'selection' is not a list.") }
        var chosen: [Int: FeatureQuery] = [:]
        var count = 0
        for element in list {
            guard let id = (element["id"] ?? element["layerId"])?.integerValue.flatMap({ Int(exactly: $0) }) else {
                throw .invalidParameter("'selection' has an element without the 'id' of its layer.")
            }
            guard let layer = service.layer(id: id) else {
                throw .invalidParameter("'selection' names the layer \(id), which the service does not have.")
            }
            guard chosen[id] == nil else { throw .invalidParameter("'selection' names the layer \(id) twice.") }
            let query = try query(element, layer)
            count += (query.objectIDs?.count ?? 0) + (query.globalIDs?.count ?? 0)
            guard count <= Limits.identifierCount else {
                throw .invalidParameter("'selection' has more than \(Limits.identifierCount) ids. Ask in parts.")
            }
            chosen[id] = query
        }
        return chosen
    }

    private static func query(_ element: JSONValue, _ layer: LayerDefinition) throws(ServiceError) -> FeatureQuery {
        let (objectIDs, globalIDs) = (element["objectIds"]?.arrayValue, element["globalIds"]?.arrayValue)
        guard (objectIDs == nil) != (globalIDs == nil) else {
            throw .invalidParameter("'selection' names the features of a layer by 'objectIds' or by 'globalIds'.")
        }
        var query = FeatureQuery()
        if let objectIDs {
            query.objectIDs = objectIDs.compactMap(\.integerValue)
            guard query.objectIDs?.count == objectIDs.count else {
                throw .invalidParameter("'selection' has an element of 'objectIds' that is no object id.")
            }
        }
        if let globalIDs {
            guard layer.globalIDField != nil else {
                throw .invalidParameter("'selection': the layer \(layer.id) has no global ids.")
            }
            query.globalIDs = globalIDs.compactMap { $0.stringValue.flatMap(GUID.parse) }
            guard query.globalIDs?.count == globalIDs.count else {
                throw .invalidParameter("'selection' has an element of 'globalIds' that is no global id.")
            }
        }
        return query
    }

    private static func projected(
        _ extent: Geometry, into reference: SpatialReference
    ) throws(ServiceError) -> Geometry {
        do {
            return try GeometryEngine.projected(extent, into: reference)
        } catch {
            throw .invalidParameter("'evaluationArea': \(error.details)")
        }
    }
}
