import FieldworkGeometry

/// A `query` of a layer or table (rest-api §3.1), read and checked against the layer.
package struct QueryRequest: Sendable {
    package enum Content: Sendable {
        case features(FeatureQuery)
        case count(FeatureQuery)
        case objectIDs(FeatureQuery)
        /// The extent and the number of features.
        case extent(FeatureQuery)
        case statistics(StatisticsQuery)
    }

    package enum Format: String, Sendable, CaseIterable {
        case json, pjson, geojson, pbf
    }

    package var content: Content
    package var format: Format

    package init(
        parameters: RequestParameters, layer: LayerDefinition, service: ServiceDefinition
    ) throws(ServiceError) {
        let name = parameters["f"] ?? "json"
        guard let format = Format(rawValue: name.lowercased()) else {
            throw .invalidParameter("The format '\(name.prefix(32))' is not supported by 'query'.")
        }
        self.format = format
        try Self.refuseUnsupported(parameters)
        var query = try FeatureQuery(filter: parameters, layer: layer)
        if let statistics = try Self.statistics(query, parameters, layer, service) {
            content = .statistics(statistics)
        } else if try parameters.bool("returnCountOnly") == true, try parameters.bool("returnExtentOnly") != true {
            query.returnsDistinctValues = try parameters.bool("returnDistinctValues") ?? false
            if query.returnsDistinctValues { query.outFields = try Self.outFields(parameters, layer) }
            content = .count(query)
        } else if try parameters.bool("returnExtentOnly") == true {
            query.output.spatialReference = try parameters.outputReference()
            content = .extent(query)
        } else if try parameters.bool("returnIdsOnly") == true {
            query.order = try Self.order(parameters, layer)
            content = .objectIDs(query)
        } else {
            content = .features(try Self.features(query, parameters, layer, service, format))
        }
    }

    private static func statistics(
        _ filter: FeatureQuery, _ parameters: RequestParameters, _ layer: LayerDefinition, _ service: ServiceDefinition
    ) throws(ServiceError) -> StatisticsQuery? {
        let statistics = try StatisticsQuery(
            parameters, filter: filter, limit: try limit(parameters, layer, service, isOfFeatures: false), layer: layer)
        guard let statistics else { return nil }
        for name in ["returnCountOnly", "returnIdsOnly", "returnExtentOnly"] where try parameters.bool(name) == true {
            throw .invalidQuery("'\(name)' can't be combined with 'outStatistics'.")
        }
        return statistics
    }

    // MARK: Features

    private static func features(
        _ filter: FeatureQuery, _ parameters: RequestParameters, _ layer: LayerDefinition, _ service: ServiceDefinition,
        _ format: Format
    ) throws(ServiceError) -> FeatureQuery {
        var query = filter
        query.outFields = try outFields(parameters, layer)
        let returnsGeometry = try parameters.bool("returnGeometry") ?? true
        query.returnsGeometry = returnsGeometry && !layer.isTable
        query.returnsDistinctValues = try parameters.bool("returnDistinctValues") ?? false
        guard !(query.returnsDistinctValues && query.returnsGeometry) else {
            throw .invalidQuery("'returnDistinctValues' needs 'returnGeometry=false'.")
        }
        query.order = try order(parameters, layer)
        query.offset = try nonNegative("resultOffset", parameters) ?? 0
        query.limit = try limit(parameters, layer, service)
        query.output = try output(parameters, layer, format)
        return query
    }

    /// The fields to return, in layer order. Without the parameter only the object id; `*` for all.
    static func outFields(_ parameters: RequestParameters, _ layer: LayerDefinition) throws(ServiceError)
        -> [String]?
    {
        guard parameters.names("outFields") else { return [layer.objectIDField] }
        guard let words = try parameters.words("outFields") else { return [] }
        if words.contains("*") { return nil }
        var wanted: Set<String> = []
        for word in words {
            let name =
                word.hasPrefix("\"") && word.hasSuffix("\"") && word.count > 1
                ? String(word.dropFirst().dropLast()) : word
            guard let field = layer.field(named: name) else {
                throw .invalidQuery("'outFields' names the field '\(name.prefix(64))', which the layer does not have.")
            }
            wanted.insert(field.name)
        }
        return layer.fields.map(\.name).filter(wanted.contains)
    }

    static func order(
        _ parameters: RequestParameters, _ layer: LayerDefinition
    ) throws(ServiceError) -> [FeatureQuery.OrderTerm] {
        guard let text = parameters["orderByFields"] else { return [] }
        let terms: [FeatureQuery.OrderTerm]
        do {
            terms = try SQLParser.parse(orderBy: text)
        } catch {
            throw .invalidQuery("'orderByFields': \(error.description)")
        }
        var bound: [FeatureQuery.OrderTerm] = []
        for term in terms {
            bound.append(.init(expression: try term.expression.bound(to: layer), isDescending: term.isDescending))
        }
        return bound
    }

    /// Explicit ids are all answered: clients that ask for them do not look whether the answer was cut.
    private static func limit(
        _ parameters: RequestParameters, _ layer: LayerDefinition, _ service: ServiceDefinition,
        isOfFeatures: Bool = true
    ) throws(ServiceError) -> Int {
        let maximum = max(1, min(layer.maxRecordCount, service.maxRecordCount))
        let asked = try nonNegative("resultRecordCount", parameters)
        if isOfFeatures, (parameters["objectIds"] != nil || parameters["globalIds"] != nil) {
            return min(asked ?? Limits.identifierCount, Limits.identifierCount)
        }
        return min(asked ?? maximum, maximum)
    }

    static func nonNegative(_ name: String, _ parameters: RequestParameters) throws(ServiceError) -> Int? {
        guard let value = try parameters.integer(name) else { return nil }
        guard value >= 0 else { throw .invalidParameter("'\(name)' must not be negative.") }
        return value
    }

    // MARK: Geometry

    private static func output(
        _ parameters: RequestParameters, _ layer: LayerDefinition, _ format: Format
    ) throws(ServiceError) -> GeometryOutput {
        var output = GeometryOutput()
        output.spatialReference = try parameters.outputReference()
        if output.spatialReference == nil, format == .geojson, !layer.isTable { output.spatialReference = .wgs84 }
        output.maxAllowableOffset = try parameters.number("maxAllowableOffset") ?? 0
        guard output.maxAllowableOffset >= 0 else {
            throw .invalidParameter("'maxAllowableOffset' must not be negative.")
        }
        output.precision = try nonNegative("geometryPrecision", parameters).map { min($0, 15) }
        let (returnsZ, returnsM) = (try parameters.bool("returnZ") ?? false, try parameters.bool("returnM") ?? false)
        output.returnsZ = layer.hasZ && returnsZ
        output.returnsM = layer.hasM && returnsM
        output.quantization = try Quantization(
            parameters, reference: output.spatialReference ?? layer.spatialReference,
            maxAllowableOffset: output.maxAllowableOffset)
        // A grid in JSON has cells of x and y only; protocol buffers have heights and measures as well.
        if output.quantization != nil, format == .json || format == .pjson, output.returnsZ || output.returnsM {
            throw .invalidQuery("'quantizationParameters' needs f=pbf when 'returnZ' or 'returnM' is true.")
        }
        return output
    }

    /// What would change the answer and is not done yet is refused: a wrong answer would be worse.
    private static func refuseUnsupported(_ parameters: RequestParameters) throws(ServiceError) {
        for name in [
            "time", "historicMoment", "fullText", "gdbVersion", "uniqueIds", "text", "parameterValues", "rangeValues",
            "sessionID", "lodType", "lod", "lodSR",
        ]
        where parameters[name].map({ !["null", "sde.default", "[]", "{}"].contains($0.lowercased()) }) == true {
            throw .invalidQuery("'\(name)' is not supported.")
        }
        for name in ["returnUniqueIdsOnly", "returnCentroid", "returnEnvelope"] where try parameters.bool(name) == true
        {
            throw .invalidQuery("'\(name)' is not supported.")
        }
        if parameters["sqlFormat"]?.lowercased() == "native" {
            throw .invalidQuery("'sqlFormat' must be 'standard' or 'none': queries are standardized.")
        }
    }
}

extension RequestParameters {
    /// The reference of the answer's geometries, nil for the layer's.
    func outputReference() throws(ServiceError) -> SpatialReference? {
        if let reference = try spatialReference("outSR") { return reference }
        return try spatialReference("defaultSR")
    }

    /// The reference of the request's geometry, nil for the geometry's own or the layer's.
    func inputReference() throws(ServiceError) -> SpatialReference? {
        if let reference = try spatialReference("inSR") { return reference }
        return try spatialReference("defaultSR")
    }
}
