import FieldworkGeometry
import Foundation

/// The picture of one entry of a legend: a drawing of simple symbols, the symbol's own picture where it has one.
struct LegendSwatch: Sendable, Hashable {
    var bytes: [UInt8]
    var contentType: String
    var width: Int
    var height: Int

    /// - Parameter symbol: a symbol of the protocol (rest-api §2.7); a kind that can't be drawn gives a clear picture.
    init(symbol: JSONValue) throws {
        if let picture = Self.picture(symbol) {
            self = picture
            return
        }
        var canvas = SwatchCanvas()
        switch symbol["type"]?.stringValue {
        case "esriSMS": Self.drawMarker(symbol, on: &canvas)
        case "esriSLS": Self.drawLine(symbol, on: &canvas)
        case "esriSFS", "esriPFS": Self.drawFill(symbol, on: &canvas)
        default: break
        }
        self.init(
            bytes: try canvas.png(), contentType: "image/png", width: SwatchCanvas.size, height: SwatchCanvas.size)
    }

    private init(bytes: [UInt8], contentType: String, width: Int, height: Int) {
        self.bytes = bytes
        self.contentType = contentType
        self.width = width
        self.height = height
    }

    /// Kinds of pictures that a page shows without running anything in them.
    private static let pictureTypes: Set<String> = ["image/png", "image/jpeg", "image/gif", "image/bmp"]

    private static func picture(_ symbol: JSONValue) -> LegendSwatch? {
        guard let type = symbol["contentType"]?.stringValue?.lowercased(), pictureTypes.contains(type),
            let text = symbol["imageData"]?.stringValue, text.utf8.count <= Limits.swatchBytes,
            let data = Data(base64Encoded: text), !data.isEmpty
        else { return nil }
        func pixelsOf(_ name: String) -> Int {
            symbol[name]?.doubleValue.map { Int(min(max(pixels($0), 1), 256).rounded()) } ?? SwatchCanvas.size
        }
        return LegendSwatch(
            bytes: Array(data), contentType: type, width: pixelsOf("width"), height: pixelsOf("height"))
    }

    /// Symbols measure in points, 72 an inch; swatches have 96 pixels an inch.
    private static func pixels(_ points: Double) -> Double { points * 96 / 72 }

    private static func strokeWidth(_ symbol: JSONValue?) -> Double {
        min(max(pixels(symbol?["width"]?.doubleValue ?? 1), 0), 8)
    }

    // MARK: Markers

    private static func drawMarker(_ symbol: JSONValue, on canvas: inout SwatchCanvas) {
        let outline = symbol["outline"]
        let width = strokeWidth(outline)
        let radius = min(max(pixels(symbol["size"]?.doubleValue ?? 8) / 2, 1), Double(SwatchCanvas.size) / 2 - 1)
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
        let distance = markerEdge(style, radius)
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

    private static func drawLine(_ symbol: JSONValue, on canvas: inout SwatchCanvas) {
        guard let color = SwatchColor(symbol["color"]), symbol["style"]?.stringValue != "esriSLSNull" else { return }
        let width = strokeWidth(symbol)
        let dashes = dashes(symbol["style"]?.stringValue ?? "")
        canvas.paint(color) { x, y in abs(y) <= width / 2 && covers(dashes, at: x + Double(SwatchCanvas.size) / 2) }
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

    private static func drawFill(_ symbol: JSONValue, on canvas: inout SwatchCanvas) {
        let half = Double(SwatchCanvas.size) / 2 - 2
        if let color = SwatchColor(symbol["color"]) {
            let pattern = fillPattern(symbol["style"]?.stringValue ?? "")
            canvas.paint(color) { x, y in max(abs(x), abs(y)) <= half && pattern(x, y) }
        }
        let outline = symbol["outline"]
        guard let color = SwatchColor(outline?["color"]), outline?["style"]?.stringValue != "esriSLSNull" else {
            return
        }
        let width = strokeWidth(outline)
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
