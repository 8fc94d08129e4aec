import FieldworkGeometry
import FieldworkREST
import Foundation

extension MapService {
    /// `legend`: what the symbols of each layer mean, with a small picture of each.
    func legend(_ published: PublishedService, _ parameters: RequestParameters) throws -> JSONValue {
        try Self.refuse(["dynamicLayers", "size"], in: parameters)
        if let dpi = try parameters.integer("dpi"), dpi != 96 {
            throw ServiceError.invalidParameter("'dpi' must be 96.")
        }
        let layers = try published.definition.layers.filter { !$0.isTable }.map { layer -> JSONValue in
            [
                "layerId": JSONValue(layer.id), "layerName": .string(layer.name), "layerType": "Feature Layer",
                "minScale": .number(layer.minScale), "maxScale": .number(layer.maxScale),
                "legend": .array(try LegendEntry.entries(of: layer).map { try $0.json }),
            ]
        }
        return ["layers": .array(layers)]
    }

    /// A picture of the legend, by the name that the legend gives it.
    func image(_ name: String, of layer: LayerDefinition) throws -> Answer {
        for entry in LegendEntry.entries(of: layer) {
            let swatch = try LegendSwatch(symbol: entry.symbol)
            guard LegendEntry.name(of: swatch) == name else { continue }
            var answer = Answer(contentType: swatch.contentType, body: .bytes(swatch.bytes))
            answer.isCompressible = false
            return answer
        }
        throw ServiceError.notFound("Image \(name.prefix(64)) not found.")
    }
}

/// One line of a layer's legend.
struct LegendEntry: Sendable, Hashable {
    var label: String
    var symbol: JSONValue
    /// The values that the symbol stands for; the upper limit of a class.
    var values: [JSONValue]

    /// The entries of a layer's renderer; none for a renderer without symbols.
    static func entries(of layer: LayerDefinition) -> [LegendEntry] {
        guard let renderer = layer.drawingInfo?["renderer"] else { return [] }
        var entries: [LegendEntry] = []
        switch renderer["type"]?.stringValue {
        case "simple":
            let label = renderer["label"]?.stringValue ?? ""
            entries = [LegendEntry(label: label, symbol: renderer["symbol"] ?? .null, values: [])]
        case "uniqueValue": entries = uniqueValues(renderer)
        case "classBreaks":
            entries = (renderer["classBreakInfos"]?.arrayValue ?? []).map { info in
                let limit = info["classMaxValue"] ?? .null
                return LegendEntry(
                    label: info["label"]?.stringValue ?? limit.text, symbol: info["symbol"] ?? .null, values: [limit])
            }
        default: return []
        }
        if let symbol = renderer["defaultSymbol"], !symbol.isNull {
            entries.append(
                LegendEntry(label: renderer["defaultLabel"]?.stringValue ?? "", symbol: symbol, values: []))
        }
        return Array(entries.prefix(Limits.legendEntries))
    }

    private static func uniqueValues(_ renderer: JSONValue) -> [LegendEntry] {
        let infos = renderer["uniqueValueInfos"]?.arrayValue ?? []
        return infos.map { info in
            let value = info["value"] ?? .null
            return LegendEntry(
                label: info["label"]?.stringValue ?? value.stringValue ?? value.text, symbol: info["symbol"] ?? .null,
                values: [value])
        }
    }

    /// The name of a picture is made of its bytes, so that it may be kept for ever.
    static func name(of swatch: LegendSwatch) -> String {
        EntityTag.ofBytes(swatch.bytes).filter { $0 != "\"" }
    }

    var json: JSONValue {
        get throws {
            let swatch = try LegendSwatch(symbol: symbol)
            var object = JSONObject()
            object.append("label", .string(label))
            object.append("url", .string(Self.name(of: swatch)))
            object.append("imageData", .string(Data(swatch.bytes).base64EncodedString()))
            object.append("contentType", .string(swatch.contentType))
            object.append("height", JSONValue(swatch.height))
            object.append("width", JSONValue(swatch.width))
            if !values.isEmpty { object.append("values", .array(values)) }
            return .object(object)
        }
    }
}
