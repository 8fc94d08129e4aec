import FieldworkGeometry
public import Foundation
import Synchronization

/// Downloads a preplanned area. The services have made its files ahead of time, once for all crews: each crew gets the same bytes, and
/// goes on from there under an id of its own.
///
/// The package appears whole or not at all. A job that was paused, that failed, or whose process was killed goes on where it was; where
/// the author has prepared the area anew meanwhile, it begins with the newer files.
public final class DownloadPreplannedOfflineMapJob: Job, JobProtocol, @unchecked Sendable {
    static let kind = "DownloadPreplannedOfflineMap"

    /// The map of the area.
    public let onlineMap: Map?
    /// Where the package will be.
    public let downloadDirectoryURL: URL
    /// What of the area comes along.
    public let parameters: DownloadPreplannedOfflineMapParameters
    private let task: OfflineMapTask
    private let id: UUID
    private let child = Mutex<GenerateOfflineMapJob?>(nil)

    init(task: OfflineMapTask, parameters: DownloadPreplannedOfflineMapParameters, folder: URL) {
        self.task = task
        onlineMap = task.onlineMap
        self.parameters = parameters
        downloadDirectoryURL = folder
        id = task.environment.makeID()
        super.init(isResumed: false)
    }

    init(snapshot: JSONValue, environment: ServiceEnvironment? = nil) throws {
        func item(_ name: String) -> PortalItem? {
            snapshot[name]?.stringValue.flatMap(URL.init(string:)).flatMap {
                PortalItem(url: $0, environment: environment)
            }
        }
        guard let path = snapshot["directory"]?.stringValue, let area = item("area"), let map = item("map"),
            let id = snapshot["id"]?.stringValue.flatMap(UUID.init)
        else { throw CommonError.invalidJSON(details: "The state of the job is not complete.") }
        task = OfflineMapTask(portalItem: map)
        onlineMap = task.onlineMap
        self.id = id
        parameters = DownloadPreplannedOfflineMapParameters(
            json: snapshot["parameters"] ?? [:], area: PreplannedMapArea(portalItem: area))
        downloadDirectoryURL = URL(filePath: path)
        super.init(isResumed: true)
    }

    override func snapshot() -> JSONValue {
        var object = JSONObject()
        object.append("job", .string(Self.kind))
        object.append("id", .string(id.uuidString))
        object.append("directory", .string(downloadDirectoryURL.path))
        object.append("parameters", parameters.json)
        object.append("area", .string(parameters.preplannedMapArea.portalItem.itemURL.absoluteString))
        if let item = task.portalItem { object.append("map", .string(item.itemURL.absoluteString)) }
        return .object(object)
    }

    /// The offline map and its package. Throws the job's error.
    public var output: DownloadPreplannedOfflineMapResult {
        get async throws { try await outcome(as: DownloadPreplannedOfflineMapResult.self) }
    }

    /// Bytes of the file that is coming now, that are on this device and in all; nil while none comes. Not part of the vendor's API.
    public var arrived: GenerateGeodatabaseJob.Arrival? { child.withLock { $0 }?.arrived }

    override func discard() async { await child.withLock { $0 }?.discard() }

    // MARK: Work

    override func work() async throws -> any Sendable {
        tell("Asking the portal for the area.")
        try await task.load()
        let former = try await parameters.preplannedMapArea.readPackage()
        var job = try download(of: former)
        // What was begun of files that have been replaced is of no use.
        if let begun = job.begunReferences, begun != former.references { await job.discard() }
        do {
            return DownloadPreplannedOfflineMapResult(try await run(job))
        } catch let error where GenerateOfflineMapJob.isOutdated(error) {
            let newer = try await parameters.preplannedMapArea.readPackage()
            guard newer.references != former.references else { throw error }
            tell("The area was prepared anew meanwhile: the newer files come.", severity: .warning)
            await job.discard()
            job = try download(of: newer)
            return DownloadPreplannedOfflineMapResult(try await run(job))
        }
    }

    private func download(of package: MapAreaPackage) throws -> GenerateOfflineMapJob {
        guard let map = task.onlineMap, let area = parameters.preplannedMapArea.areaOfInterest else {
            throw MappingError.notLoaded(details: "The area is not loaded.")
        }
        let item = parameters.preplannedMapArea.portalItem
        let wanted = GenerateOfflineMapParameters(
            areaOfInterest: area, minScale: package.minScale, maxScale: package.maxScale)
        wanted.includesBasemap = parameters.includesBasemap
        wanted.continuesOnErrors = parameters.continuesOnErrors
        wanted.updateMode = parameters.updateMode == .syncWithFeatureServices ? .syncWithFeatureServices : .noUpdates
        if parameters.updateMode == .downloadScheduledUpdates { wanted.scheduledArea = item.itemURL }
        let info = OfflineMapItemInfo()
        (info.title, info.snippet, info.description) = (item.title, item.snippet, item.description)
        info.addTags(item.tags)
        wanted.itemInfo = info
        let job = GenerateOfflineMapJob(
            map: map, parameters: wanted, folder: downloadDirectoryURL, plan: try package.plan(parameters, of: map),
            environment: task.environment, id: id)
        child.withLock { $0 = job }
        return job
    }

    private func run(_ job: GenerateOfflineMapJob) async throws -> GenerateOfflineMapResult {
        let watch = Task { [weak self] in
            while !Task.isCancelled {
                self?.advance(to: Int(job.progress.completedUnitCount))
                try? await Task.sleep(for: .milliseconds(Limits.firstPollMilliseconds))
            }
        }
        defer {
            watch.cancel()
            for message in job.messages { tell(message.message, severity: message.severity, source: message.source) }
        }
        job.start()
        return try await withTaskCancellationHandler {
            try await job.output
        } onCancel: {
            job.pause()
        }
    }
}

/// A preplanned area that was downloaded.
public final class DownloadPreplannedOfflineMapResult: Sendable {
    /// The map, ready to load.
    public let offlineMap: Map
    /// Its package, which is loaded.
    public let mobileMapPackage: MobileMapPackage
    /// The layers that did not come along, with the reasons.
    public let layerErrors: [Layer: any Error]
    /// The tables that did not come along, with the reasons.
    public let tableErrors: [FeatureTable: any Error]
    /// Whether something did not come along.
    public var hasErrors: Bool { !layerErrors.isEmpty || !tableErrors.isEmpty }

    init(_ result: GenerateOfflineMapResult) {
        (offlineMap, mobileMapPackage) = (result.offlineMap, result.mobileMapPackage)
        (layerErrors, tableErrors) = (result.layerErrors, result.tableErrors)
    }
}
