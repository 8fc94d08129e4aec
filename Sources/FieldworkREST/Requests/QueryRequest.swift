import FieldworkGeometry

/// A `query` of a layer or table, read and checked against the layer.
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
    /// An answer that the limit would cut comes without features (`returnExceededLimitFeatures=false`).
    package var isWholeOrEmpty: Bool

    package init(
        parameters: RequestParameters, layer: LayerDefinition, service: ServiceDefinition
    ) throws(ServiceError) {
        let name = parameters["f"] ?? "json"
        guard let format = Format(rawValue: name.lowercased()) else {
            throw .invalidParameter("The format '\(name.prefix(32))' is not supported by 'query'.")
        }
        self.format = format
        try Self.refuseUnsupported(parameters)
        let isTile = try ResultType(parameters) == .tile
        let allowsCut = try parameters.bool("returnExceededLimitFeatures") ?? true
        isWholeOrEmpty = isTile && !allowsCut
        var query = try FeatureQuery(filter: parameters, layer: layer)
        try query.restrictToTime(parameters, layer)
        query.moment = try parameters.historicMoment()
        if let statistics = try Self.statistics(query, parameters, layer, service, format) {
            content = .statistics(statistics)
        } else if try parameters.bool("returnCountOnly") == true, try parameters.bool("returnExtentOnly") != true {
            query.returnsDistinctValues = try parameters.bool("returnDistinctValues") ?? false
            if query.returnsDistinctValues {
                query.outFields = try Self.outFields(parameters, layer)
                // Whoever counts wants no geometries, unless it says so.
                query.returnsGeometry = try parameters.bool("returnGeometry") ?? false
            }
            content = .count(query)
        } else if try parameters.bool("returnExtentOnly") == true {
            query.output.spatialReference = try parameters.outputReference()
            query.output.datumTransformation = try parameters.datumTransformation(
                from: layer.spatialReference, to: query.output.spatialReference)
            content = .extent(query)
        } else if try parameters.bool("returnIdsOnly") == true {
            query.order = try Self.order(parameters, layer)
            content = .objectIDs(query)
        } else {
            content = .features(try Self.features(query, parameters, layer, service, format))
        }
    }

    private static func statistics(
        _ filter: FeatureQuery, _ parameters: RequestParameters, _ layer: LayerDefinition, _ service: ServiceDefinition,
        _ format: Format
    ) throws(ServiceError) -> StatisticsQuery? {
        let statistics = try StatisticsQuery(
            parameters, filter: filter, limit: try limit(parameters, layer, service, isOfFeatures: false), layer: layer,
            format: format)
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
        query.order = try order(parameters, layer)
        query.offset = try nonNegative("resultOffset", parameters) ?? 0
        query.limit = try limit(parameters, layer, service)
        query.output = try GeometryOutput(parameters, layer: layer, format: format)
        if query.returnsDistinctValues, query.readsGeometry != query.returnsGeometry {
            throw .invalidQuery(
                "'returnCentroid' and 'returnEnvelope' need 'returnGeometry=true' beside 'returnDistinctValues'.")
        }
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
        // Each name is looked up once, however often it is sent.
        for word in Set(words) {
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
        let maximum = try RecordLimits(layer: layer, serviceMaximum: service.maxRecordCount).maximum(parameters)
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

    /// What would change the answer and is not done yet is refused: a wrong answer would be worse.
    private static func refuseUnsupported(_ parameters: RequestParameters) throws(ServiceError) {
        for name in [
            "fullText", "gdbVersion", "uniqueIds", "text", "parameterValues", "rangeValues",
            "sessionID", "lodType", "lod", "lodSR",
        ]
        where parameters[name].map({ !["null", "sde.default", "[]", "{}"].contains($0.lowercased()) }) == true {
            throw .invalidQuery("'\(name)' is not supported.")
        }
        if try parameters.bool("returnUniqueIdsOnly") == true {
            throw .invalidQuery("'returnUniqueIdsOnly' is not supported.")
        }
        if parameters["sqlFormat"]?.lowercased() == "native" {
            throw .invalidQuery("'sqlFormat' must be 'standard' or 'none': queries are standardized.")
        }
    }
}
