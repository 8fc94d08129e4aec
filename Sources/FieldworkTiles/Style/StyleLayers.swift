package import FieldworkGeometry
package import FieldworkREST
import Foundation

/// The layers of a MapLibre style that draw one layer of a service as its renderer says.
package struct StyleLayers {
    private let layer: LayerDefinition
    private let geometry: LayerGeometryType
    private let source: String
    private let classes: StyleClasses
    private let symbols: [StyleSymbol]
    private let variables: StyleVariables
    private let opacity: Double
    /// What the names of pictures begin with: which sheet they are on.
    private let pictures: String
    private var layers: [JSONValue] = []

    private init?(_ layer: LayerDefinition, source: String, pictures: String = "") {
        guard let geometry = layer.geometryType else { return nil }
        let renderer = StyleFields.spelled(DrawnRenderer.evaluated(layer.drawingInfo?["renderer"]), layer)
        let opacity = 1 - min(max(layer.drawingInfo?["transparency"]?.doubleValue ?? 0, 0), 100) / 100
        self.layer = layer
        self.geometry = geometry
        self.source = source
        self.opacity = opacity
        self.pictures = pictures
        classes = StyleClasses(renderer)
        symbols = classes.symbols.map { StyleSymbol($0, for: geometry, opacity: opacity) }
        variables = StyleVariables(renderer)
    }

    /// Layers that draw the features, in drawing order; empty for a table.
    /// - Parameter pictures: what the names of pictures begin with, where the style has several sheets of them.
    package static func drawing(_ layer: LayerDefinition, source: String, pictures: String = "") -> [JSONValue] {
        guard var layers = StyleLayers(layer, source: source, pictures: pictures) else { return [] }
        layers.draw()
        return layers.layers
    }

    /// Layers that write the labels: above all features of all layers.
    /// - Parameter attribute: names the attribute in which features carry the text of a class of labels, for who has it ready;
    ///   nil where the style makes the texts, as far as it can, and features carry the others.
    package static func labels(
        _ layer: LayerDefinition, source: String, attribute: ((_ number: Int) -> String)? = nil
    ) -> [JSONValue] {
        guard let layers = StyleLayers(layer, source: source) else { return [] }
        let infos = layer.drawingInfo?["labelingInfo"]?.arrayValue ?? []
        return infos.enumerated().compactMap { index, info in
            let evaluated =
                attribute == nil && DrawnExpressions.evaluatesLabel(info, layer)
                ? LayerStyle.labelAttribute(index) : nil
            let labels = StyleLabels(
                info, layer: layer, geometry: layers.geometry, attribute: attribute?(index) ?? evaluated)
            guard var object = labels.members else { return nil }
            object["id"] = .string("\(layer.name)/label/\(index)")
            return .object(layers.placed(object, info: info))
        }
    }

    private mutating func draw() {
        if layer.drawingInfo?["renderer"]?["type"]?.stringValue == "heatmap", geometry == .point {
            return add("heatmap", paint: variables.heatmap(opacity: opacity))
        }
        var groups: [(kind: StyleSymbol.Kind, indices: Set<Int>)] = []
        for (index, symbol) in symbols.enumerated() where symbol.kind != .nothing {
            if let known = groups.firstIndex(where: { $0.kind == symbol.kind }) {
                groups[known].indices.insert(index)
            } else {
                groups.append((symbol.kind, [index]))
            }
        }
        for group in groups {
            let filter = classes.filter(group.indices)
            switch group.kind {
            case .circle: drawCircles(filter)
            case .icon: drawIcons(filter)
            case .line(let dashes): drawLines(filter, dashes)
            case .fill:
                var paint = JSONObject()
                paint["fill-color"] = variables.color(or: chosen(\.fillColor, StyleSymbol.clear))
                if let opacity = variables.opacity { paint["fill-opacity"] = opacity }
                add("fill", filter, paint: .object(paint))
                drawOutlines(filter, group.indices)
            case .pattern:
                add("fill", filter, paint: ["fill-pattern": classes.expression(sprites, otherwise: "")])
                drawOutlines(filter, group.indices)
            case .nothing: break
            }
        }
    }

    private func chosen(_ value: (StyleSymbol) -> JSONValue, _ otherwise: JSONValue) -> JSONValue {
        classes.expression(symbols.map(value), otherwise: otherwise)
    }

    private var sprites: [JSONValue] { symbols.map { .string(pictures + StyleSprite.name($0.json)) } }

    private mutating func drawCircles(_ filter: JSONValue?) {
        var paint = JSONObject()
        let own = chosen(\.across, 8)
        let across = variables.size(or: own)
        paint["circle-radius"] = across == own ? chosen(\.radius, 4) : ["/", across, 2]
        paint["circle-color"] = variables.color(or: chosen(\.color, StyleSymbol.clear))
        paint["circle-stroke-color"] = chosen(\.outlineColor, StyleSymbol.clear)
        paint["circle-stroke-width"] = chosen(\.outlineWidth, 0)
        if let opacity = variables.opacity { paint["circle-opacity"] = opacity }
        if let moved = symbols.first(where: { $0.kind == .circle })?.offset, moved != [0, 0] {
            paint["circle-translate"] = moved
        }
        add("circle", filter, paint: .object(paint))
    }

    private mutating func drawIcons(_ filter: JSONValue?) {
        var layout = JSONObject()
        layout["icon-image"] = classes.expression(sprites, otherwise: "")
        layout["icon-allow-overlap"] = true
        layout["icon-ignore-placement"] = true
        let turn = chosen(\.turn, 0)
        if let rotation = variables.rotation(or: turn) {
            layout["icon-rotate"] = rotation
            layout["icon-rotation-alignment"] = "map"
        } else if turn != 0 {
            layout["icon-rotate"] = turn
        }
        let own = chosen(\.across, 8)
        let across = variables.size(or: own)
        if across != own { layout["icon-size"] = ["/", across, own] }
        let offsets = symbols.map { JSONValue.array(["literal", $0.offset]) }
        if symbols.contains(where: { $0.offset != [0, 0] }) {
            layout["icon-offset"] = classes.expression(offsets, otherwise: ["literal", [0, 0]])
        }
        var paint = JSONObject()
        if let varied = variables.opacity {
            paint["icon-opacity"] = opacity < 1 ? ["*", .number(opacity), varied] : varied
        } else if opacity < 1 {
            paint["icon-opacity"] = .number(opacity)
        }
        add("symbol", filter, layout: layout, paint: .object(paint))
    }

    private mutating func drawLines(_ filter: JSONValue?, _ dashes: [Double]) {
        var paint = JSONObject()
        paint["line-color"] = variables.color(or: chosen(\.color, StyleSymbol.clear))
        paint["line-width"] = variables.size(or: chosen({ $0.pixels("width", or: 1) }, 1))
        if let opacity = variables.opacity { paint["line-opacity"] = opacity }
        if !dashes.isEmpty { paint["line-dasharray"] = .array(dashes.map(JSONValue.number)) }
        add(
            "line", filter, layout: JSONObject(["line-cap": dashes.isEmpty ? "round" : "butt", "line-join": "round"]),
            paint: .object(paint))
    }

    /// Outlines are lines of their own: those of fills are always one pixel wide. One layer for each way of dashes.
    private mutating func drawOutlines(_ filter: JSONValue?, _ indices: Set<Int>) {
        var ways: [(dashes: [Double], indices: Set<Int>)] = []
        for index in indices.sorted() where symbols[index].outlineWidth != 0 {
            let dashes = symbols[index].outlineDashes
            if let known = ways.firstIndex(where: { $0.dashes == dashes }) {
                ways[known].indices.insert(index)
            } else {
                ways.append((dashes, [index]))
            }
        }
        for way in ways {
            var paint = JSONObject()
            paint["line-color"] = chosen(\.outlineColor, StyleSymbol.clear)
            paint["line-width"] = variables.size(target: "outline", or: chosen(\.outlineWidth, 0))
            if !way.dashes.isEmpty { paint["line-dasharray"] = .array(way.dashes.map(JSONValue.number)) }
            add("line", classes.filter(way.indices), layout: JSONObject(["line-join": "round"]), paint: .object(paint))
        }
    }

    private mutating func add(
        _ type: String, _ filter: JSONValue? = nil, layout: JSONObject = JSONObject(), paint: JSONValue
    ) {
        var object = JSONObject()
        object["id"] = .string(layers.isEmpty ? layer.name : "\(layer.name)/\(layers.count)")
        object["type"] = .string(type)
        if let filter { object["filter"] = filter }
        if !layout.isEmpty { object["layout"] = .object(layout) }
        if paint.objectValue?.isEmpty == false { object["paint"] = paint }
        layers.append(.object(placed(object, info: nil)))
    }

    /// The layer with where its features come from and at which scales it shows.
    private func placed(_ object: JSONObject, info: JSONValue?) -> JSONObject {
        var object = object
        object["source"] = .string(source)
        object["source-layer"] = .string(layer.name)
        let least = [layer.minScale, info?["minScale"]?.doubleValue ?? 0].compactMap(WebMercator.level).max()
        let most = [layer.maxScale, info?["maxScale"]?.doubleValue ?? 0].compactMap(WebMercator.level).min()
        if let least { object["minzoom"] = .number(least) }
        // A style's greatest level is the first at which the layer is gone; the protocol's smallest scale still shows it.
        if let most { object["maxzoom"] = .number(min(most + 1e-6, 24)) }
        object["metadata"] = ["fieldwork:layer": JSONValue(layer.id)]
        return object
    }

    /// The pictures that the layers name, by name.
    package static func sprites(_ layer: LayerDefinition) -> [String: JSONValue] {
        guard let layers = StyleLayers(layer, source: "") else { return [:] }
        var result: [String: JSONValue] = [:]
        for symbol in layers.symbols where symbol.kind == .icon || symbol.kind == .pattern {
            result[StyleSprite.name(symbol.json)] = symbol.json
        }
        return result
    }
}
