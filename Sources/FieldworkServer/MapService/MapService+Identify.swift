import FieldworkGeometry
import FieldworkREST
import FieldworkStore

extension MapService {
    /// `identify`: what is at a place of the map, layer by layer from the top.
    func identify(_ published: PublishedService, _ request: ServiceRequest) async throws -> Answer {
        let format = try request.format()
        let identify = try IdentifyRequest(request.parameters, service: published.definition)
        let results = try await results(
            of: identify, request.parameters, published, maximum: published.definition.maxRecordCount)
        return .json(results.json, format: format == .html ? .json : format)
    }

    /// - Parameter maximum: how many features there may be in all.
    func results(
        of identify: IdentifyRequest, _ parameters: RequestParameters, _ published: PublishedService, maximum: Int
    ) async throws -> MapResults {
        var results = MapResults(maximum: maximum)
        for layer in identify.choice.layers(of: published.definition, scale: identify.scale) {
            try Permissions(service: published.definition, layer: layer).require(.query)
            guard results.room > 0, let reference = layer.spatialReference else { continue }
            var query = try LayerConditions.query(layer, identify.conditions)
            try query.restrict(toTimeOf: parameters, layer, of: published.definition)
            do {
                query.spatialFilter = SpatialFilter(
                    geometry: try GeometryEngine.projected(identify.geometry, into: reference))
            } catch {
                throw ServiceError.invalidParameter("'geometry': \(error.details)")
            }
            identify.output.apply(to: &query, layer: layer)
            let found = try await self.found(query, in: layer, of: published, room: results.room)
            results.add(found.features.map { identify.output.result($0, of: layer) }, isCut: found.isCut)
            if identify.choice.mode == .top, !found.features.isEmpty { break }
        }
        return results
    }

    /// The features of a query, as JSON: few, since a person reads them.
    func found(
        _ query: FeatureQuery, in layer: LayerDefinition, of published: PublishedService, room: Int
    ) async throws -> (features: [JSONValue], isCut: Bool) {
        var query = query
        query.limit = room
        let address = LayerAddress(service: published.definition.name, layerID: layer.id)
        let encoder = try JSONFeatureEncoder(layer: layer, query: query)
        let bytes = try await FeatureService.collected(
            try await store.encodedFeatures(query, in: address, encoder: encoder))
        // The results are made of the features, which they outlive.
        try WorkAllowance.current?.charge(bytes.count * Limits.treeBytesPerByte)
        let answer = try JSONParser.parse(bytes)
        return (answer["features"]?.arrayValue ?? [], answer["exceededTransferLimit"]?.boolValue ?? false)
    }

    /// What would change the answer and is not done is refused by name.
    static func refuse(_ names: [String], in parameters: RequestParameters) throws(ServiceError) {
        for name in names {
            guard let value = parameters[name], !["null", "[]", "{}"].contains(value.lowercased()) else { continue }
            throw .invalidParameter("'\(name)' is not supported.")
        }
    }
}

/// The results of `identify` or `find` over several layers.
struct MapResults {
    private let maximum: Int
    private(set) var results: [JSONValue] = []
    private var isCut = false

    init(maximum: Int) { self.maximum = max(1, min(maximum, Limits.mapResults)) }

    /// How many more there may be.
    var room: Int { maximum - results.count }

    mutating func add(_ more: [JSONValue], isCut: Bool) {
        results += more
        self.isCut = self.isCut || isCut || room <= 0
    }

    var json: JSONValue {
        isCut ? ["results": .array(results), "exceededTransferLimit": true] : ["results": .array(results)]
    }
}
