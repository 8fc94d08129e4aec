public import FieldworkGeometry
public import Foundation
import Synchronization

/// Vector tiles of a service or of a file on this device, with the style that draws them.
///
/// ```swift
/// let streets = ArcGISVectorTiledLayer(
///     url: URL(string: "https://maps.example.org/arcgis/rest/services/Streets/VectorTileServer")!)
/// try await streets.load()
/// print(streets.attribution)
/// ```
///
/// What changes is behind locks.
public final class ArcGISVectorTiledLayer: Layer, @unchecked Sendable {
    /// The service, or the style of one; nil for a file.
    public let url: URL?
    /// The file; nil for a service.
    public let vectorTileCache: VectorTileCache?
    private let client: any ServiceClient
    private let described = Mutex(TiledDescription())

    /// The tiles of a service. The address is that of the service (`…/VectorTileServer`) or of one of its styles
    /// (`…/VectorTileServer/resources/styles/root.json`). Loading throws `ServiceError`.
    public convenience init(url: URL) { self.init(url: url, client: HTTPServiceClient()) }

    init(url: URL, client: any ServiceClient) {
        self.url = url
        self.client = client
        vectorTileCache = nil
        super.init()
    }

    /// The tiles of a file. Loading throws `CommonError.invalidArgument` for a file that holds none.
    public init(vectorTileCache: VectorTileCache) {
        self.vectorTileCache = vectorTileCache
        url = nil
        client = HTTPServiceClient()
        super.init()
    }

    required init(copying original: Layer, _ context: MapCopy) {
        let source = original as? ArcGISVectorTiledLayer
        url = source?.url
        vectorTileCache = source?.vectorTileCache
        client = source?.client ?? HTTPServiceClient()
        super.init(copying: original, context)
    }

    private var serviceURL: URL? { url.map(Self.serviceURL) }

    /// The address of the service itself, of any address within it: `…/VectorTileServer` of `…/VectorTileServer/resources/styles`.
    static func serviceURL(of url: URL) -> URL {
        var service = url
        while service.lastPathComponent != "VectorTileServer", service.pathComponents.count > 1 {
            service.deleteLastPathComponent()
        }
        return service.lastPathComponent == "VectorTileServer" ? service : url
    }

    private func source() async throws -> TiledSource? {
        if let vectorTileCache { return try await vectorTileCache.source() }
        return serviceURL.map { .service($0, client) }
    }

    override func loadContent(retries: Bool) async throws {
        guard let description = try await source()?.description() else { return }
        described.withLock { $0 = description }
    }

    /// The levels that there are tiles of; maps enlarge the deepest ones. After the layer is loaded.
    public var levels: ClosedRange<Int> { described.withLock { $0.levels } }
    /// What the layer covers; nil before it is loaded.
    public override var fullExtent: Envelope? { described.withLock { $0.extent } }
    /// Web Mercator.
    public override var spatialReference: SpatialReference? { .webMercator }
    /// Who is to be named for what the layer shows.
    public override var attribution: String { described.withLock { $0.attribution } }
    override var defaultName: String { described.withLock { $0.name } }

    /// A tile, a Mapbox vector tile; nil where there is none. Not part of the vendor's API, whose map views ask by themselves.
    /// Throws `ServiceError`.
    public func tile(at key: TileKey) async throws -> Data? { try await source()?.tile(key) }

    /// The style, a document of MapLibre's style specification whose addresses are relative to it. Not part of the vendor's
    /// API.
    /// - Parameter variant: one of the service's looks, such as `dark`; a service without looks gives its only one.
    /// - Returns: nil where the source has none.
    public func style(variant: String? = nil) async throws -> Data? {
        if let url, url != serviceURL { return try await TiledSource.bytes(url, client) }
        if let serviceURL, let variant {
            let address = serviceURL.appending(path: "resources/styles/root.json")
                .appending(queryItems: [URLQueryItem(name: "style", value: variant)])
            return try await TiledSource.bytes(address, client)
        }
        return try await source()?.style(variant)
    }

    /// A file that the style names: `sprites/sprite.json`, `sprites/sprite.png`, `fonts/NAME/0-255.pbf`. Not part of the
    /// vendor's API.
    /// - Returns: nil where the source has none.
    public func resource(_ path: String) async throws -> Data? {
        // A path with `..` would lead out of the service.
        guard !path.split(separator: "/").contains(".."), !path.isEmpty else { return nil }
        return try await source()?.resource(path)
    }
}
