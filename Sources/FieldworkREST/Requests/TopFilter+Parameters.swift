import FieldworkGeometry

extension FeatureQuery.TopFilter {
    /// `topFilter` of a `queryTopFeatures`.
    init(_ parameters: RequestParameters, layer: LayerDefinition) throws(ServiceError) {
        guard let object = try parameters.json("topFilter")?.objectValue else {
            throw .invalidParameter("'topFilter' is required: groupByFields, topCount and orderByFields.")
        }
        guard let count = object["topCount"]?.integerValue, (1...Int64(Limits.recordCount)).contains(count) else {
            throw .invalidParameter("'topFilter' needs a 'topCount' from 1 to \(Limits.recordCount).")
        }
        func text(_ name: String) -> String? {
            let words = object.array(name).compactMap(\.stringValue)
            let text = words.isEmpty ? object.string(name) : words.joined(separator: ",")
            return text.flatMap { $0.isEmpty ? nil : $0 }
        }
        guard let groupText = text("groupByFields"), let orderText = text("orderByFields") else {
            throw .invalidParameter("'topFilter' needs 'groupByFields' and 'orderByFields'.")
        }
        let groups = try QueryRequest.order(RequestParameters([("orderByFields", groupText)]), layer)
        let order = try QueryRequest.order(RequestParameters([("orderByFields", orderText)]), layer)
        guard groups.count <= Limits.topFields, order.count <= Limits.topFields else {
            throw .invalidParameter("'topFilter' names too many fields.")
        }
        self.init(groups: groups.map(\.expression), order: order, count: Int(count))
    }
}

extension QueryRequest {
    /// A `queryTopFeatures`: a query of the first features of each group.
    package init(
        topFeatures parameters: RequestParameters, layer: LayerDefinition, service: ServiceDefinition
    ) throws(ServiceError) {
        for name in ["outStatistics", "groupByFieldsForStatistics", "having"] where parameters[name] != nil {
            throw .invalidParameter("'\(name)' is not supported by 'queryTopFeatures'.")
        }
        if try parameters.bool("returnDistinctValues") == true {
            throw .invalidParameter("'returnDistinctValues' is not supported by 'queryTopFeatures'.")
        }
        let top = try FeatureQuery.TopFilter(parameters, layer: layer)
        try self.init(parameters: parameters, layer: layer, service: service)
        switch content {
        case .features(var query):
            query.top = top
            content = .features(query)
        case .count(var query):
            query.top = top
            content = .count(query)
        case .objectIDs(var query):
            query.top = top
            content = .objectIDs(query)
        case .extent(var query):
            query.top = top
            content = .extent(query)
        case .statistics: throw .invalidParameter("'outStatistics' is not supported by 'queryTopFeatures'.")
        }
    }
}
