import FieldworkGeometry
public import Foundation

/// What a feature is drawn with, as the protocol describes it.
public final class Symbol: Sendable {
    /// The kinds of symbols.
    public enum Kind: Sendable {
        /// A shape at a point, a picture at a point, a stroke, a filled area, a text.
        case marker, picture, line, fill, text
        /// Something else.
        case other
    }

    private let json: JSONValue

    init?(_ json: JSONValue?) {
        guard let json, json.objectValue != nil else { return nil }
        self.json = json
    }

    /// The kind of symbol.
    public var kind: Kind {
        switch json["type"]?.stringValue {
        case "esriSMS": .marker
        case "esriPMS": .picture
        case "esriSLS": .line
        case "esriSFS", "esriPFS": .fill
        case "esriTS": .text
        default: .other
        }
    }

    /// The shape or pattern, for example `esriSMSCircle`.
    public var style: String { json["style"]?.stringValue ?? "" }
    /// Red, green, blue and opacity, from 0 to 255; nil when the symbol has no colour of its own.
    public var color: [Int]? { Self.color(json["color"]) }
    /// The size of a marker in points.
    public var size: Double? { json["size"]?.doubleValue }
    /// The width of a line in points.
    public var width: Double? { json["width"]?.doubleValue }
    /// The outline of a marker or an area.
    public var outline: Symbol? { Symbol(json["outline"]) }

    /// The symbol as web maps write it.
    public func toJSON() -> Data { Data(json.text.utf8) }

    private static func color(_ json: JSONValue?) -> [Int]? {
        guard let parts = json?.arrayValue?.compactMap(\.integerValue), parts.count >= 3 else { return nil }
        return parts.prefix(4).map { Int(min(max(0, $0), 255)) } + (parts.count == 3 ? [255] : [])
    }
}
