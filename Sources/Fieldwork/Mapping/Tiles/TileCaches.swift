import FieldworkTiles
public import Foundation

/// Ready images of a map in a file on this device: a tile package (`.tpkx`), MBTiles, PMTiles, or a GeoPackage with tiles.
///
/// ```swift
/// let layer = ArcGISTiledLayer(tileCache: TileCache(fileURL: folder.appending(path: "city.tpkx")))
/// ```
///
/// What changes is in `Streamed`, which locks for itself.
public final class TileCache: Loadable, @unchecked Sendable {
    /// How far the loading has come.
    @Streamed public internal(set) var loadStatus = LoadStatus.notLoaded
    /// The file.
    public let fileURL: URL
    private let file: TileFile

    /// The tiles of a file, which is read when it is loaded.
    public init(fileURL: URL) {
        self.fileURL = fileURL
        file = TileFile(FileSection(fileURL), isVector: false)
        loading = LoadOnce(status: _loadStatus)
    }

    init(_ part: FileSection) {
        fileURL = part.url
        file = TileFile(part, isVector: false)
        loading = LoadOnce(status: _loadStatus)
    }

    private let loading: LoadOnce
    /// Why the last attempt failed.
    public var loadError: (any Error)? { loading.error }

    /// Opens the file. Throws `CommonError.invalidArgument` for one that holds no images of a map.
    public func load() async throws { try await loading.load(retries: false) { [file] in try file.open() } }

    /// Like `load`, but starts again after a failure.
    public func retryLoad() async throws { try await loading.load(retries: true) { [file] in try file.open() } }

    /// Makes a load that is under way fail with `CancellationError`.
    public func cancelLoad() { loading.cancel() }

    func source() async throws -> TiledSource {
        try await load()
        return .package(try file.opened())
    }
}

/// Vector tiles in a file on this device: a vector tile package (`.vtpk`), MBTiles or PMTiles.
///
/// ```swift
/// let layer = ArcGISVectorTiledLayer(vectorTileCache: VectorTileCache(fileURL: folder.appending(path: "city.vtpk")))
/// ```
///
/// What changes is in `Streamed`, which locks for itself.
public final class VectorTileCache: Loadable, @unchecked Sendable {
    /// How far the loading has come.
    @Streamed public internal(set) var loadStatus = LoadStatus.notLoaded
    /// The file.
    public let fileURL: URL
    private let file: TileFile

    /// The tiles of a file, which is read when it is loaded.
    public init(fileURL: URL) {
        self.fileURL = fileURL
        file = TileFile(FileSection(fileURL), isVector: true)
        loading = LoadOnce(status: _loadStatus)
    }

    init(_ part: FileSection) {
        fileURL = part.url
        file = TileFile(part, isVector: true)
        loading = LoadOnce(status: _loadStatus)
    }

    private let loading: LoadOnce
    /// Why the last attempt failed.
    public var loadError: (any Error)? { loading.error }

    /// Opens the file. Throws `CommonError.invalidArgument` for one that holds no vector tiles.
    public func load() async throws { try await loading.load(retries: false) { [file] in try file.open() } }

    /// Like `load`, but starts again after a failure.
    public func retryLoad() async throws { try await loading.load(retries: true) { [file] in try file.open() } }

    /// Makes a load that is under way fail with `CancellationError`.
    public func cancelLoad() { loading.cancel() }

    func source() async throws -> TiledSource {
        try await load()
        return .package(try file.opened())
    }
}
