package import FieldworkGeometry
import Foundation

/// Draws the protocol's simple symbols: for legends of the server, for swatches of the SDK.
package struct SymbolDrawing: Sendable {
    private var canvas: SymbolCanvas

    /// - Parameters:
    ///   - symbol: a kind that can't be drawn gives a clear picture.
    ///   - size: pixels across and down; 96 of them are an inch.
    /// - Returns: the drawn symbol in the middle of the canvas.
    package static func canvas(of symbol: JSONValue, size: Int) -> SymbolCanvas {
        var drawing = SymbolDrawing(canvas: SymbolCanvas(size: size))
        switch symbol["type"]?.stringValue {
        case "esriSMS": drawing.drawMarker(symbol)
        case "esriSLS": drawing.drawLine(symbol)
        case "esriSFS", "esriPFS": drawing.drawFill(symbol)
        default: break
        }
        return drawing.canvas
    }

    private var side: Double { Double(canvas.size) }

    /// Symbols measure in points, 72 an inch; pictures have 96 pixels an inch.
    package static func pixels(_ points: Double) -> Double { points * 96 / 72 }

    private static func strokeWidth(_ symbol: JSONValue?) -> Double {
        min(max(Self.pixels(symbol?["width"]?.doubleValue ?? 1), 0), 8)
    }

    // MARK: Markers

    private mutating func drawMarker(_ symbol: JSONValue) {
        let outline = symbol["outline"]
        let width = Self.strokeWidth(outline)
        let radius = min(max(Self.pixels(symbol["size"]?.doubleValue ?? 8) / 2, 1), side / 2 - 1)
        let (fill, stroke) = (SwatchColor(symbol["color"]), SwatchColor(outline?["color"]))
        let style = symbol["style"]?.stringValue ?? ""
        if style == "esriSMSCross" || style == "esriSMSX" {
            guard let color = stroke ?? fill else { return }
            let turn = style == "esriSMSX" ? 0.5.squareRoot() : 0
            canvas.paint(color) { x, y in
                let (across, up) = turn == 0 ? (x, y) : ((x + y) * turn, (x - y) * turn)
                return min(abs(across), abs(up)) <= max(width, 1) / 2 && max(abs(across), abs(up)) <= radius
            }
            return
        }
        let edge = Self.markerEdge(style, radius)
        // Angles count against the clock: a place is looked up where it was before the symbol was turned.
        let angle = (symbol["angle"]?.doubleValue ?? 0) * .pi / 180
        let (cosine, sine) = (cos(angle), sin(angle))
        let distance = { (x: Double, y: Double) in edge(x * cosine + y * sine, y * cosine - x * sine) }
        if let fill { canvas.paint(fill) { distance($0, $1) <= 0 } }
        if let stroke, width > 0 { canvas.paint(stroke) { abs(distance($0, $1)) <= width / 2 } }
    }

    /// How far a place is from the edge of a marker, below zero within.
    private static func markerEdge(_ style: String, _ radius: Double) -> (Double, Double) -> Double {
        switch style {
        case "esriSMSSquare": { max(abs($0), abs($1)) - radius }
        case "esriSMSDiamond": { (abs($0) + abs($1) - radius) * 0.5.squareRoot() }
        case "esriSMSTriangle": { max(-$1 - radius, (2 * abs($0) + $1 - radius) / 5.0.squareRoot()) }
        default: { ($0 * $0 + $1 * $1).squareRoot() - radius }
        }
    }

    // MARK: Lines and areas

    private mutating func drawLine(_ symbol: JSONValue) {
        guard let color = SwatchColor(symbol["color"]), symbol["style"]?.stringValue != "esriSLSNull" else { return }
        let width = Self.strokeWidth(symbol)
        let dashes = Self.dashes(symbol["style"]?.stringValue ?? "")
        let start = side / 2
        canvas.paint(color) { x, y in abs(y) <= width / 2 && Self.covers(dashes, at: x + start) }
    }

    /// Lengths of dashes and gaps in turn; empty for a line without gaps.
    private static func dashes(_ style: String) -> [Double] {
        switch style {
        case "esriSLSDash", "esriSLSShortDash": [5, 3]
        case "esriSLSLongDash": [8, 3]
        case "esriSLSDot", "esriSLSShortDot": [2, 2]
        case "esriSLSDashDot", "esriSLSShortDashDot", "esriSLSLongDashDot": [6, 2, 2, 2]
        case "esriSLSDashDotDot", "esriSLSShortDashDotDot": [6, 2, 2, 2, 2, 2]
        default: []
        }
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
        if let color = SwatchColor(symbol["color"]) {
            let pattern = Self.fillPattern(symbol["style"]?.stringValue ?? "")
            canvas.paint(color) { x, y in max(abs(x), abs(y)) <= half && pattern(x, y) }
        }
        let outline = symbol["outline"]
        guard let color = SwatchColor(outline?["color"]), outline?["style"]?.stringValue != "esriSLSNull" else {
            return
        }
        let width = Self.strokeWidth(outline)
        canvas.paint(color) { x, y in abs(max(abs(x), abs(y)) - half) <= width / 2 }
    }

    private static func fillPattern(_ style: String) -> (Double, Double) -> Bool {
        func isLine(_ place: Double) -> Bool {
            let rest = place.truncatingRemainder(dividingBy: 4)
            return (rest < 0 ? rest + 4 : rest) < 1
        }
        return switch style {
        case "esriSFSNull": { _, _ in false }
        case "esriSFSHorizontal": { isLine($1) }
        case "esriSFSVertical": { x, _ in isLine(x) }
        case "esriSFSForwardDiagonal": { isLine($0 + $1) }
        case "esriSFSBackwardDiagonal": { isLine($0 - $1) }
        case "esriSFSCross": { isLine($0) || isLine($1) }
        case "esriSFSDiagonalCross": { isLine($0 + $1) || isLine($0 - $1) }
        default: { _, _ in true }
        }
    }
}
