public import FieldworkGeometry
public import Foundation
import Synchronization

/// Takes a part of a service's vector tiles along, with the style, the pictures and the fonts that draw them.
///
/// ```swift
/// let task = ExportVectorTilesTask(url: serviceURL)
/// let parameters = try await task.makeDefaultExportVectorTilesParameters(areaOfInterest: area, maxScale: 5_000)
/// let job = task.makeExportVectorTilesJob(parameters: parameters, downloadFileURL: file)
/// job.start()
/// let layer = ArcGISVectorTiledLayer(vectorTileCache: try await job.output.vectorTileCache)
/// ```
///
/// What changes is behind locks or in `Streamed`, which locks for itself.
public final class ExportVectorTilesTask: Loadable, @unchecked Sendable {
    /// How far the loading has come.
    @Streamed public internal(set) var loadStatus = LoadStatus.notLoaded
    /// The service, `…/VectorTileServer`.
    public let url: URL
    private let environment: ServiceEnvironment
    private let loading: LoadOnce
    private let service = Mutex(TileExportAbility())

    /// A task for a service of vector tiles, by its address or that of one of its styles.
    public convenience init(url: URL) { self.init(url: url, environment: .standard) }

    init(url: URL, environment: ServiceEnvironment) {
        self.url = ArcGISVectorTiledLayer.serviceURL(of: url)
        self.environment = environment
        loading = LoadOnce(status: _loadStatus)
    }

    /// Why the last attempt failed.
    public var loadError: (any Error)? { loading.error }

    /// Reads what the service is. Throws `ServiceError`.
    public func load() async throws { try await load(retries: false) }

    /// Like `load`, but starts again after a failure.
    public func retryLoad() async throws { try await load(retries: true) }

    /// Makes a load that is under way fail with `CancellationError`.
    public func cancelLoad() { loading.cancel() }

    private func load(retries: Bool) async throws {
        try await loading.load(retries: retries) { [self] in
            let json = try await TileExportClient(root: url, client: environment.client).description()
            service.withLock { $0 = TileExportAbility(json) }
        }
    }

    /// Whether the service lets parts of it be taken along; false before the task is loaded.
    public var exportTilesAllowed: Bool { service.withLock { $0.isAllowed } }

    /// The most tiles that the service gives at once; 0 for no limit that it tells.
    public var maxExportTilesCount: Int { service.withLock { $0.maximum } }

    /// Which version of its tiles the service has: parts that were taken of one version fit together. nil for a service that does not
    /// tell, as those of others don't, and before the task is loaded. Not part of the vendor's API.
    public var tilesVersion: String? { service.withLock { $0.version } }

    /// Parameters for an area: all levels from the service's first to the one that a map shows at a scale.
    /// - Parameters:
    ///   - areaOfInterest: a polygon or an envelope, in any reference.
    ///   - maxScale: the scale to zoom in to, as a denominator; 0 for the deepest level of the service.
    /// - Throws: `ServiceError`; `CommonError.propertyNotSupported` for a service that gives no parts of its tiles.
    public func makeDefaultExportVectorTilesParameters(
        areaOfInterest: Geometry, maxScale: Double = 0
    ) async throws -> ExportVectorTilesParameters {
        try await load()
        let ability = service.withLock { $0 }
        try ability.require(url)
        let parameters = ExportVectorTilesParameters()
        parameters.areaOfInterest = areaOfInterest
        parameters.maxLevel = ability.levels(minScale: 0, maxScale: maxScale).last
        return parameters
    }

    /// A job that takes the tiles along; it is not started.
    /// - Parameters:
    ///   - parameters: the area and the levels.
    ///   - downloadFileURL: where the package will be, a `.vtpk`. There must be none yet.
    public func makeExportVectorTilesJob(
        parameters: ExportVectorTilesParameters, downloadFileURL: URL
    ) -> ExportVectorTilesJob {
        ExportVectorTilesJob(
            parameters: parameters,
            download: TilePackageDownload(
                serviceURL: url, file: downloadFileURL, isVector: true, environment: environment),
            environment: environment)
    }
}

/// Which part of a service's vector tiles is taken along.
public final class ExportVectorTilesParameters: Sendable {
    private struct Values: Sendable {
        var area: Geometry?
        var maxLevel: Int?
    }

    private let state = Mutex(Values())

    /// Parameters that name nothing yet.
    public init() {}

    /// A polygon or an envelope, in any reference; nil for all that there is.
    public var areaOfInterest: Geometry? {
        get { state.withLock { $0.area } }
        set { state.withLock { $0.area = newValue } }
    }

    /// The deepest level, of tiles of 512 pixels; nil for the service's deepest.
    public var maxLevel: Int? {
        get { state.withLock { $0.maxLevel } }
        set { state.withLock { $0.maxLevel = newValue } }
    }

    var json: JSONValue {
        var object = JSONObject()
        if let area = areaOfInterest { object.append("area", GeoServicesJSON.json(for: area)) }
        if let maxLevel { object.append("maxLevel", JSONValue(maxLevel)) }
        return .object(object)
    }

    convenience init(json: JSONValue) throws {
        self.init()
        areaOfInterest = try json["area"].flatMap { try GeoServicesJSON.geometry(from: $0) }
        maxLevel = json["maxLevel"]?.integerValue.flatMap { Int(exactly: $0) }
    }
}

/// What was taken along of vector tiles.
public final class ExportVectorTilesResult: Sendable {
    /// The package, with its style, pictures and fonts.
    public let vectorTileCache: VectorTileCache

    init(vectorTileCache: VectorTileCache) { self.vectorTileCache = vectorTileCache }
}

/// Takes vector tiles along. The package appears whole or not at all; a job that was broken off goes on where it was, also in
/// another process by ``Job/fromJSON(_:)``.
public final class ExportVectorTilesJob: Job, JobProtocol, @unchecked Sendable {
    static let kind = "ExportVectorTiles"

    /// What is taken along.
    public let parameters: ExportVectorTilesParameters
    private let download: TilePackageDownload
    private let environment: ServiceEnvironment

    init(parameters: ExportVectorTilesParameters, download: TilePackageDownload, environment: ServiceEnvironment) {
        self.parameters = parameters
        self.download = download
        self.environment = environment
        super.init(isResumed: false)
    }

    init(snapshot: JSONValue, environment: ServiceEnvironment = .standard) throws {
        parameters = try ExportVectorTilesParameters(json: snapshot["parameters"] ?? [:])
        download = try TilePackageDownload(snapshot: snapshot, isVector: true, environment: environment)
        self.environment = environment
        super.init(isResumed: true)
    }

    /// Where the package will be.
    public var downloadFileURL: URL { download.file }
    override public var serverJobID: String { download.serverJobID }
    /// The package. Throws the job's error.
    public var output: ExportVectorTilesResult {
        get async throws { try await outcome(as: ExportVectorTilesResult.self) }
    }
    /// Bytes that are on this device, of those of the package. Not part of the vendor's API.
    public var arrived: GenerateGeodatabaseJob.Arrival? { download.arrived }

    override func snapshot() -> JSONValue {
        var object = download.snapshot
        object["job"] = .string(Self.kind)
        object["parameters"] = parameters.json
        return .object(object)
    }

    override public func checkStatus() async throws {
        if let word = try await download.word() { tell(word, source: .service) }
    }

    override func discard() async { download.discard() }

    override func work() async throws -> any Sendable {
        let service = TileExportClient(root: download.serviceURL, client: environment.client)
        let ability = TileExportAbility(try await service.description())
        try ability.require(download.serviceURL)
        let levels = ability.levels.filter { $0 <= parameters.maxLevel ?? Int.max }
        guard !levels.isEmpty else {
            throw CommonError.invalidArgument(details: "The service has no tiles up to that level.")
        }
        let form = try TileExportClient.form(
            area: parameters.areaOfInterest, levels: levels, polygonName: "polygon")
        try await download.run(form, for: self)
        return ExportVectorTilesResult(vectorTileCache: VectorTileCache(fileURL: download.file))
    }
}
