import FieldworkGeometry

/// A text at a point: what labels are drawn with.
///
/// It has no state but that of `Symbol`, which is behind a lock.
public final class TextSymbol: MarkerSymbol, @unchecked Sendable {
    /// Where the text is beside its place.
    public enum HorizontalAlignment: String, Sendable {
        /// The place is at the text's beginning, its end, its middle, or the lines reach both sides.
        case left, right, center, justify
    }

    /// Where the text is above or below its place.
    public enum VerticalAlignment: String, Sendable {
        /// The place is at the line on which letters stand, at the text's upper edge, its middle, its lower edge.
        case baseline, top, middle, bottom
    }

    /// A text.
    /// - Parameter size: of the letters, in points of 1/72 inch.
    public init(
        text: String = "", color: SymbolColor = .black, size: Double = 10,
        horizontalAlignment: HorizontalAlignment = .center, verticalAlignment: VerticalAlignment = .middle
    ) {
        super.init(
            JSONObject([
                "type": "esriTS", "text": .string(text), "color": color.json,
                "horizontalAlignment": .string(horizontalAlignment.rawValue),
                "verticalAlignment": .string(verticalAlignment.rawValue), "angle": 0, "xoffset": 0, "yoffset": 0,
                "font": ["family": "Arial", "size": .number(size), "style": "normal", "weight": "normal"],
            ]))
    }

    override init(_ json: JSONObject) { super.init(json) }

    /// The text; of a label's symbol empty, the label has the text.
    public var text: String {
        get { member("text")?.stringValue ?? "" }
        set { setMember("text", .string(newValue)) }
    }

    /// The colour of the letters; nil for none.
    public var color: SymbolColor? {
        get { memberColor("color") }
        set { setColor("color", newValue) }
    }

    /// The colour behind the edge of the letters; nil for none.
    public var haloColor: SymbolColor? {
        get { memberColor("haloColor") }
        set { setColor("haloColor", newValue) }
    }

    /// How far the halo reaches, in points of 1/72 inch.
    public var haloWidth: Double {
        get { number("haloSize") ?? 0 }
        set { setNumber("haloSize", newValue) }
    }

    /// The size of the letters in points of 1/72 inch.
    public var size: Double {
        get { member("font")?["size"]?.doubleValue ?? 10 }
        set { setFont("size", .number(newValue)) }
    }

    /// The family of the letters.
    public var fontFamily: String {
        get { member("font")?["family"]?.stringValue ?? "" }
        set { setFont("family", .string(newValue)) }
    }

    /// Whether the letters are bold.
    var isBold: Bool { ["bold", "bolder"].contains(member("font")?["weight"]?.stringValue ?? "") }

    /// Where the text is beside its place.
    public var horizontalAlignment: HorizontalAlignment {
        get { member("horizontalAlignment")?.stringValue.flatMap(HorizontalAlignment.init) ?? .center }
        set { setMember("horizontalAlignment", .string(newValue.rawValue)) }
    }

    /// Where the text is above or below its place.
    public var verticalAlignment: VerticalAlignment {
        get { member("verticalAlignment")?.stringValue.flatMap(VerticalAlignment.init) ?? .middle }
        set { setMember("verticalAlignment", .string(newValue.rawValue)) }
    }

    private func setFont(_ key: String, _ value: JSONValue) {
        var font = member("font")?.objectValue ?? JSONObject()
        font[key] = value
        setMember("font", .object(font))
    }
}
