import FieldworkGeometry

/// A shape at a point.
///
/// It has no state but that of `Symbol`, which is behind a lock.
public final class SimpleMarkerSymbol: MarkerSymbol, @unchecked Sendable {
    /// The shape.
    public enum Style: Sendable, CaseIterable {
        /// The shapes that the protocol has.
        case circle, cross, diamond, square, triangle, x

        fileprivate var name: String {
            switch self {
            case .circle: "esriSMSCircle"
            case .cross: "esriSMSCross"
            case .diamond: "esriSMSDiamond"
            case .square: "esriSMSSquare"
            case .triangle: "esriSMSTriangle"
            case .x: "esriSMSX"
            }
        }
    }

    /// A shape of a colour.
    /// - Parameter size: in points of 1/72 inch.
    public init(style: Style = .circle, color: SymbolColor = .black, size: Double = 8) {
        super.init(
            JSONObject([
                "type": "esriSMS", "style": .string(style.name), "color": color.json, "size": .number(size),
                "angle": 0, "xoffset": 0, "yoffset": 0,
            ]))
    }

    override init(_ json: JSONObject) { super.init(json) }

    /// The shape; a circle for a name that nobody knows.
    public var style: Style {
        get { Style.allCases.first { $0.name == member("style")?.stringValue } ?? .circle }
        set { setMember("style", .string(newValue.name)) }
    }

    /// The colour; nil for an outline alone.
    public var color: SymbolColor? {
        get { memberColor("color") }
        set { setColor("color", newValue) }
    }

    /// In points of 1/72 inch.
    public var size: Double {
        get { number("size") ?? 8 }
        set { setNumber("size", newValue) }
    }

    /// The line around the shape; nil for none.
    public var outline: SimpleLineSymbol? {
        get { member("outline")?.objectValue.map(SimpleLineSymbol.init) }
        set { setMember("outline", newValue?.json) }
    }
}

/// A stroke.
///
/// It has no state but that of `Symbol`, which is behind a lock.
public final class SimpleLineSymbol: Symbol, @unchecked Sendable {
    /// The pattern.
    public enum Style: Sendable, CaseIterable {
        /// The patterns that the protocol has; `noLine` is not seen.
        case solid, dash, dot, dashDot, dashDotDot, longDash, longDashDot, shortDash, shortDot, shortDashDot,
            shortDashDotDot, noLine

        fileprivate var name: String {
            switch self {
            case .noLine: "esriSLSNull"
            default: "esriSLS" + "\(self)".prefix(1).uppercased() + "\(self)".dropFirst()
            }
        }
    }

    /// A stroke of a colour.
    /// - Parameter width: in points of 1/72 inch.
    public init(style: Style = .solid, color: SymbolColor = .black, width: Double = 1) {
        super.init(
            JSONObject([
                "type": "esriSLS", "style": .string(style.name), "color": color.json, "width": .number(width),
            ]))
    }

    override init(_ json: JSONObject) { super.init(json) }

    /// The pattern; solid for a name that nobody knows.
    public var style: Style {
        get { Style.allCases.first { $0.name == member("style")?.stringValue } ?? .solid }
        set { setMember("style", .string(newValue.name)) }
    }

    /// The colour; nil for none.
    public var color: SymbolColor? {
        get { memberColor("color") }
        set { setColor("color", newValue) }
    }

    /// In points of 1/72 inch.
    public var width: Double {
        get { number("width") ?? 1 }
        set { setNumber("width", newValue) }
    }
}

/// A filled area.
///
/// It has no state but that of `Symbol`, which is behind a lock.
public final class SimpleFillSymbol: Symbol, @unchecked Sendable {
    /// The pattern.
    public enum Style: Sendable, CaseIterable {
        /// The patterns that the protocol has; `noFill` shows the outline alone.
        case solid, horizontal, vertical, cross, diagonalCross, forwardDiagonal, backwardDiagonal, noFill

        fileprivate var name: String {
            switch self {
            case .noFill: "esriSFSNull"
            default: "esriSFS" + "\(self)".prefix(1).uppercased() + "\(self)".dropFirst()
            }
        }
    }

    /// An area of a colour.
    public init(style: Style = .solid, color: SymbolColor = .black, outline: SimpleLineSymbol? = nil) {
        super.init(
            JSONObject([
                "type": "esriSFS", "style": .string(style.name), "color": color.json,
                "outline": outline?.json ?? .null,
            ]))
    }

    override init(_ json: JSONObject) { super.init(json) }

    /// The pattern; solid for a name that nobody knows.
    public var style: Style {
        get { Style.allCases.first { $0.name == member("style")?.stringValue } ?? .solid }
        set { setMember("style", .string(newValue.name)) }
    }

    /// The colour of the area, or of the lines of its pattern; nil for an outline alone.
    public var color: SymbolColor? {
        get { memberColor("color") }
        set { setColor("color", newValue) }
    }

    /// The line around the area; nil for none.
    public var outline: SimpleLineSymbol? {
        get { member("outline")?.objectValue.map(SimpleLineSymbol.init) }
        set { setMember("outline", newValue?.json) }
    }
}
