package import FieldworkGeometry

/// How the lines and outlines of the protocol's simple symbols are drawn, by whoever draws them.
package struct SymbolStroke: Sendable, Hashable {
    package var color: SwatchColor
    /// In pixels.
    package var width: Double
    /// Lengths of dashes and gaps in turn, in widths of the line; empty for a line without gaps.
    package var dashes: [Double]

    /// nil for a symbol that draws no line.
    /// - Parameters:
    ///   - json: an `esriSLS`, as a symbol or as the outline of one.
    ///   - scale: pixels of the picture on a pixel of 96 to the inch.
    package init?(_ json: JSONValue?, scale: Double = 1) {
        let style = json?["style"]?.stringValue ?? ""
        guard let json, style != "esriSLSNull", let color = SwatchColor(json["color"]) else { return nil }
        self.color = color
        width = min(max(SymbolDrawing.pixels(json["width"]?.doubleValue ?? 1), 0), Limits.symbolStrokePixels) * scale
        dashes = Self.dashes(style)
    }

    package static func dashes(_ style: String) -> [Double] {
        switch style {
        case "esriSLSDash": [4, 3]
        case "esriSLSDot": [1, 3]
        case "esriSLSDashDot": [4, 3, 1, 3]
        case "esriSLSDashDotDot": [4, 3, 1, 3, 1, 3]
        case "esriSLSLongDash": [8, 3]
        case "esriSLSLongDashDot": [8, 3, 1, 3]
        case "esriSLSShortDash": [4, 1]
        case "esriSLSShortDot": [1, 1]
        case "esriSLSShortDashDot": [4, 1, 1, 1]
        case "esriSLSShortDashDotDot": [4, 1, 1, 1, 1, 1]
        default: []
        }
    }
}

/// The form of a simple marker.
package enum MarkerShape: String, Sendable, Hashable {
    case circle = "esriSMSCircle"
    case square = "esriSMSSquare"
    case diamond = "esriSMSDiamond"
    case triangle = "esriSMSTriangle"
    case cross = "esriSMSCross"
    case x = "esriSMSX"

    /// Whether it is made of lines alone.
    package var isOpen: Bool { self == .cross || self == .x }

    /// The corners of a marker that has some, x to the right and y upwards of its middle, for a radius of 1.
    package var corners: [(x: Double, y: Double)] {
        switch self {
        case .square: [(-1, -1), (1, -1), (1, 1), (-1, 1)]
        case .diamond: [(-1, 0), (0, -1), (1, 0), (0, 1)]
        case .triangle: [(-1, -1), (1, -1), (0, 1)]
        case .circle, .cross, .x: []
        }
    }

    /// How far a place is from the edge of a closed marker, below zero within.
    func distance(x: Double, y: Double, radius: Double) -> Double {
        switch self {
        case .square: max(abs(x), abs(y)) - radius
        case .diamond: (abs(x) + abs(y) - radius) * 0.5.squareRoot()
        case .triangle: max(-y - radius, (2 * abs(x) + y - radius) / 5.0.squareRoot())
        case .circle, .cross, .x: (x * x + y * y).squareRoot() - radius
        }
    }
}

/// A simple marker (`esriSMS`) in pixels.
package struct MarkerLook: Sendable, Hashable {
    package var shape: MarkerShape
    package var radius: Double
    package var fill: SwatchColor?
    package var outline: SymbolStroke?
    /// Degrees against the clock.
    package var angle: Double
    /// To the right and upwards.
    package var offset: SIMD2<Double>

    /// - Parameter scale: pixels of the picture on a pixel of 96 to the inch.
    package init(_ json: JSONValue, scale: Double = 1) {
        shape = MarkerShape(rawValue: json["style"]?.stringValue ?? "") ?? .circle
        let side = min(SymbolDrawing.pixels(json["size"]?.doubleValue ?? 8), Double(Limits.symbolPixels))
        radius = max(side / 2, 1) * scale
        fill = SwatchColor(json["color"])
        outline = SymbolStroke(json["outline"], scale: scale)
        angle = SymbolDrawing.angle(json)
        offset = SymbolDrawing.offset(json) * scale
        guard shape.isOpen else { return }
        // The lines of a cross have the colour of the marker where it says none for them.
        if outline == nil, let fill {
            outline = SymbolStroke(["color": [0, 0, 0, 255], "width": 0.75], scale: scale)
            outline?.color = fill
        }
        fill = nil
        let width = outline?.width ?? 0
        outline?.width = max(width, scale)
    }
}

/// The lines of a hatched area: in which directions they run.
package struct FillHatch: Sendable, Hashable {
    /// Pixels from one line to the next, at 96 to the inch.
    package static let step = 4.0

    package enum Direction: Sendable, Hashable {
        case horizontal, vertical
        /// Up to the right and down to the right.
        case rising, falling
    }

    package var directions: [Direction]

    /// nil for an area that is filled, or empty.
    package init?(style: String) {
        switch style {
        case "esriSFSHorizontal": directions = [.horizontal]
        case "esriSFSVertical": directions = [.vertical]
        case "esriSFSForwardDiagonal": directions = [.falling]
        case "esriSFSBackwardDiagonal": directions = [.rising]
        case "esriSFSCross": directions = [.horizontal, .vertical]
        case "esriSFSDiagonalCross": directions = [.falling, .rising]
        default: return nil
        }
    }

    /// Whether a place, y upwards, lies on one of the lines.
    package func covers(x: Double, y: Double) -> Bool {
        directions.contains { direction in
            let place =
                switch direction {
                case .horizontal: y
                case .vertical: x
                case .falling: x + y
                case .rising: x - y
                }
            let rest = place.truncatingRemainder(dividingBy: Self.step)
            return (rest < 0 ? rest + Self.step : rest) < 1
        }
    }
}
