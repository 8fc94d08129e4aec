import FieldworkGeometry
public import Foundation

/// A picture at a point.
///
/// It has no state but that of `Symbol`, which is behind a lock.
public final class PictureMarkerSymbol: MarkerSymbol, @unchecked Sendable {
    /// A picture from the network, drawn in its own size.
    public init(url: URL) {
        super.init(JSONObject(["type": "esriPMS", "url": .string(url.absoluteString), "angle": 0]))
    }

    override init(_ json: JSONObject) { super.init(json) }

    /// Where the picture lies; relative to the layer where it comes from a service.
    public var url: URL? { SymbolPicture(self).url }
    /// The picture itself, where the symbol holds it; it goes before the address.
    public var imageData: Data? { SymbolPicture(self).data }
    /// The picture's media type; empty when it is not said.
    public var contentType: String { member("contentType")?.stringValue ?? "" }

    /// In points of 1/72 inch; nil for the picture's own.
    public var width: Double? {
        get { number("width") }
        set { setNumber("width", newValue) }
    }

    /// In points of 1/72 inch; nil for the picture's own.
    public var height: Double? {
        get { number("height") }
        set { setNumber("height", newValue) }
    }
}

/// An area that is filled with a picture.
///
/// It has no state but that of `Symbol`, which is behind a lock.
public final class PictureFillSymbol: Symbol, @unchecked Sendable {
    override init(_ json: JSONObject) { super.init(json) }

    /// Where the picture lies; relative to the layer where it comes from a service.
    public var url: URL? { SymbolPicture(self).url }
    /// The picture itself, where the symbol holds it; it goes before the address.
    public var imageData: Data? { SymbolPicture(self).data }

    /// The line around the area; nil for none.
    public var outline: SimpleLineSymbol? {
        get { member("outline")?.objectValue.map(SimpleLineSymbol.init) }
        set { setMember("outline", newValue?.json) }
    }
}

/// The picture that a symbol holds or names.
struct SymbolPicture {
    /// Kinds of pictures that a page shows without running anything in them.
    static let safeTypes: Set<String> = ["image/png", "image/jpeg", "image/gif", "image/bmp"]

    let url: URL?
    /// nil for none, and for more than the limit.
    let data: Data?

    init(_ symbol: Symbol) {
        url = symbol.member("url")?.stringValue.flatMap { URL(string: $0) }
        let text = symbol.member("imageData")?.stringValue
        data = text.flatMap { text in
            guard text.utf8.count <= Limits.symbolPictureBytes, let data = Data(base64Encoded: text), !data.isEmpty
            else { return nil }
            return data
        }
    }
}
