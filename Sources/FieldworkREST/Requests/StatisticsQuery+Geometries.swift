import FieldworkGeometry

extension StatisticsQuery {
    /// Takes over what is asked of geometries, and how they are to be written.
    mutating func add(
        _ statistics: [GeometryStatistic], _ parameters: RequestParameters, layer: LayerDefinition,
        format: QueryRequest.Format
    ) throws(ServiceError) {
        guard !statistics.isEmpty else { return }
        guard statistics.count <= Limits.geometryStatisticCount else {
            throw .invalidQuery("'outStatistics' asks for more than \(Limits.geometryStatisticCount) geometries.")
        }
        guard !layer.isTable else {
            throw .invalidQuery("'outStatistics': \(layer.name) is a table, which has no geometries.")
        }
        guard format == .json || format == .pjson else {
            throw .invalidQuery("'outStatistics' with geometries is answered as JSON only.")
        }
        for name in ["geometryPrecision", "maxAllowableOffset", "quantizationParameters"]
        where parameters[name] != nil {
            throw .invalidQuery("'\(name)' can't be combined with geometries of 'outStatistics'.")
        }
        geometries = statistics
        spatialReference = layer.spatialReference
        features.output.spatialReference = try parameters.outputReference()
        features.output.datumTransformation = try parameters.datumTransformation(
            from: layer.spatialReference, to: features.output.spatialReference)
    }
}

extension StatisticsQuery.GeometryStatistic {
    /// One element of `outStatistics`; nil when it asks for a value. The field it names is the geometry, the only one
    /// there is: it may be left out.
    init?(_ json: JSONValue, layer: LayerDefinition) throws(ServiceError) {
        guard let typeName = json["statisticType"]?.stringValue,
            let kind = StatisticsQuery.GeometryKind(rawValue: typeName.lowercased())
        else { return nil }
        let field = json["onStatisticField"]?.stringValue ?? ""
        guard ["", "*", "shape", "$geometry"].contains(field.lowercased()) || layer.field(named: field) != nil else {
            throw .invalidQuery("'onStatisticField': the layer has no field '\(field.prefix(64))'.")
        }
        let named = json["outStatisticFieldName"]?.stringValue ?? ""
        self.init(kind: kind, name: named.isEmpty ? typeName : named)
    }
}
