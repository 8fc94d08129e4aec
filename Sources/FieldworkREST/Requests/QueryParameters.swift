package import FieldworkGeometry

extension FeatureQuery {
    /// What a client asks of a query.
    package enum Question: Sendable {
        case features, count, objectIDs, extent
    }

    /// The query as the parameters of a layer's `query`. `QueryRequest` reads it back.
    package func parameters(
        asking question: Question, format: QueryRequest.Format = .json
    ) -> [(name: String, value: String)] {
        var parameters: [(name: String, value: String)] = [("where", condition?.text ?? "1=1")]
        if let objectIDs { parameters.append(("objectIds", objectIDs.map(String.init).joined(separator: ","))) }
        if let globalIDs { parameters.append(("globalIds", globalIDs.map(GUID.normalForm).joined(separator: ","))) }
        if let spatialFilter { parameters += spatialFilter.parameters }
        if let reference = output.spatialReference {
            parameters.append(("outSR", reference.parameterText))
        }
        if let moment { parameters.append(("historicMoment", String(moment))) }
        switch question {
        case .features: parameters += featureParameters
        case .count: parameters.append(("returnCountOnly", "true"))
        case .objectIDs: parameters.append(("returnIdsOnly", "true"))
        case .extent:
            parameters.append(("returnExtentOnly", "true"))
            parameters.append(("returnCountOnly", "true"))
        }
        if question != .features, !order.isEmpty { parameters.append(orderParameter) }
        parameters.append(("f", format.rawValue))
        return parameters
    }

    private var orderParameter: (name: String, value: String) {
        ("orderByFields", order.map(\.text).joined(separator: ", "))
    }

    private var featureParameters: [(name: String, value: String)] {
        var parameters: [(name: String, value: String)] = [
            ("outFields", outFields?.joined(separator: ",") ?? "*"), ("returnGeometry", String(returnsGeometry)),
        ]
        if returnsDistinctValues { parameters.append(("returnDistinctValues", "true")) }
        if !order.isEmpty { parameters.append(orderParameter) }
        if offset > 0 { parameters.append(("resultOffset", String(offset))) }
        if let limit { parameters.append(("resultRecordCount", String(limit))) }
        if output.maxAllowableOffset > 0 {
            parameters.append(("maxAllowableOffset", output.maxAllowableOffset.description))
        }
        if let precision = output.precision { parameters.append(("geometryPrecision", String(precision))) }
        if output.returnsZ { parameters.append(("returnZ", "true")) }
        if output.returnsM { parameters.append(("returnM", "true")) }
        if output.returnsEnvelope { parameters.append(("returnEnvelope", "true")) }
        if output.returnsCentroid { parameters.append(("returnCentroid", "true")) }
        return parameters
    }
}

extension SpatialFilter {
    /// The filter as parameters of a query.
    package var parameters: [(name: String, value: String)] {
        var parameters: [(name: String, value: String)] = [
            ("geometry", GeoServicesJSON.json(for: geometry).text), ("geometryType", geometryTypeName),
            ("spatialRel", relation.rawValue),
        ]
        if let reference = geometry.spatialReference { parameters.append(("inSR", reference.parameterText)) }
        if let pattern { parameters.append(("relationParam", pattern)) }
        return parameters
    }

    private var geometryTypeName: String {
        switch geometry {
        case is Point: LayerGeometryType.point.rawValue
        case is Multipoint: LayerGeometryType.multipoint.rawValue
        case is Polyline: LayerGeometryType.polyline.rawValue
        case is Envelope: LayerGeometryType.envelope.rawValue
        default: LayerGeometryType.polygon.rawValue
        }
    }
}

extension SpatialReference {
    /// The reference as `inSR` and `outSR` take it: its number where it has one.
    package var parameterText: String {
        wkid.map { String($0.rawValue) } ?? GeoServicesJSON.json(for: self).text
    }
}
