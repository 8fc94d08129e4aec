import FieldworkGeometry
import FieldworkREST

/// An `identify` of a map service, read.
struct IdentifyRequest: Sendable {
    /// Where to look, widened by the tolerance; in the map's reference.
    var geometry: Geometry
    /// The denominator of the map's scale.
    var scale: Double
    var choice: MapLayerChoice
    var conditions: [Int: String]
    var output: MapFeatureOutput

    init(_ parameters: RequestParameters, service: ServiceDefinition) throws(ServiceError) {
        try MapService.refuse(
            [
                "gdbVersion", "historicMoment", "dynamicLayers", "layerTimeOptions",
                "layerParameterValues", "mapRangeValues", "layerRangeValues", "clipping", "spatialFilter",
            ], in: parameters)
        let mapReference = service.spatialReference ?? service.layers.lazy.compactMap(\.spatialReference).first
        let reference = try parameters.spatialReference("sr") ?? mapReference
        guard let extent = try parameters.geometry("mapExtent", spatialReference: reference) as? Envelope,
            extent.width > 0, extent.height > 0
        else { throw .invalidParameter("'mapExtent' must be the extent of the map: xmin,ymin,xmax,ymax.") }
        let display = try Self.display(parameters)
        guard let tolerance = try parameters.number("tolerance"), tolerance >= 0 else {
            throw .invalidParameter("'tolerance' must be a number of pixels.")
        }
        guard let geometry = try parameters.geometry("geometry", spatialReference: reference), !geometry.isEmpty else {
            throw .invalidParameter("'geometry' must be the geometry to identify at.")
        }
        let resolution = max(extent.width / display.width, extent.height / display.height)
        self.geometry = try Self.widened(geometry, by: tolerance * resolution)
        let isGeographic = (extent.spatialReference ?? reference)?.isGeographic ?? false
        scale = resolution * (isGeographic ? Self.metersPerDegree : 1) * display.dpi / Self.metersPerInch
        choice = try MapLayerChoice(parameters.list("layers"))
        conditions = try LayerConditions.read(parameters)
        output = try MapFeatureOutput(parameters, reference: reference)
    }

    private static let metersPerDegree = 111_319.49079327358
    private static let metersPerInch = 0.0254

    /// `imageDisplay`: width and height in pixels, and the pixels of an inch.
    private static func display(
        _ parameters: RequestParameters
    ) throws(ServiceError) -> (width: Double, height: Double, dpi: Double) {
        let numbers = try parameters.words("imageDisplay")?.compactMap(Double.init) ?? []
        guard numbers.count == 2 || numbers.count == 3, numbers.allSatisfy({ $0.isFinite && $0 > 0 }) else {
            throw .invalidParameter("'imageDisplay' must be the size of the map in pixels: width,height,dpi.")
        }
        return (numbers[0], numbers[1], numbers.count == 3 ? numbers[2] : 96)
    }

    private static func widened(_ geometry: Geometry, by distance: Double) throws(ServiceError) -> Geometry {
        guard distance > 0 else { return geometry }
        let wide: Polygon?
        do throws(AllowanceError) {
            wide = try GeometryEngine.widened(geometry, by: distance)
        } catch {
            throw ServiceError(limit: error)
        }
        guard let wide else { throw .invalidParameter("'geometry' can't be widened by 'tolerance'.") }
        return wide
    }
}
