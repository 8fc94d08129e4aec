public import FieldworkGeometry
public import Foundation
import Synchronization

/// A layer of ready images, tile by tile.
///
/// What changes is behind locks.
public class ImageTiledLayer: Layer, @unchecked Sendable {
    let described = Mutex(TiledDescription())

    override init() { super.init() }

    required init(copying original: Layer, _ context: MapCopy) { super.init(copying: original, context) }

    /// The image of a tile; nil where the layer has none. Not part of the vendor's API, whose map views ask by themselves.
    public func tile(at key: TileKey) async throws -> Data? { nil }

    /// The levels that there are tiles of, of a grid in Web Mercator that begins with one tile; after the layer is loaded.
    public var levels: ClosedRange<Int> { described.withLock { $0.levels } }
    /// Pixels of a tile across and down.
    public var tileSize: Int { described.withLock { $0.tileSize } }
    /// What the layer covers; nil before it is loaded.
    public override var fullExtent: Envelope? { described.withLock { $0.extent } }
    /// Web Mercator.
    public override var spatialReference: SpatialReference? { .webMercator }
    /// Who is to be named for what the layer shows.
    public override var attribution: String { described.withLock { $0.attribution } }
    override var defaultName: String { described.withLock { $0.name } }
}

/// The ready images of a map service, or of a file on this device.
///
/// ```swift
/// let layer = ArcGISTiledLayer(url: URL(string: "https://maps.example.org/arcgis/rest/services/Aerial/MapServer")!)
/// let map = Map(basemap: Basemap(baseLayer: layer))
/// ```
public final class ArcGISTiledLayer: ImageTiledLayer, @unchecked Sendable {
    /// The service; nil for a file.
    public let url: URL?
    /// The file; nil for a service.
    public let tileCache: TileCache?
    private let client: any ServiceClient

    /// The images of a map service. Loading throws `ServiceError`.
    public convenience init(url: URL) { self.init(url: url, client: HTTPServiceClient()) }

    init(url: URL, client: any ServiceClient) {
        self.url = url
        self.client = client
        tileCache = nil
        super.init()
    }

    /// The images of a file. Loading throws `CommonError.invalidArgument` for a file that holds none.
    public init(tileCache: TileCache) {
        self.tileCache = tileCache
        url = nil
        client = HTTPServiceClient()
        super.init()
    }

    required init(copying original: Layer, _ context: MapCopy) {
        let source = original as? ArcGISTiledLayer
        url = source?.url
        tileCache = source?.tileCache
        client = source?.client ?? HTTPServiceClient()
        super.init(copying: original, context)
    }

    private func source() async throws -> TiledSource? {
        if let tileCache { return try await tileCache.source() }
        return url.map { .service($0, client) }
    }

    override func loadContent(retries: Bool) async throws {
        guard let description = try await source()?.description() else { return }
        described.withLock { $0 = description }
    }

    /// The image of a tile; nil where the layer has none. Throws `ServiceError`.
    public override func tile(at key: TileKey) async throws -> Data? { try await source()?.tile(key) }
}

/// Images of any server whose addresses name level, column and row.
///
/// ```swift
/// let layer = WebTiledLayer(urlTemplate: "https://{subDomain}.tiles.example.org/{level}/{col}/{row}.png", subDomains: ["a", "b"])
/// layer.setAttribution("© the people of Example")
/// ```
public final class WebTiledLayer: ImageTiledLayer, @unchecked Sendable {
    /// An address with `{level}` (or `{z}`), `{col}` (or `{x}`), `{row}` (or `{y}`), and `{subDomain}` (or `{s}`).
    public let urlTemplate: String
    /// What takes the place of `{subDomain}`, in turns.
    public let subDomains: [String]
    private let client: any ServiceClient

    /// The images behind a template of addresses.
    public convenience init(urlTemplate: String, subDomains: [String] = []) {
        self.init(urlTemplate: urlTemplate, subDomains: subDomains, client: HTTPServiceClient())
    }

    init(urlTemplate: String, subDomains: [String], client: any ServiceClient) {
        self.urlTemplate = urlTemplate
        self.subDomains = subDomains
        self.client = client
        super.init()
        described.withLock { $0.tileSize = 256 }
    }

    required init(copying original: Layer, _ context: MapCopy) {
        let source = original as? WebTiledLayer
        urlTemplate = source?.urlTemplate ?? ""
        subDomains = source?.subDomains ?? []
        client = source?.client ?? HTTPServiceClient()
        super.init(copying: original, context)
        if let known = source?.described.withLock({ $0 }) { described.withLock { $0 = known } }
    }

    /// Says who is to be named for the images.
    public func setAttribution(_ attribution: String) { described.withLock { $0.attribution = attribution } }

    /// Throws `CommonError.invalidArgument` for a template that names no tile.
    override func loadContent(retries: Bool) async throws {
        guard address(of: TileKey(level: 0, row: 0, column: 0)) != nil else {
            throw CommonError.invalidArgument(
                details: "'\(urlTemplate.prefix(200))' is no template of addresses with a level, a column and a row.")
        }
    }

    /// The address of a tile; nil where the template names none.
    func address(of key: TileKey) -> URL? {
        let names = [
            ["{level}", "{z}"]: key.level, ["{col}", "{x}"]: key.column, ["{row}", "{y}"]: key.row,
        ]
        var text = urlTemplate
        for (forms, value) in names {
            guard forms.contains(where: text.contains) else { return nil }
            for form in forms { text = text.replacingOccurrences(of: form, with: String(value)) }
        }
        if !subDomains.isEmpty {
            let turn = subDomains[(key.row + key.column) % subDomains.count]
            for form in ["{subDomain}", "{subdomain}", "{s}"] {
                text = text.replacingOccurrences(of: form, with: turn)
            }
        }
        guard let url = URL(string: text), ["http", "https"].contains(url.scheme?.lowercased() ?? "") else {
            return nil
        }
        return url
    }

    /// The image of a tile; nil where the server has none. Throws `ServiceError`.
    public override func tile(at key: TileKey) async throws -> Data? {
        guard key.isValid, let url = address(of: key) else { return nil }
        return try await TiledSource.bytes(url, client)
    }
}

/// The map of OpenStreetMap in its own style, from the project's servers. Their rules of use hold.
///
/// ```swift
/// let map = Map(basemap: Basemap(baseLayer: OpenStreetMapLayer()))
/// ```
public final class OpenStreetMapLayer: ImageTiledLayer, @unchecked Sendable {
    private let tiles: WebTiledLayer

    /// The map of the whole world.
    public override init() {
        tiles = WebTiledLayer(urlTemplate: "https://tile.openstreetmap.org/{level}/{col}/{row}.png")
        super.init()
        described.withLock { described in
            described.name = "OpenStreetMap"
            described.attribution = "© OpenStreetMap contributors"
            described.tileSize = 256
            described.levels = 0...19
        }
    }

    required init(copying original: Layer, _ context: MapCopy) {
        let source = original as? OpenStreetMapLayer
        tiles = source.map { WebTiledLayer(copying: $0.tiles, context) } ?? WebTiledLayer(urlTemplate: "")
        super.init(copying: original, context)
        if let known = source?.described.withLock({ $0 }) { described.withLock { $0 = known } }
    }

    /// The image of a tile. Throws `ServiceError`.
    public override func tile(at key: TileKey) async throws -> Data? { try await tiles.tile(at: key) }
}
