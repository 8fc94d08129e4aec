import FieldworkDrawing
import FieldworkGeometry
import FieldworkREST

/// An `export` of a map service, read.
struct ExportRequest: Sendable {
    enum Output: Sendable {
        /// The image itself.
        case image
        /// Where the image is, and what it shows.
        case address(AnswerFormat)
    }

    var frame: MapFrame
    var format: ImageFormat
    var isTransparent: Bool
    /// What no feature covers has this colour, where it isn't clear.
    var background = SwatchColor.white
    /// The lowest first.
    var layers: [DrawnLayer]
    var output: Output
}

extension ExportRequest {
    init(_ request: ServiceRequest, service: ServiceDefinition) throws(ServiceError) {
        let parameters = request.parameters
        try MapService.refuse(
            [
                "gdbVersion", "historicMoment", "layerTimeOptions", "layerParameterValues", "mapRangeValues",
                "layerRangeValues", "clipping", "spatialFilter", "selectionDefinitions", "datumTransformations",
            ], in: parameters)
        let output = try Self.output(request)
        guard let format = ImageFormat(name: parameters["format"] ?? "png") else {
            throw .invalidParameter("'format' must be one of \(ImageFormat.names).")
        }
        var frame = try Self.frame(parameters, service)
        if let rotation = try parameters.number("rotation") {
            guard rotation.isFinite else {
                throw .invalidParameter("'rotation' must be a number of degrees; positive ones turn against the clock.")
            }
            frame.rotation = rotation.truncatingRemainder(dividingBy: 360)
        }
        self.init(
            frame: frame, format: format, isTransparent: try parameters.bool("transparent") ?? false,
            layers: try DrawnLayer.read(parameters, of: service, scale: frame.scale), output: output)
    }

    /// Who names no format gets the image: a browser shows it.
    private static func output(_ request: ServiceRequest) throws(ServiceError) -> Output {
        switch request.parameters["f"]?.lowercased() {
        case nil, "image", "html": return .image
        case "json": return .address(.json)
        case "pjson": return .address(.prettyJSON)
        case let name?:
            throw .invalidParameter("The format '\(name.prefix(32))' is not supported by this resource.")
        }
    }

    private static func frame(
        _ parameters: RequestParameters, _ service: ServiceDefinition
    ) throws(ServiceError) -> MapFrame {
        let map = service.spatialReference ?? service.layers.lazy.compactMap(\.spatialReference).first
        let given = try parameters.spatialReference("bboxSR") ?? map
        guard let box = try parameters.geometry("bbox", spatialReference: given) as? Envelope else {
            throw .invalidParameter("'bbox' must be the extent of the map: xmin,ymin,xmax,ymax.")
        }
        let (width, height) = try size(parameters)
        let dpi = try parameters.number("dpi") ?? 96
        guard dpi >= 1, dpi <= FieldworkDrawing.Limits.imageDPI else {
            throw .invalidParameter("'dpi' must be from 1 to \(Int(FieldworkDrawing.Limits.imageDPI)).")
        }
        let extent = try projected(box, into: try parameters.spatialReference("imageSR") ?? given)
        let scale = try parameters.number("mapScale")
        do throws(DrawingError) {
            guard let scale, scale > 0 else {
                return try MapFrame(extent: extent, width: width, height: height, dpi: dpi)
            }
            return try MapFrame(center: extent, scale: scale, width: width, height: height, dpi: dpi)
        } catch {
            throw .invalidParameter("'bbox' and 'size': \(error)")
        }
    }

    private static func size(_ parameters: RequestParameters) throws(ServiceError) -> (Int, Int) {
        guard let words = try parameters.words("size") else { return (400, 400) }
        let numbers = words.compactMap { Int($0) ?? Double($0).flatMap { Int(exactly: $0.rounded()) } }
        let sides = 1...FieldworkDrawing.Limits.imageSide
        guard numbers.count == 2, words.count == 2, numbers.allSatisfy(sides.contains) else {
            throw .invalidParameter(
                "'size' must be width,height in pixels, each from 1 to \(FieldworkDrawing.Limits.imageSide).")
        }
        return (numbers[0], numbers[1])
    }

    static func projected(_ box: Envelope, into reference: SpatialReference?) throws(ServiceError) -> Envelope {
        guard let reference, box.spatialReference != nil, box.spatialReference != reference else { return box }
        do {
            return try GeometryEngine.projected(box, into: reference)
        } catch {
            throw .invalidParameter("'bbox' has no place in the reference of the image: \(error.details)")
        }
    }
}
