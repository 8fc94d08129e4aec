import FieldworkGeometry
import FieldworkREST
import Foundation

/// A symbol of the protocol as it is drawn: lengths in pixels of the image.
enum SymbolLook: Sendable, Hashable {
    case marker(MarkerLook)
    case picture(PictureLook)
    case line(SymbolStroke)
    case area(AreaLook)
    case nothing

    struct PictureLook: Sendable, Hashable {
        /// PNG or JPEG.
        var bytes: [UInt8]
        var width: Double
        var height: Double
        /// Degrees against the clock.
        var angle: Double
        var offset: SIMD2<Double>
    }

    struct AreaLook: Sendable, Hashable {
        var color: SwatchColor?
        var hatch: FillHatch?
        /// What the area is tiled with.
        var picture: PictureLook?
        var outline: SymbolStroke?
    }

    /// - Parameters:
    ///   - geometry: decides what is drawn for a symbol that is of no known kind; nil draws nothing then.
    ///   - scale: pixels of the image on a pixel of 96 to the inch.
    init(_ symbol: JSONValue, for geometry: LayerGeometryType?, scale: Double) {
        switch symbol["type"]?.stringValue {
        case "esriSMS": self = .marker(MarkerLook(symbol, scale: scale))
        case "esriPMS":
            self = Self.picture(symbol, scale).map { .picture($0) } ?? .marker(MarkerLook(symbol, scale: scale))
        case "esriSLS": self = SymbolStroke(symbol, scale: scale).map { .line($0) } ?? .nothing
        case "esriSFS", "esriPFS":
            let style = symbol["style"]?.stringValue ?? ""
            self = .area(
                AreaLook(
                    color: style == "esriSFSNull" ? nil : SwatchColor(symbol["color"]),
                    hatch: FillHatch(style: style), picture: Self.picture(symbol, scale),
                    outline: SymbolStroke(symbol["outline"], scale: scale)))
        default:
            guard let geometry else {
                self = .nothing
                return
            }
            self = SymbolLook(SymbolDrawing.plain(geometry), for: nil, scale: scale)
        }
    }

    private static func picture(_ symbol: JSONValue, _ scale: Double) -> PictureLook? {
        guard let text = symbol["imageData"]?.stringValue, text.utf8.count <= Limits.symbolPictureBytes * 4 / 3 + 4,
            let data = Data(base64Encoded: text), !data.isEmpty
        else { return nil }
        func pixels(_ name: String) -> Double {
            min(max(SymbolDrawing.pixels(symbol[name]?.doubleValue ?? 15), 1), 256) * scale
        }
        return PictureLook(
            bytes: Array(data), width: pixels("width"), height: pixels("height"),
            angle: SymbolDrawing.angle(symbol), offset: SymbolDrawing.offset(symbol) * scale)
    }

    /// The picture that the symbol is drawn with.
    var picture: PictureLook? {
        switch self {
        case .picture(let picture): picture
        case .area(let area): area.picture
        case .marker, .line, .nothing: nil
        }
    }

    /// Pixels that the symbol reaches from its place.
    var reach: Double {
        switch self {
        case .marker(let marker):
            let outline = marker.outline?.width ?? 0
            return marker.radius * 1.5 + outline + max(abs(marker.offset.x), abs(marker.offset.y))
        case .picture(let picture):
            return max(picture.width, picture.height) + max(abs(picture.offset.x), abs(picture.offset.y))
        case .line(let stroke): return stroke.width
        case .area(let area): return area.outline?.width ?? 0
        case .nothing: return 0
        }
    }
}
