import FieldworkGeometry
import FieldworkREST
import Foundation

/// Shapes of SVG for symbols, in the middle of a square. Everything that goes into the text is a number, a name of this
/// file's own, or escaped.
struct SymbolSVG {
    /// Pixels across and down.
    let size: Double

    private var middle: Double { size / 2 }

    func content(_ symbol: Symbol) -> String? {
        switch symbol {
        case let symbol as SimpleMarkerSymbol: marker(symbol)
        case let symbol as SimpleLineSymbol: line(symbol)
        case let symbol as SimpleFillSymbol: area(symbol.style, symbol.color, symbol.outline)
        case let symbol as PictureFillSymbol: area(.solid, nil, symbol.outline)
        case let symbol as PictureMarkerSymbol: picture(symbol)
        case let symbol as TextSymbol: text(symbol)
        default: nil
        }
    }

    // MARK: Points

    private func marker(_ symbol: SimpleMarkerSymbol) -> String {
        let radius = min(max(SymbolDrawing.pixels(symbol.size) / 2, 1), max(middle - 1, 1))
        let edge = stroke(symbol.outline)
        let turn = symbol.angle == 0 ? "" : " transform=\"rotate(\(number(-symbol.angle)) \(place(0)) \(place(0)))\""
        func shape(_ points: [(Double, Double)]) -> String {
            let text = points.map { "\(place($0.0)),\(place($0.1))" }.joined(separator: " ")
            return "<polygon points=\"\(text)\" \(fill(symbol.color)) \(edge)\(turn)/>"
        }
        func strokes(_ reach: Double, _ ends: [(Double, Double)]) -> String {
            let color = symbol.outline?.color ?? symbol.color
            let width = max(symbol.outline.map { SymbolDrawing.pixels($0.width) } ?? 1, 1)
            let path = ends.map { x, y in
                "M\(place(-x * reach)) \(place(-y * reach))L\(place(x * reach)) \(place(y * reach))"
            }.joined()
            return "<path d=\"\(path)\" fill=\"none\" \(stroke(color, width))\(turn)/>"
        }
        switch symbol.style {
        case .circle:
            let place = "cx=\"\(place(0))\" cy=\"\(place(0))\" r=\"\(number(radius))\""
            return "<circle \(place) \(fill(symbol.color)) \(edge)/>"
        case .square: return shape([(-radius, -radius), (radius, -radius), (radius, radius), (-radius, radius)])
        case .diamond: return shape([(0, -radius), (radius, 0), (0, radius), (-radius, 0)])
        case .triangle: return shape([(0, -radius), (radius, radius), (-radius, radius)])
        case .cross: return strokes(radius, [(1, 0), (0, 1)])
        case .x: return strokes(radius * 0.5.squareRoot(), [(1, 1), (1, -1)])
        }
    }

    private func picture(_ symbol: PictureMarkerSymbol) -> String? {
        let type = symbol.contentType.lowercased()
        guard SymbolPicture.safeTypes.contains(type), let data = symbol.imageData else { return nil }
        return "<image width=\"\(number(size))\" height=\"\(number(size))\" "
            + "href=\"data:\(type);base64,\(data.base64EncodedString())\"/>"
    }

    private func text(_ symbol: TextSymbol) -> String {
        let height = min(SymbolDrawing.pixels(symbol.size), size)
        let shown = symbol.text.isEmpty ? "Aa" : symbol.text
        return "<text x=\"\(place(0))\" y=\"\(place(0))\" text-anchor=\"middle\" dominant-baseline=\"central\" "
            + "font-size=\"\(number(height))\" font-weight=\"\(symbol.isBold ? "bold" : "normal")\" "
            + "\(fill(symbol.color))>\(TextEscaping.html(String(shown.prefix(Limits.swatchLetters))))</text>"
    }

    // MARK: Lines and areas

    private func line(_ symbol: SimpleLineSymbol) -> String {
        "<path d=\"M0 \(place(0))H\(number(size))\" fill=\"none\" \(stroke(symbol))/>"
    }

    private func area(
        _ style: SimpleFillSymbol.Style, _ color: SymbolColor?, _ outline: SimpleLineSymbol?
    ) -> String {
        let (low, side) = (2.0, max(size - 4, 1))
        func square(_ paint: String) -> String {
            "<rect x=\"\(number(low))\" y=\"\(number(low))\" width=\"\(number(side))\" height=\"\(number(side))\" \(paint)/>"
        }
        if style == .solid { return square("\(fill(color)) \(stroke(outline))") }
        let hatch = hatch(style, low, low + side)
        let lines = hatch.isEmpty ? "" : "<path d=\"\(hatch)\" fill=\"none\" \(stroke(color, 1))/>"
        return lines + square("fill=\"none\" \(stroke(outline))")
    }

    /// Lines four pixels apart, cut at the square's edges.
    private func hatch(_ style: SimpleFillSymbol.Style, _ low: Double, _ high: Double) -> String {
        let steps = stride(from: low + 2, to: high, by: 4)
        let across = { steps.map { "M\(number(low)) \(number($0))H\(number(high))" }.joined() }
        let down = { steps.map { "M\(number($0)) \(number(low))V\(number(high))" }.joined() }
        // A diagonal is the line x + y = sum, its mirror image the one that falls.
        func diagonals(falling: Bool) -> String {
            stride(from: 2 * low + 4, to: 2 * high, by: 4).map { sum in
                let (left, right) = (max(low, sum - high), min(high, sum - low))
                let (start, end) = (sum - left, sum - right)
                let mirror = { (y: Double) in falling ? low + high - y : y }
                return "M\(number(left)) \(number(mirror(start)))L\(number(right)) \(number(mirror(end)))"
            }.joined()
        }
        return switch style {
        case .solid, .noFill: ""
        case .horizontal: across()
        case .vertical: down()
        case .cross: across() + down()
        // A forward diagonal falls from the left to the right.
        case .forwardDiagonal: diagonals(falling: true)
        case .backwardDiagonal: diagonals(falling: false)
        case .diagonalCross: diagonals(falling: true) + diagonals(falling: false)
        }
    }

    // MARK: Paint

    private func fill(_ color: SymbolColor?) -> String {
        guard let color else { return "fill=\"none\"" }
        return "fill=\"\(hex(color))\"" + opacity("fill", color)
    }

    private func stroke(_ line: SimpleLineSymbol?) -> String {
        guard let line, line.style != .noLine else { return "stroke=\"none\"" }
        let dashes = dashes(line.style)
        let pattern = dashes.isEmpty ? "" : " stroke-dasharray=\"\(dashes.map(number).joined(separator: " "))\""
        return stroke(line.color, min(max(SymbolDrawing.pixels(line.width), 0), 8)) + pattern
    }

    private func stroke(_ color: SymbolColor?, _ width: Double) -> String {
        guard let color else { return "stroke=\"none\"" }
        return "stroke=\"\(hex(color))\" stroke-width=\"\(number(width))\"" + opacity("stroke", color)
    }

    private func opacity(_ name: String, _ color: SymbolColor) -> String {
        color.alpha == 255 ? "" : " \(name)-opacity=\"\(number(Double(color.alpha) / 255))\""
    }

    private func hex(_ color: SymbolColor) -> String {
        "#"
            + [color.red, color.green, color.blue].map { part in
                let digits = String(part, radix: 16)
                return digits.count == 1 ? "0" + digits : digits
            }.joined()
    }

    /// Lengths of dashes and gaps in turn; empty for a line without gaps.
    private func dashes(_ style: SimpleLineSymbol.Style) -> [Double] {
        switch style {
        case .dash, .shortDash: [5, 3]
        case .longDash: [8, 3]
        case .dot, .shortDot: [2, 2]
        case .dashDot, .shortDashDot, .longDashDot: [6, 2, 2, 2]
        case .dashDotDot, .shortDashDotDot: [6, 2, 2, 2, 2, 2]
        case .solid, .noLine: []
        }
    }

    // MARK: Numbers

    /// A place that counts from the middle, to the right or downwards.
    private func place(_ offset: Double) -> String { number(middle + offset) }

    /// At most three decimals, never an exponent.
    private func number(_ value: Double) -> String {
        let rounded = (min(max(value, -1_000_000), 1_000_000) * 1_000).rounded() / 1_000
        return rounded == rounded.rounded() ? String(Int(rounded)) : "\(rounded)"
    }
}
