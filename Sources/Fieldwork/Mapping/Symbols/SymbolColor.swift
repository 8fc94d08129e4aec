import FieldworkGeometry

/// A colour of a symbol. The vendor's API takes the platform's colours here, of which Linux has none; the usual names,
/// `.red` and the like, mean the same.
public struct SymbolColor: Sendable, Hashable {
    /// From 0 to 255.
    public var red: UInt8
    /// From 0 to 255.
    public var green: UInt8
    /// From 0 to 255.
    public var blue: UInt8
    /// From 0 (clear) to 255.
    public var alpha: UInt8

    /// A colour of its parts, each from 0 to 255.
    public init(red: UInt8, green: UInt8, blue: UInt8, alpha: UInt8 = 255) {
        self.red = red
        self.green = green
        self.blue = blue
        self.alpha = alpha
    }

    /// Reads `[r, g, b]` or `[r, g, b, a]`; nil for no colour, which the protocol writes as null.
    init?(_ json: JSONValue?) {
        guard let parts = json?.arrayValue?.compactMap(\.doubleValue), parts.count >= 3 else { return nil }
        let bytes = parts.prefix(4).map { $0.isFinite ? UInt8(min(max($0, 0), 255)) : 0 }
        self.init(red: bytes[0], green: bytes[1], blue: bytes[2], alpha: bytes.count > 3 ? bytes[3] : 255)
    }

    var json: JSONValue { .array([red, green, blue, alpha].map { .integer(Int64($0)) }) }

    /// The same colour with another opacity, from 0 to 1.
    public func withAlphaComponent(_ alpha: Double) -> SymbolColor {
        var color = self
        color.alpha = UInt8((min(max(0, alpha.isFinite ? alpha : 1), 1) * 255).rounded())
        return color
    }

    /// Black.
    public static let black = SymbolColor(red: 0, green: 0, blue: 0)
    /// White.
    public static let white = SymbolColor(red: 255, green: 255, blue: 255)
    /// Middle grey.
    public static let gray = SymbolColor(red: 128, green: 128, blue: 128)
    /// Red.
    public static let red = SymbolColor(red: 255, green: 0, blue: 0)
    /// Green.
    public static let green = SymbolColor(red: 0, green: 255, blue: 0)
    /// Blue.
    public static let blue = SymbolColor(red: 0, green: 0, blue: 255)
    /// Cyan.
    public static let cyan = SymbolColor(red: 0, green: 255, blue: 255)
    /// Yellow.
    public static let yellow = SymbolColor(red: 255, green: 255, blue: 0)
    /// Magenta.
    public static let magenta = SymbolColor(red: 255, green: 0, blue: 255)
    /// Orange.
    public static let orange = SymbolColor(red: 255, green: 128, blue: 0)
    /// Purple.
    public static let purple = SymbolColor(red: 128, green: 0, blue: 128)
    /// Brown.
    public static let brown = SymbolColor(red: 153, green: 102, blue: 51)
    /// Nothing at all.
    public static let clear = SymbolColor(red: 0, green: 0, blue: 0, alpha: 0)
}
