import FieldworkGeometry
import FieldworkREST
import FieldworkTiles
import Foundation

/// One class of labels of a layer: what they say, how they look and where they stand.
struct LabelClass: Sendable {
    /// Where the label stands beside its feature: -1, 0 or 1 to the right, and downwards.
    struct Side: Sendable, Hashable {
        var x: Double
        var y: Double
    }

    private enum Piece: Sendable {
        case text(String)
        case value(column: Int, codes: [String: String], isDate: Bool)
    }

    let color: SwatchColor
    let halo: SwatchColor?
    /// In pixels of the image.
    let haloWidth: Double
    let font: TextFont
    let side: Side
    /// Whether labels may lie on each other.
    let overlaps: Bool
    private let pieces: [Piece]

    /// The classes that are drawn at the scale of an image. One with a condition on features, or with an expression that can't be
    /// evaluated for every feature, is left out.
    static func classes(of layer: LayerDefinition, columns: [String], in frame: MapFrame) -> [LabelClass] {
        let infos = layer.drawingInfo?["labelingInfo"]?.arrayValue ?? []
        guard layer.drawingInfo?["showLabels"]?.boolValue != false else { return [] }
        return infos.prefix(255).enumerated().compactMap { number, info in
            let (least, most) = (info["minScale"]?.doubleValue ?? 0, info["maxScale"]?.doubleValue ?? 0)
            guard least == 0 || frame.scale <= least, most == 0 || frame.scale >= most else { return nil }
            return LabelClass(info, number, layer: layer, columns: columns, scale: frame.symbolScale)
        }
    }

    private init?(_ info: JSONValue, _ number: Int, layer: LayerDefinition, columns: [String], scale: Double) {
        guard info["where"]?.stringValue?.isEmpty != false,
            let pieces = Self.pieces(info, number, layer: layer, columns: columns)
        else { return nil }
        self.pieces = pieces
        let symbol = info["symbol"]
        let letters = symbol?["font"]
        color = SwatchColor(symbol?["color"]) ?? .black
        let width = symbol?["haloSize"]?.doubleValue ?? 0
        halo = width > 0 ? SwatchColor(symbol?["haloColor"]) : nil
        haloWidth = SymbolDrawing.pixels(min(max(width, 0), 16)) * scale
        font = TextFont(
            family: String((letters?["family"]?.stringValue ?? "Noto Sans").prefix(64)),
            size: SymbolDrawing.pixels(min(max(letters?["size"]?.doubleValue ?? 9, 1), 144)) * scale,
            isBold: ["bold", "bolder"].contains(letters?["weight"]?.stringValue ?? ""),
            isItalic: ["italic", "oblique"].contains(letters?["style"]?.stringValue ?? ""))
        overlaps = info["deconflictionStrategy"]?.stringValue == "none"
        side = Self.side(info["labelPlacement"]?.stringValue ?? "", layer.geometryType ?? .point)
    }

    /// nil for an expression that can't be evaluated for every feature.
    private static func pieces(
        _ info: JSONValue, _ number: Int, layer: LayerDefinition, columns: [String]
    ) -> [Piece]? {
        guard let text = LabelText(info, layer: layer) else {
            // Features carry the text.
            return columns.firstIndex(of: DrawnExpressions.labelAttribute(number)).map {
                [.value(column: $0, codes: [:], isDate: false)]
            }
        }
        return text.pieces.compactMap { piece in
            switch piece {
            case .text(let text): return .text(text)
            case .value(let field, let codes):
                guard let column = columns.firstIndex(of: field) else { return nil }
                let names = Dictionary(codes.map { ($0.code, $0.name) }) { first, _ in first }
                return .value(column: column, codes: names, isDate: layer.field(named: field)?.type == .date)
            }
        }
    }

    private static func side(_ placement: String, _ geometry: LayerGeometryType) -> Side {
        let y: Double = placement.contains("Above") ? -1 : placement.contains("Below") ? 1 : 0
        guard geometry == .point || geometry == .multipoint else {
            return Side(x: 0, y: geometry == .polyline ? y : 0)
        }
        if placement.hasSuffix("Left") { return Side(x: -1, y: y) }
        if placement.hasSuffix("Right") { return Side(x: 1, y: y) }
        return placement.hasSuffix("Center") ? Side(x: 0, y: y) : Side(x: 1, y: -1)
    }

    /// What the label of a feature says; nil for a feature without one.
    func text(_ values: [DrawingValue]) -> String? {
        var result = ""
        for piece in pieces {
            switch piece {
            case .text(let text): result += text
            case .value(let column, let codes, let isDate):
                let value = values[column]
                if value == .null { continue }
                if isDate, case .integer(let milliseconds) = value {
                    result += Date(timeIntervalSince1970: Double(milliseconds) / 1_000).formatted(.iso8601)
                } else {
                    result += codes[value.text] ?? value.text
                }
            }
        }
        let shown = result.prefix(Limits.labelCharacters).filter { !$0.isASCII || $0 >= " " || $0 == "\n" }
        return shown.allSatisfy(\.isWhitespace) ? nil : String(shown)
    }
}
