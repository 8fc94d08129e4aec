import FieldworkGeometry
public import Foundation
import Synchronization

/// What a feature is drawn with. Drawing itself is the app's; `pngSwatch` and `svgSwatch` give small pictures.
///
/// What changes is behind a lock.
public class Symbol: @unchecked Sendable {
    /// The symbol as the protocol writes it; members that the SDK does not know are kept.
    private let content: Mutex<JSONObject>

    init(_ json: JSONObject) { content = Mutex(json) }

    /// The symbol that a renderer, a label or an outline names; nil for none. A kind that the SDK does not know is kept
    /// as a plain `Symbol`.
    static func make(_ json: JSONValue?) -> Symbol? {
        guard let object = json?.objectValue else { return nil }
        return switch object["type"]?.stringValue {
        case "esriSMS": SimpleMarkerSymbol(object)
        case "esriSLS": SimpleLineSymbol(object)
        case "esriSFS": SimpleFillSymbol(object)
        case "esriPMS": PictureMarkerSymbol(object)
        case "esriPFS": PictureFillSymbol(object)
        case "esriTS": TextSymbol(object)
        default: Symbol(object)
        }
    }

    /// Reads a symbol as the protocol and web maps write it. Throws `CommonError.invalidJSON`.
    public static func fromJSON(_ json: Data) throws -> Symbol {
        guard let symbol = make(try? JSONParser.parse(json)) else {
            throw CommonError.invalidJSON(details: "The text is not a symbol.")
        }
        return symbol
    }

    /// The symbol as the protocol and web maps write it.
    public func toJSON() -> Data { Data(json.text.utf8) }

    var json: JSONValue { .object(content.withLock { $0 }) }

    /// What is drawn of the symbol: itself, and for a symbol of layers the nearest simple one.
    var drawn: JSONValue {
        let json = json
        return json["type"] == "CIMSymbolReference" ? LayeredSymbol.simplified(json) ?? json : json
    }

    // MARK: Members

    func member(_ key: String) -> JSONValue? { content.withLock { $0[key] }.flatMap { $0.isNull ? nil : $0 } }

    func setMember(_ key: String, _ value: JSONValue?) { content.withLock { $0[key] = value } }

    func number(_ key: String) -> Double? { member(key)?.doubleValue }

    func setNumber(_ key: String, _ value: Double?) {
        setMember(key, value.flatMap { $0.isFinite ? .number($0) : nil })
    }

    func memberColor(_ key: String) -> SymbolColor? { SymbolColor(member(key)) }

    /// No colour is written as null: a missing member means the reader's own.
    func setColor(_ key: String, _ color: SymbolColor?) { setMember(key, color?.json ?? .null) }
}

/// A symbol at a point: it is turned and moved in points of 1/72 inch.
///
/// It has no state but that of `Symbol`, which is behind a lock.
public class MarkerSymbol: Symbol, @unchecked Sendable {
    /// Degrees against the clock.
    public var angle: Double {
        get { number("angle") ?? 0 }
        set { setNumber("angle", newValue) }
    }

    /// Points to the right.
    public var offsetX: Double {
        get { number("xoffset") ?? 0 }
        set { setNumber("xoffset", newValue) }
    }

    /// Points upwards.
    public var offsetY: Double {
        get { number("yoffset") ?? 0 }
        set { setNumber("yoffset", newValue) }
    }
}
