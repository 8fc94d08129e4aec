import Fieldwork
import FieldworkTiles
import Foundation

/// How a layer is drawn: by the SDK's renderer, and by the style that is made of the same renderer.
struct Symbology: Sendable {
    /// A line of the legend.
    struct Line: Sendable {
        let label: String
        let swatch: Swatch
    }

    let renderer: Renderer
    let legend: [Line]

    /// - Parameter renderer: nil: all features look the same.
    init(_ renderer: Renderer?, kind: GeometryKind) {
        let plain = Self.plain(kind)
        // What the SDK can't evaluate looks neutral there, so that it does here.
        if let renderer, !renderer.isSupported, !Self.isHeatmap(renderer) {
            self.renderer = SimpleRenderer(symbol: renderer.symbol(for: Self.sample(kind)) ?? plain)
        } else {
            self.renderer = renderer ?? SimpleRenderer(symbol: plain)
        }
        legend = self.renderer.legendEntries.compactMap { entry in
            Swatch(entry.symbol).map { Line(label: entry.label, swatch: $0) }
        }
    }

    private static func plain(_ kind: GeometryKind) -> Symbol {
        let color = SymbolColor(red: 11, green: 79, blue: 138)
        return switch kind {
        case .point: SimpleMarkerSymbol(color: color, size: 9)
        case .line: SimpleLineSymbol(color: color, width: 2)
        case .polygon:
            SimpleFillSymbol(
                color: color.withAlphaComponent(0.2), outline: SimpleLineSymbol(color: color, width: 1.2))
        }
    }

    /// A feature that says nothing but what kind of geometry it has.
    private static func sample(_ kind: GeometryKind) -> Graphic {
        let corners = [Point(x: 0, y: 0), Point(x: 1, y: 0), Point(x: 0, y: 1)]
        return switch kind {
        case .point: Graphic(geometry: corners[0])
        case .line: Graphic(geometry: Polyline(points: corners))
        case .polygon: Graphic(geometry: Polygon(points: corners))
        }
    }

    private struct Kind: Decodable {
        let type: String?
    }

    /// The style draws heat maps, of which no feature has a symbol of its own.
    private static func isHeatmap(_ renderer: Renderer) -> Bool {
        (try? JSONDecoder().decode(Kind.self, from: renderer.toJSON()))?.type == "heatmap"
    }

    /// The fields that decide the class.
    var fields: [String] {
        switch renderer {
        case let renderer as UniqueValueRenderer: renderer.fieldNames
        case let renderer as ClassBreaksRenderer: [renderer.fieldName].filter { !$0.isEmpty }
        default: []
        }
    }

    /// nil for a feature that isn't drawn.
    func swatch(of feature: any GeoElement) -> Swatch? { Swatch(renderer.symbol(for: feature)) }

    /// What features with a value of the renderer's only field look like, for the buttons of a form.
    func swatch(field: String, value: (any Sendable)?) -> Swatch? {
        guard let renderer = renderer as? UniqueValueRenderer, renderer.fieldNames.count == 1,
            renderer.fieldNames[0].lowercased() == field.lowercased()
        else { return nil }
        let text = Self.text(value)
        return Swatch(renderer.uniqueValues.first { $0.values == [text] }?.symbol)
    }

    /// A number in its shortest text, as renderers write values; a missing value as `<Null>`.
    static func text(_ value: (any Sendable)?) -> String {
        switch value {
        case nil: "<Null>"
        case let text as String: text
        case let number as Double where number == number.rounded() && abs(number) < 1e15: String(Int64(number))
        case let number as Float where number == number.rounded() && abs(number) < 1e7: String(Int64(number))
        case .some(let other): "\(other)"
        }
    }

    static func number(_ value: (any Sendable)?) -> Double? {
        switch value {
        case let value as Double: value
        case let value as Float: Double(value)
        case let value as Int: Double(value)
        case let value as Int64: Double(value)
        case let value as Int32: Double(value)
        case let value as Int16: Double(value)
        default: nil
        }
    }
}
