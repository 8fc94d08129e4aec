public import FieldworkGeometry
public import Foundation
import Synchronization

/// Takes a part of a map service's ready images along.
///
/// ```swift
/// let task = ExportTileCacheTask(url: serviceURL)
/// let parameters = try await task.makeDefaultExportTileCacheParameters(
///     areaOfInterest: area, minScale: 0, maxScale: 5_000)
/// let size = task.makeEstimateTileCacheSizeJob(parameters: parameters)
/// size.start()
/// print(try await size.output.fileSize)
/// let job = task.makeExportTileCacheJob(parameters: parameters, downloadFileURL: file)
/// job.start()
/// let layer = ArcGISTiledLayer(tileCache: try await job.output)
/// ```
///
/// What changes is behind locks or in `Streamed`, which locks for itself.
public final class ExportTileCacheTask: Loadable, @unchecked Sendable {
    /// How far the loading has come.
    @Streamed public internal(set) var loadStatus = LoadStatus.notLoaded
    /// The service, `…/MapServer`.
    public let url: URL
    private let environment: ServiceEnvironment
    private let loading: LoadOnce
    private let service = Mutex(TileExportAbility())

    /// A task for a map service of ready images.
    public convenience init(url: URL) { self.init(url: url, environment: .standard) }

    init(url: URL, environment: ServiceEnvironment) {
        self.url = url
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

    /// Parameters for an area: the levels that a map shows between two scales.
    /// - Parameters:
    ///   - areaOfInterest: a polygon or an envelope, in any reference.
    ///   - minScale: the scale to zoom out to, as a denominator; 0 for the service's first level.
    ///   - maxScale: the scale to zoom in to, as a denominator; 0 for its deepest level.
    /// - Throws: `ServiceError`; `CommonError.propertyNotSupported` for a service that gives no parts of its tiles.
    public func makeDefaultExportTileCacheParameters(
        areaOfInterest: Geometry, minScale: Double, maxScale: Double
    ) async throws -> ExportTileCacheParameters {
        try await load()
        let ability = service.withLock { $0 }
        try ability.require(url)
        let parameters = ExportTileCacheParameters()
        parameters.areaOfInterest = areaOfInterest
        parameters.addLevelIDs(ability.levels(minScale: minScale, maxScale: maxScale))
        return parameters
    }

    /// A job that takes the images along; it is not started.
    /// - Parameters:
    ///   - parameters: the area and the levels.
    ///   - downloadFileURL: where the package will be, a `.tpkx`. There must be none yet.
    public func makeExportTileCacheJob(
        parameters: ExportTileCacheParameters, downloadFileURL: URL
    ) -> ExportTileCacheJob {
        ExportTileCacheJob(
            parameters: parameters,
            download: TilePackageDownload(
                serviceURL: url, file: downloadFileURL, isVector: false, environment: environment))
    }

    /// A job that asks the service how large the package would be; it is not started.
    public func makeEstimateTileCacheSizeJob(parameters: ExportTileCacheParameters) -> EstimateTileCacheSizeJob {
        EstimateTileCacheSizeJob(serviceURL: url, parameters: parameters, environment: environment)
    }
}

/// Which part of a map service's images is taken along.
public final class ExportTileCacheParameters: Sendable {
    private struct Values: Sendable {
        var area: Geometry?
        var levels: [Int] = []
        var compressionQuality = 75.0
    }

    private let state = Mutex(Values())

    /// Parameters that name nothing yet.
    public init() {}

    /// A polygon or an envelope, in any reference; nil for all that there is.
    public var areaOfInterest: Geometry? {
        get { state.withLock { $0.area } }
        set { state.withLock { $0.area = newValue } }
    }

    /// The levels, in the service's numbers.
    public var levelIDs: [Int] { state.withLock { $0.levels } }

    /// Adds levels. Those that are there already are not added again.
    public func addLevelIDs(_ ids: [Int]) {
        state.withLock { state in
            for id in ids where !state.levels.contains(id) { state.levels.append(id) }
        }
    }

    /// Takes all levels away.
    public func removeAllLevelIDs() { state.withLock { $0.levels = [] } }

    /// How well images are kept that the service compresses anew, from 0 to 100. Services of ours give them as they are.
    public var compressionQuality: Double {
        get { state.withLock { $0.compressionQuality } }
        set { state.withLock { $0.compressionQuality = min(max(0, newValue), 100) } }
    }

    func form(for service: URL) throws -> [(name: String, value: String)] {
        guard !levelIDs.isEmpty else {
            throw CommonError.invalidArgument(details: "No levels of the tiles are named: add them first.")
        }
        // Services of vector tiles, which can be estimated as well, have their own word for a polygon.
        let isVector = service.lastPathComponent == "VectorTileServer"
        return try TileExportClient.form(
            area: areaOfInterest, levels: levelIDs, polygonName: isVector ? "polygon" : "areaOfInterest")
            + [("compressionQuality", String(Int(compressionQuality)))]
    }

    var json: JSONValue {
        var object = JSONObject()
        if let area = areaOfInterest { object.append("area", GeoServicesJSON.json(for: area)) }
        object.append("levels", .array(levelIDs.map { JSONValue($0) }))
        object.append("compressionQuality", .number(compressionQuality))
        return .object(object)
    }

    convenience init(json: JSONValue) throws {
        self.init()
        areaOfInterest = try json["area"].flatMap { try GeoServicesJSON.geometry(from: $0) }
        addLevelIDs((json["levels"]?.arrayValue ?? []).compactMap { $0.integerValue.flatMap { Int(exactly: $0) } })
        compressionQuality = json["compressionQuality"]?.doubleValue ?? compressionQuality
    }
}

/// Takes images along. The package appears whole or not at all; a job that was broken off goes on where it was, also in another
/// process by ``Job/fromJSON(_:)``.
public final class ExportTileCacheJob: Job, JobProtocol, @unchecked Sendable {
    static let kind = "ExportTileCache"

    /// What is taken along.
    public let parameters: ExportTileCacheParameters
    private let download: TilePackageDownload

    init(parameters: ExportTileCacheParameters, download: TilePackageDownload) {
        self.parameters = parameters
        self.download = download
        super.init(isResumed: false)
    }

    init(snapshot: JSONValue, environment: ServiceEnvironment = .standard) throws {
        parameters = try ExportTileCacheParameters(json: snapshot["parameters"] ?? [:])
        download = try TilePackageDownload(snapshot: snapshot, isVector: false, environment: environment)
        super.init(isResumed: true)
    }

    /// Where the package will be.
    public var downloadFileURL: URL { download.file }
    override public var serverJobID: String { download.serverJobID }
    /// The package, not yet loaded. Throws the job's error.
    public var output: TileCache { get async throws { try await outcome(as: TileCache.self) } }
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
        try await download.run(parameters.form(for: download.serviceURL), for: self)
        return TileCache(fileURL: download.file)
    }
}

/// How large a package of images would be.
public final class EstimateTileCacheSizeResult: Sendable {
    /// Bytes, about.
    public let fileSize: Int64
    /// How many tiles it would have.
    public let tileCount: Int

    init(fileSize: Int64, tileCount: Int) {
        self.fileSize = fileSize
        self.tileCount = tileCount
    }
}

/// Asks a service how large a package would be.
public final class EstimateTileCacheSizeJob: Job, JobProtocol, @unchecked Sendable {
    static let kind = "EstimateTileCacheSize"

    /// What would be taken along.
    public let parameters: ExportTileCacheParameters
    private let serviceURL: URL
    private let environment: ServiceEnvironment

    init(serviceURL: URL, parameters: ExportTileCacheParameters, environment: ServiceEnvironment) {
        self.serviceURL = serviceURL
        self.parameters = parameters
        self.environment = environment
        super.init(isResumed: false)
    }

    init(snapshot: JSONValue, environment: ServiceEnvironment = .standard) throws {
        guard let service = snapshot["service"]?.stringValue.flatMap(URL.init(string:)) else {
            throw CommonError.invalidJSON(details: "The state of the job is not complete.")
        }
        serviceURL = service
        parameters = try ExportTileCacheParameters(json: snapshot["parameters"] ?? [:])
        self.environment = environment
        super.init(isResumed: true)
    }

    /// How large the package would be. Throws the job's error.
    public var output: EstimateTileCacheSizeResult {
        get async throws { try await outcome(as: EstimateTileCacheSizeResult.self) }
    }

    override func snapshot() -> JSONValue {
        [
            "job": .string(Self.kind), "service": .string(serviceURL.absoluteString), "parameters": parameters.json,
        ]
    }

    override func work() async throws -> any Sendable {
        let service = TileExportClient(root: serviceURL, client: environment.client)
        let estimate = try await service.estimate(parameters.form(for: serviceURL), id: environment.makeID())
        return EstimateTileCacheSizeResult(fileSize: estimate.bytes, tileCount: estimate.tiles)
    }
}
