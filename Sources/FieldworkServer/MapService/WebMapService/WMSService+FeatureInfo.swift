import FieldworkDrawing
import FieldworkGeometry
import FieldworkREST

extension WMSService {
    /// The formats in which features are told.
    enum InfoFormat: String, CaseIterable {
        case text = "text/plain"
        case html = "text/html"
        case geoJSON = "application/geo+json"
        /// The name by which many clients ask for GeoJSON.
        case json = "application/json"
    }

    /// Pixels from a feature within which a pixel is taken for one of it.
    private static let tolerance = 4

    /// `GetFeatureInfo`: the features at a pixel of a map.
    func featureInfo(_ parameters: RequestParameters) async throws -> Answer {
        let version = WMSVersion(of: parameters)
        let frame = try WMSMapRequest(infoOf: parameters, of: published.definition).export.frame
        guard let format = InfoFormat(rawValue: parameters["info_format"]?.lowercased() ?? "text/plain") else {
            let names = InfoFormat.allCases.map(\.rawValue).joined(separator: ", ")
            throw WMSException(code: "InvalidFormat", "'INFO_FORMAT' must be one of \(names).")
        }
        let names = version.pixelParameters
        guard let column = try parameters.number(names.column), let row = try parameters.number(names.row),
            column >= 0, row >= 0, column < Double(frame.width), row < Double(frame.height)
        else {
            throw WMSException(
                code: "InvalidPoint", "'\(names.column)' and '\(names.row)' must be a pixel of the map.")
        }
        let layers = try Self.layers("query_layers", parameters, of: published.definition)
        var asked = try identify(layers, frame, column: column, row: row)
        if format == .json || format == .geoJSON {
            asked.output.reference = .wgs84
            asked.output.returnsFieldName = true
            asked.output.returnsRawValues = true
        } else {
            asked.output.returnsGeometry = false
        }
        let most = min(max(try parameters.integer("feature_count") ?? 1, 1), Limits.mapResults)
        let found = try await map.results(of: asked, RequestParameters(), published, maximum: most).results
        switch format {
        case .text: return .text(Self.text(found))
        case .html: return Self.page(found)
        case .json, .geoJSON: return try Self.geoJSON(found, type: format.rawValue)
        }
    }

    /// The same question as `identify` asks it.
    private func identify(
        _ layers: [LayerDefinition], _ frame: MapFrame, column: Double, row: Double
    ) throws -> IdentifyRequest {
        let extent = frame.extent
        let x = extent.xMin + (column + 0.5) * frame.resolutionX
        let y = extent.yMax - (row + 0.5) * frame.resolutionY
        var own = RequestParameters()
        own.set("geometry", "\(x),\(y)")
        own.set("mapExtent", "\(extent.xMin),\(extent.yMin),\(extent.xMax),\(extent.yMax)")
        own.set("imageDisplay", "\(frame.width),\(frame.height),\(frame.dpi)")
        own.set("tolerance", String(Self.tolerance))
        own.set("layers", "all:\(layers.map { String($0.id) }.joined(separator: ","))")
        if let number = frame.reference?.wkid?.rawValue { own.set("sr", String(number)) }
        return try IdentifyRequest(own, service: published.definition)
    }

    // MARK: Forms of the answer

    private static func text(_ results: [JSONValue]) -> String {
        guard !results.isEmpty else { return "No features were found.\n" }
        return results.map { result in
            let members = result["attributes"]?.objectValue?.members ?? []
            let lines = members.map { "  \($0.key) = \($0.value.stringValue ?? $0.value.text)" }
            return ([result["layerName"]?.stringValue ?? ""] + lines).joined(separator: "\n")
        }.joined(separator: "\n\n") + "\n"
    }

    private static func page(_ results: [JSONValue]) -> Answer {
        var html = HTMLWriter()
        html.markup(
            "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Features</title></head><body>\n")
        if results.isEmpty { html.markup("<p>No features were found.</p>\n") }
        for result in results {
            html.element("<h2>", result["layerName"]?.stringValue ?? "", "</h2>\n<table>\n")
            for member in result["attributes"]?.objectValue?.members ?? [] {
                html.element("<tr><th>", member.key, "</th>")
                html.element("<td>", member.value.stringValue ?? member.value.text, "</td></tr>\n")
            }
            html.markup("</table>\n")
        }
        html.markup("</body></html>\n")
        var answer = Answer(contentType: "text/html;charset=utf-8", body: .bytes(html.bytes))
        answer.isPage = true
        return answer
    }

    private static func geoJSON(_ results: [JSONValue], type: String) throws -> Answer {
        var bytes = Array("{\"type\":\"FeatureCollection\",\"features\":[".utf8)
        for (number, result) in results.enumerated() {
            if number > 0 { bytes.append(0x2C) }
            bytes += "{\"type\":\"Feature\",\"geometry\":".utf8
            if let json = result["geometry"], let geometry = try GeoServicesJSON.geometry(from: json) {
                GeoJSONCodec.append(geometry, to: &bytes)
            } else {
                bytes += "null".utf8
            }
            bytes += ",\"properties\":".utf8
            (result["attributes"] ?? .object(JSONObject())).write(to: &bytes)
            bytes.append(0x7D)
        }
        bytes += "]}".utf8
        return Answer(contentType: type, body: .bytes(bytes))
    }
}

extension WMSMapRequest {
    /// A `GetFeatureInfo` repeats the map that it is about; clients leave out of it what doesn't change the answer.
    fileprivate init(infoOf parameters: RequestParameters, of service: ServiceDefinition) throws {
        var complete = parameters
        if complete["layers"] == nil { complete.set("layers", complete["query_layers"] ?? "") }
        complete.set("format", "image/png")
        try self.init(complete, of: service)
    }
}
