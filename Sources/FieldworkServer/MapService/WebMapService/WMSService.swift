import FieldworkDrawing
import FieldworkGeometry
import FieldworkREST
import FieldworkStore

/// The Web Map Service face of a feature service: its layers as images, for clients that don't speak the protocol. Layers are
/// named by their ids.
struct WMSService: Sendable {
    let map: MapService
    let published: PublishedService
    /// The first segment of the protocol's addresses.
    let instance: String

    func answer(_ request: ServiceRequest) async throws -> Answer {
        do {
            let parameters = request.parameters
            if let name = parameters["service"], name.uppercased() != "WMS" {
                throw WMSException(code: "InvalidParameterValue", "'SERVICE' must be WMS.")
            }
            switch parameters["request"]?.lowercased() {
            case "getcapabilities", "capabilities": return try await capabilities(request)
            case "getmap", "map":
                let asked = try WMSMapRequest(parameters, of: published.definition)
                return try await map.image(asked.export, of: published, request)
            case "getfeatureinfo", "feature_info": return try await featureInfo(parameters)
            case "getlegendgraphic": return try legend(parameters)
            case nil: throw WMSException.missing("REQUEST")
            case let name?:
                throw WMSException(
                    code: "OperationNotSupported",
                    "There is no request '\(name.prefix(40))'. There are GetCapabilities, GetMap, GetFeatureInfo and GetLegendGraphic."
                )
            }
        } catch let error as WMSException {
            return error.answer(to: request.parameters)
        }
    }

    /// The layers that are drawn, by the names that a request gives.
    static func layers(
        _ parameter: String, _ parameters: RequestParameters, of service: ServiceDefinition
    ) throws -> [LayerDefinition] {
        guard let names = try parameters.words(parameter), !names.isEmpty else {
            throw WMSException.missing(parameter.uppercased())
        }
        let known = try TileService.layers(of: service)
        return try names.flatMap { name -> [LayerDefinition] in
            // The layer above all others: the whole map, the top layer of which comes last.
            if name == service.name.name { return known.filter(\.isVisibleByDefault).reversed() }
            guard let layer = known.first(where: { String($0.id) == name }) else {
                throw WMSException(code: "LayerNotDefined", "There is no layer '\(name.prefix(64))'.")
            }
            return [layer]
        }
    }

    // MARK: Legends

    private func legend(_ parameters: RequestParameters) throws -> Answer {
        let layers = try Self.layers("layer", parameters, of: published.definition)
        let format = try WMSMapRequest.format(parameters, parameter: "FORMAT", or: .png)
        let look = try SwatchLook(legendOf: parameters)
        let rows = layers.flatMap { layer in
            LegendEntry.entries(of: layer).map {
                LegendSheet.Row(symbol: $0.symbol, label: $0.label.isEmpty ? layer.name : $0.label)
            }
        }
        do {
            let sheet = try LegendSheet(rows, width: look.width, height: look.height, dpi: look.dpi)
            let bytes = try sheet.image(format, isTransparent: try parameters.bool("transparent") ?? false)
            var answer = Answer(contentType: format.contentType, body: .bytes(bytes))
            answer.isCompressible = format == .svg
            return answer.tagged()
        } catch let error as DrawingError {
            throw ServiceError(code: 500, message: "The legend could not be drawn.", details: [error.description])
        }
    }
}

extension SwatchLook {
    /// Version 1.1.0 of the standard's companion for styles (OGC 05-078r4) has `WIDTH` and `HEIGHT` for one symbol.
    fileprivate init(legendOf parameters: RequestParameters) throws {
        var own = RequestParameters()
        if let dpi = parameters["dpi"] { own.set("dpi", dpi) }
        let side = parameters["width"] ?? parameters["height"]
        if let side { own.set("size", "\(parameters["width"] ?? side),\(parameters["height"] ?? side)") }
        try self.init(own)
    }
}
