import FieldworkDrawing
import FieldworkGeometry
import FieldworkREST

/// One layer of an image, with the features that are drawn of it.
struct DrawnLayer: Sendable {
    /// How it is drawn.
    var layer: LayerDefinition
    /// Where its features are.
    var sourceID: Int
    var query: FeatureQuery

    /// The layers of an image as the request chooses them, the lowest first.
    static func read(
        _ parameters: RequestParameters, of service: ServiceDefinition, scale: Double
    ) throws(ServiceError) -> [DrawnLayer] {
        let readable = try TileService.layers(of: service)
        let visibility = try MapLayerVisibility(parameters.list("layers"))
        let conditions = try LayerConditions.read(parameters)
        let dynamic = try DynamicLayer.read(parameters, among: readable)
        let chosen = dynamic ?? readable.map { DynamicLayer(layer: $0, condition: nil, sourceID: $0.id) }
        var result: [DrawnLayer] = []
        for member in chosen where visibility.shows(member.layer) && member.layer.isShown(at: scale) {
            var query = try LayerConditions.query(member.layer, conditions)
            if let condition = member.condition {
                let more = try LayerConditions.query(member.layer, [member.layer.id: condition]).condition
                if let kept = query.condition, let more {
                    query.condition = .binary(.and, kept, more)
                } else {
                    query.condition = query.condition ?? more
                }
            }
            try query.restrict(toTimeOf: parameters, member.layer, of: service)
            result.append(DrawnLayer(layer: member.layer, sourceID: member.sourceID, query: query))
        }
        return result.reversed()
    }

    /// The features of the image, with the fields that the drawing needs.
    func query(_ plan: LayerPlan) -> FeatureQuery {
        var query = query
        query.outFields = plan.fields
        query.returnsGeometry = true
        query.limit = FieldworkDrawing.Limits.imageFeatures
        var area = plan.frame.grown(pixels: plan.margin)
        if area.spatialReference?.isGeographic == true {
            // The poles have no place on most planes.
            area = Envelope(
                xMin: max(area.xMin, -180), yMin: max(area.yMin, -89), xMax: min(area.xMax, 180),
                yMax: min(area.yMax, 89), spatialReference: area.spatialReference)
        }
        // Where the image reaches beyond the layer's reference, all features are looked at.
        if let reference = layer.spatialReference, let place = try? GeometryEngine.projected(area, into: reference) {
            query.spatialFilter = SpatialFilter(geometry: place, relation: .indexIntersects)
        }
        return query
    }
}
