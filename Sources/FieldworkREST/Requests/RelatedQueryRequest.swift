import FieldworkGeometry

/// A `queryRelatedRecords` of a layer or table, read and checked against both of its sides.
package struct RelatedQueryRequest: Sendable {
    package var query: RelatedQuery
    /// The layer or table that the answer's features are of.
    package var related: LayerDefinition
    package var isPretty: Bool

    package init(
        parameters: RequestParameters, layer: LayerDefinition, service: ServiceDefinition
    ) throws(ServiceError) {
        isPretty = try Self.isPretty(parameters)
        try Self.refuseUnsupported(parameters)
        let (path, related) = try Self.path(parameters, layer, service)
        self.related = related
        let sources = try Self.sources(parameters, layer)
        var features = FeatureQuery()
        if let text = parameters["definitionExpression"] {
            features.condition = try FeatureQuery.condition(text, related, parameter: "definitionExpression")
        }
        features.restrict(to: related)
        features.moment = try parameters.historicMoment()
        let countsOnly = try parameters.bool("returnCountOnly") ?? false
        if !countsOnly { try Self.readFeatures(parameters, related, service, into: &features) }
        query = RelatedQuery(
            path: path, sources: sources, sourceCondition: layer.restriction, features: features, countsOnly: countsOnly
        )
    }

    private static func readFeatures(
        _ parameters: RequestParameters, _ related: LayerDefinition, _ service: ServiceDefinition,
        into features: inout FeatureQuery
    ) throws(ServiceError) {
        if parameters["outFields"] != nil { features.outFields = try QueryRequest.outFields(parameters, related) }
        features.returnsGeometry = try (parameters.bool("returnGeometry") ?? true) && !related.isTable
        features.order = try QueryRequest.order(parameters, related)
        features.offset = try QueryRequest.nonNegative("resultOffset", parameters) ?? 0
        let maximum = max(1, min(related.maxRecordCount, service.maxRecordCount))
        features.limit = min(try QueryRequest.nonNegative("resultRecordCount", parameters) ?? maximum, maximum)
        features.output.spatialReference = try parameters.outputReference()
        try features.output.readShape(parameters, layer: related)
    }

    private static func isPretty(_ parameters: RequestParameters) throws(ServiceError) -> Bool {
        let name = parameters["f"] ?? "json"
        switch name.lowercased() {
        case "json": return false
        // A page shows no more than the JSON laid out.
        case "pjson", "html": return true
        default: throw .invalidParameter("The format '\(name.prefix(32))' is not supported by 'queryRelatedRecords'.")
        }
    }

    private static func path(
        _ parameters: RequestParameters, _ layer: LayerDefinition, _ service: ServiceDefinition
    ) throws(ServiceError) -> (RelationshipPath, LayerDefinition) {
        guard let id = try parameters.integer("relationshipId") else {
            throw .invalidParameter("'relationshipId' is required.")
        }
        let ends = layer.relationships.filter { $0.id == id }
        // A relationship of a layer with itself has both ends there: the way leads from the origin.
        guard let end = ends.first(where: { $0.role == .origin }) ?? ends.first else {
            throw .invalidParameter("'relationshipId': the layer has no relationship \(id).")
        }
        guard let path = RelationshipPath(end, of: layer, in: service),
            let related = service.layer(id: path.relatedLayerID)
        else {
            throw .invalidParameter(
                "'relationshipId': the other side of the relationship \(id) is not in this service.")
        }
        return (path, related)
    }

    private static func sources(
        _ parameters: RequestParameters, _ layer: LayerDefinition
    ) throws(ServiceError) -> RelatedQuery.Sources {
        if let ids = try parameters.objectIDs("objectIds") { return .objectIDs(ids) }
        guard let ids = try parameters.globalIDs("globalIds") else {
            throw .invalidParameter("'objectIds' or 'globalIds' is required.")
        }
        guard layer.globalIDField != nil else { throw .invalidParameter("'globalIds': the layer has no global ids.") }
        return .globalIDs(ids)
    }

    private static func refuseUnsupported(_ parameters: RequestParameters) throws(ServiceError) {
        for name in ["gdbVersion", "uniqueIds"]
        where parameters[name].map({ !["null", "sde.default", "[]"].contains($0.lowercased()) }) == true {
            throw .invalidQuery("'\(name)' is not supported by 'queryRelatedRecords'.")
        }
        // Parameters of queries that this one has not: passed over, they would leave more in the answer than was meant.
        guard ["1=1", "1 = 1"].contains(parameters["where"] ?? "1=1") else {
            throw .invalidQuery("'where' is not supported by 'queryRelatedRecords': it is 'definitionExpression'.")
        }
        try parameters.refuse(
            ["time", "geometry", "outStatistics", "groupByFieldsForStatistics", "having"], in: "queryRelatedRecords")
        if parameters["sqlFormat"]?.lowercased() == "native" {
            throw .invalidQuery("'sqlFormat' must be 'standard' or 'none': queries are standardized.")
        }
    }
}
