import Foundation

/// What the app reads of a layer. Points, lines and areas are drawn differently.
enum GeometryKind: String, Sendable, Codable {
    case point, line, polygon
}

/// The members of a renderer's JSON that the app draws by.
struct RendererDocument: Decodable {
    struct Info: Decodable {
        var value: TextOrNumber?
        var label: String?
        var symbol: SymbolDocument?
        var classMaxValue: Double?
    }

    var type: String?
    var label: String?
    var symbol: SymbolDocument?
    var field: String?
    var field1: String?
    var field2: String?
    var field3: String?
    var fieldDelimiter: String?
    var minValue: Double?
    var uniqueValueInfos: [Info]?
    var classBreakInfos: [Info]?
    var defaultSymbol: SymbolDocument?
    var defaultLabel: String?
}

/// A class's value: text by the rule, a number in some documents.
struct TextOrNumber: Decodable {
    let text: String

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let text = try? container.decode(String.self) {
            self.text = text
        } else if let number = try? container.decode(Int64.self) {
            text = String(number)
        } else {
            text = String(try container.decode(Double.self))
        }
    }
}

/// A symbol's JSON, as far as the app draws it.
struct SymbolDocument: Decodable {
    struct Outline: Decodable {
        var color: [Double]?
        var width: Double?
    }

    var type: String?
    var style: String?
    var color: [Double]?
    /// Points: 1/72 inch.
    var size: Double?
    var width: Double?
    var outline: Outline?

    static let plain = SymbolDocument(type: "esriSMS", style: "esriSMSCircle", color: [11, 79, 138, 255], size: 9)

    func symbolClass(label: String, kind: GeometryKind) -> SymbolClass {
        let fill = Self.hex(color)
        let edge = Self.hex(outline?.color)
        switch kind {
        case .point:
            let strokes = style == "esriSMSCross" || style == "esriSMSX"
            return SymbolClass(
                label: label, path: Self.markerPaths[style ?? ""] ?? Self.circle,
                fill: strokes ? "none" : fill ?? "none",
                edge: strokes ? fill ?? edge ?? "#0b4f8a" : edge ?? (fill == nil ? "#0b4f8a" : "#ffffff"),
                edgeWidth: 1.4, size: (size ?? width ?? 9) * 4 / 3)
        case .line:
            return SymbolClass(
                label: label, path: "M-10 5C-4-7 2 7 10-5", fill: "none", edge: fill ?? "#0b4f8a", edgeWidth: 3,
                size: (width ?? 2) * 4 / 3)
        case .polygon:
            return SymbolClass(
                label: label, path: "M-9-8H9V8H-9z", fill: fill ?? "none", edge: edge ?? "#8a7aa0", edgeWidth: 1.6,
                size: 16)
        }
    }

    private static let circle = "M7.5 0A7.5 7.5 0 1 1-7.5 0 7.5 7.5 0 1 1 7.5 0z"
    private static let markerPaths = [
        "esriSMSCircle": circle, "esriSMSDiamond": "M0-9 9 0 0 9-9 0z", "esriSMSTriangle": "M0-9 9 7.5-9 7.5z",
        "esriSMSSquare": "M-7-7H7V7H-7z", "esriSMSCross": "M0-8V8M-8 0H8",
        "esriSMSX": "M-6.5-6.5 6.5 6.5M6.5-6.5-6.5 6.5",
    ]

    /// `#rrggbb` from 0…255 numbers; nil for none or clear.
    private static func hex(_ color: [Double]?) -> String? {
        guard let color, color.count >= 3, color.count < 4 || color[3] > 0 else { return nil }
        return "#"
            + color.prefix(3).map { part in
                let digits = String(Int(min(max(part.isFinite ? part : 0, 0), 255)), radix: 16)
                return digits.count == 1 ? "0" + digits : digits
            }.joined()
    }
}
