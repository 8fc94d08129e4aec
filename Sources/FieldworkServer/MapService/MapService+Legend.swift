import FieldworkGeometry
import FieldworkREST
import Foundation

extension MapService {
    /// `legend`: what the symbols of each layer mean, with a small picture of each.
    func legend(_ published: PublishedService, _ parameters: RequestParameters) throws -> JSONValue {
        let look = try SwatchLook(parameters)
        let all = published.definition.layers.filter { !$0.isTable }
        let shown = try DynamicLayer.read(parameters, among: all)?.map(\.layer) ?? all
        let layers = try shown.map { layer -> JSONValue in
            [
                "layerId": JSONValue(layer.id), "layerName": .string(layer.name), "layerType": "Feature Layer",
                "minScale": .number(layer.minScale), "maxScale": .number(layer.maxScale),
                "legend": .array(try LegendEntry.entries(of: layer).map { try $0.json(look) }),
            ]
        }
        return ["layers": .array(layers)]
    }

    /// A picture of the legend, by the name that the legend gives it.
    func image(_ name: String, of layer: LayerDefinition, _ parameters: RequestParameters) throws -> Answer {
        let look = try SwatchLook(parameters)
        for entry in LegendEntry.entries(of: layer) {
            let swatch = try LegendSwatch(symbol: entry.symbol, look)
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

    /// The entries of a layer's renderer; none for a renderer that has neither symbols nor a way of colours.
    static func entries(of layer: LayerDefinition) -> [LegendEntry] {
        guard let renderer = layer.drawingInfo?["renderer"] else { return [] }
        if renderer["type"]?.stringValue == "heatmap" {
            func word(_ name: String, _ usual: String) -> String {
                renderer["legendOptions"]?[name]?.stringValue.flatMap { $0.isEmpty ? nil : $0 } ?? usual
            }
            let label = "\(word("maxLabel", "High")) to \(word("minLabel", "low"))"
            return [LegendEntry(label: label, symbol: renderer, values: [])]
        }
        return RendererClasses(renderer, maximum: Limits.legendEntries).all.map {
            LegendEntry(label: $0.label, symbol: $0.symbol, values: $0.values)
        }
    }

    /// The name of a picture is made of its bytes, so that it may be kept for ever.
    static func name(of swatch: LegendSwatch) -> String {
        EntityTag.ofBytes(swatch.bytes).filter { $0 != "\"" }
    }

    func json(_ look: SwatchLook) throws -> JSONValue {
        let swatch = try LegendSwatch(symbol: symbol, look)
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
