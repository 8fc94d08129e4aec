import FieldworkDrawing
import FieldworkGeometry
import FieldworkREST

/// A `GetMap` of the Web Map Service, read.
struct WMSMapRequest: Sendable {
    var reference: WMSReference
    var export: ExportRequest

    init(_ parameters: RequestParameters, of service: ServiceDefinition) throws {
        let version = WMSVersion(of: parameters)
        // What would change the map and is not done is refused by name.
        for name in ["sld", "sld_body", "time", "elevation", "cql_filter", "filter"] where parameters[name] != nil {
            throw WMSException("'\(name.uppercased())' is not supported.")
        }
        let layers = try WMSService.layers("layers", parameters, of: service)
        try Self.requireDefaultStyles(parameters)
        reference = try WMSReference(parameters, version)
        let format = try Self.format(parameters, parameter: "FORMAT", or: nil)
        let frame = try Self.frame(reference.box(parameters), parameters)
        let drawn = try layers.filter { $0.isShown(at: frame.scale) }.map { layer in
            DrawnLayer(layer: layer, sourceID: layer.id, query: try LayerConditions.query(layer, [:]))
        }
        export = ExportRequest(
            frame: frame, format: format, isTransparent: try parameters.bool("transparent") ?? false,
            background: try Self.background(parameters), layers: drawn, output: .image)
    }

    static let formats: [(name: String, format: ImageFormat)] = [
        ("image/png", .png), ("image/png; mode=8bit", .png8), ("image/png; mode=32bit", .png32), ("image/jpeg", .jpg),
        ("image/svg+xml", .svg), ("application/pdf", .pdf),
    ]

    /// - Parameter fallback: what is drawn where no format is named; nil where one must be.
    static func format(
        _ parameters: RequestParameters, parameter: String, or fallback: ImageFormat?
    ) throws(WMSException) -> ImageFormat {
        guard let name = parameters[parameter]?.lowercased().filter({ $0 != " " }) else {
            guard let fallback else { throw .missing(parameter) }
            return fallback
        }
        let found = formats.first { $0.name.filter { $0 != " " } == name }?.format
        guard let format = found ?? (["image/png8": .png8, "image/jpg": .jpg] as [String: ImageFormat])[name] else {
            throw WMSException(
                code: "InvalidFormat", "'\(parameter)' must be one of \(formats.map(\.name).joined(separator: ", ")).")
        }
        return format
    }

    /// The pixels of the map. They may be longer than wide, as the standard allows: then the map is stretched.
    private static func frame(_ box: Envelope, _ parameters: RequestParameters) throws -> MapFrame {
        let sides = 1...FieldworkDrawing.Limits.imageSide
        guard let width = try parameters.integer("width"), let height = try parameters.integer("height"),
            sides.contains(width), sides.contains(height)
        else {
            throw WMSException(
                code: "InvalidDimensionValue",
                "'WIDTH' and 'HEIGHT' must be pixels from 1 to \(sides.upperBound).")
        }
        let dpi = try parameters.number("dpi") ?? parameters.number("map_resolution") ?? 96
        guard dpi >= 1, dpi <= FieldworkDrawing.Limits.imageDPI else {
            throw WMSException("'DPI' must be from 1 to \(Int(FieldworkDrawing.Limits.imageDPI)).")
        }
        do throws(DrawingError) {
            return try MapFrame(exactly: box, width: width, height: height, dpi: dpi)
        } catch {
            throw WMSException("'BBOX', 'WIDTH' and 'HEIGHT': \(error)")
        }
    }

    private static func requireDefaultStyles(_ parameters: RequestParameters) throws {
        for style in try parameters.words("styles") ?? [] where !["", "default"].contains(style) {
            throw WMSException(
                code: "StyleNotDefined", "There is no style '\(style.prefix(64))'. Each layer has the style 'default'.")
        }
    }

    /// `BGCOLOR`, as `0xRRGGBB`.
    static func background(_ parameters: RequestParameters) throws(WMSException) -> SwatchColor {
        guard let text = parameters["bgcolor"]?.lowercased() else { return .white }
        let digits = text.hasPrefix("0x") ? text.dropFirst(2) : text.hasPrefix("#") ? text.dropFirst() : text[...]
        guard digits.count == 6, let number = UInt32(digits, radix: 16) else {
            throw WMSException("'BGCOLOR' must be a colour as 0xRRGGBB.")
        }
        func part(_ shift: UInt32) -> Double { Double(number >> shift & 255) }
        return SwatchColor(red: part(16), green: part(8), blue: part(0), opacity: 1)
    }
}
