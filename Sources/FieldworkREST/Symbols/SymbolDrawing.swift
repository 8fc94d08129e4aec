package import FieldworkGeometry
import Foundation

/// Draws the protocol's simple symbols on a few pixels, without a library: for swatches of the SDK and sprites of tiles. What a
/// symbol looks like, `MarkerLook`, `SymbolStroke` and `FillHatch` say, for images of maps as well.
package struct SymbolDrawing: Sendable {
    private var canvas: SymbolCanvas

    /// - Parameters:
    ///   - symbol: a kind that can't be drawn gives a clear picture.
    ///   - size: pixels across and down; 96 of them are an inch.
    /// - Returns: the drawn symbol in the middle of the canvas.
    package static func canvas(of symbol: JSONValue, size: Int) -> SymbolCanvas {
        var drawing = SymbolDrawing(canvas: SymbolCanvas(size: size))
        switch symbol["type"]?.stringValue {
        case "esriSMS": drawing.drawMarker(MarkerLook(symbol))
        case "esriSLS": drawing.drawLine(symbol)
        case "esriSFS", "esriPFS": drawing.drawFill(symbol)
        default: break
        }
        return drawing.canvas
    }

    private var side: Double { Double(canvas.size) }

    /// Symbols measure in points, 72 an inch; pictures have 96 pixels an inch.
    package static func pixels(_ points: Double) -> Double { points * 96 / 72 }

    /// How far a marker stands beside its place, to the right and upwards.
    package static func offset(_ symbol: JSONValue) -> SIMD2<Double> {
        // Numbers of any size come from outside; further away than a symbol is large, nobody means one.
        let most = SIMD2<Double>(repeating: Double(Limits.symbolPixels))
        return SIMD2(pixels(symbol["xoffset"]?.doubleValue ?? 0), pixels(symbol["yoffset"]?.doubleValue ?? 0))
            .clamped(lowerBound: -most, upperBound: most)
    }

    /// Degrees against the clock, within one turn.
    package static func angle(_ symbol: JSONValue) -> Double {
        (symbol["angle"]?.doubleValue ?? 0).truncatingRemainder(dividingBy: 360)
    }

    /// What is drawn where a renderer has no symbol that can be drawn.
    package static func plain(_ geometry: LayerGeometryType) -> JSONValue {
        let color: JSONValue = [11, 79, 138, 255]
        switch geometry {
        case .point, .multipoint: return ["type": "esriSMS", "style": "esriSMSCircle", "color": color, "size": 8]
        case .polyline: return ["type": "esriSLS", "style": "esriSLSSolid", "color": color, "width": 1.5]
        case .polygon, .envelope:
            return [
                "type": "esriSFS", "style": "esriSFSSolid", "color": [11, 79, 138, 60],
                "outline": ["type": "esriSLS", "style": "esriSLSSolid", "color": color, "width": 1],
            ]
        }
    }

    // MARK: Markers

    private mutating func drawMarker(_ marker: MarkerLook) {
        let radius = min(marker.radius, max(side / 2 - 1, 1))
        // Angles count against the clock: a place is looked up where it was before the symbol was turned.
        let angle = (marker.angle + (marker.shape == .x ? 45 : 0)) * .pi / 180
        let (cosine, sine) = (cos(angle), sin(angle))
        let turned = { (x: Double, y: Double) in (x * cosine + y * sine, y * cosine - x * sine) }
        if marker.shape.isOpen {
            guard let stroke = marker.outline else { return }
            canvas.paint(stroke.color) {
                let (x, y) = turned($0, $1)
                return min(abs(x), abs(y)) <= stroke.width / 2 && max(abs(x), abs(y)) <= radius
            }
            return
        }
        let distance = { (x: Double, y: Double) in
            let place = turned(x, y)
            return marker.shape.distance(x: place.0, y: place.1, radius: radius)
        }
        if let fill = marker.fill { canvas.paint(fill) { distance($0, $1) <= 0 } }
        if let stroke = marker.outline, stroke.width > 0 {
            canvas.paint(stroke.color) { abs(distance($0, $1)) <= stroke.width / 2 }
        }
    }

    // MARK: Lines and areas

    private mutating func drawLine(_ symbol: JSONValue) {
        guard let stroke = SymbolStroke(symbol) else { return }
        let dashes = stroke.dashes.map { $0 * max(stroke.width, 1) }
        let start = side / 2
        canvas.paint(stroke.color) { x, y in abs(y) <= stroke.width / 2 && Self.covers(dashes, at: x + start) }
    }

    private static func covers(_ dashes: [Double], at place: Double) -> Bool {
        let length = dashes.reduce(0, +)
        guard length > 0 else { return true }
        var rest = place.truncatingRemainder(dividingBy: length)
        for (index, dash) in dashes.enumerated() {
            if rest < dash { return index.isMultiple(of: 2) }
            rest -= dash
        }
        return false
    }

    private mutating func drawFill(_ symbol: JSONValue) {
        let half = side / 2 - 2
        let style = symbol["style"]?.stringValue ?? ""
        if let color = SwatchColor(symbol["color"]), style != "esriSFSNull" {
            let hatch = FillHatch(style: style)
            canvas.paint(color) { x, y in max(abs(x), abs(y)) <= half && hatch?.covers(x: x, y: y) ?? true }
        }
        guard let stroke = SymbolStroke(symbol["outline"]) else { return }
        canvas.paint(stroke.color) { x, y in abs(max(abs(x), abs(y)) - half) <= stroke.width / 2 }
    }
}
