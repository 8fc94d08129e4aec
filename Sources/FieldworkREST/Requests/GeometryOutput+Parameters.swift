import FieldworkGeometry

extension GeometryOutput {
    /// Decimals beyond which a number has none.
    private static let decimalsMax = 15

    /// How a request wants its geometries.
    init(
        _ parameters: RequestParameters, layer: LayerDefinition, format: QueryRequest.Format
    ) throws(ServiceError) {
        self.init()
        spatialReference = try parameters.outputReference()
        if spatialReference == nil, format == .geojson, !layer.isTable { spatialReference = .wgs84 }
        try readShape(parameters, layer: layer)
        returnsCentroid = try parameters.bool("returnCentroid") ?? false
        returnsEnvelope = try parameters.bool("returnEnvelope") ?? false && !layer.isTable
        if returnsCentroid, layer.geometryType != .polygon {
            throw .invalidQuery("'returnCentroid' needs a layer of polygons.")
        }
        if returnsCentroid || returnsEnvelope, format == .geojson {
            throw .invalidQuery("'returnCentroid' and 'returnEnvelope' have no place in GeoJSON.")
        }
        quantization = try Quantization(
            parameters, reference: spatialReference ?? layer.spatialReference, maxAllowableOffset: maxAllowableOffset)
    }

    /// What related records have as well.
    mutating func readShape(_ parameters: RequestParameters, layer: LayerDefinition) throws(ServiceError) {
        datumTransformation = try parameters.datumTransformation(from: layer.spatialReference, to: spatialReference)
        maxAllowableOffset = try parameters.number("maxAllowableOffset") ?? 0
        guard maxAllowableOffset >= 0 else { throw .invalidParameter("'maxAllowableOffset' must not be negative.") }
        precision = try QueryRequest.nonNegative("geometryPrecision", parameters).map { min($0, Self.decimalsMax) }
        // Both are read also where the layer has neither: what is no truth value is refused.
        let (wantsZ, wantsM) = (try parameters.bool("returnZ") ?? false, try parameters.bool("returnM") ?? false)
        returnsZ = layer.hasZ && wantsZ
        returnsM = layer.hasM && wantsM
    }
}
