import FieldworkGeometry
public import Foundation
import Synchronization

/// Takes a whole map along. Its package appears whole or not at all: until then all lies in a folder beside it, whose name ends in
/// `.making`. A job that was paused, that failed, or whose process was killed goes on where it was: what is there already is not asked
/// for again.
///
/// A layer that can't come along is in ``GenerateOfflineMapResult/layerErrors``, unless the parameters want the job to end at the
/// first error. A line that breaks or a disk that is full is no reason to leave a layer out: the job fails, and can be started again.
public final class GenerateOfflineMapJob: Job, JobProtocol, @unchecked Sendable {
    static let kind = "GenerateOfflineMap"

    /// The map that is taken along.
    public let onlineMap: Map?
    /// Where the package will be.
    public let downloadDirectoryURL: URL
    /// What of the map is taken along.
    public let parameters: GenerateOfflineMapParameters
    private let map: Map
    /// Tells the folder of this job from what another one has left.
    private let id: UUID
    private let environment: ServiceEnvironment
    private let wanted: OfflineMapPlan?
    private let child = Mutex<(any JobProtocol)?>(nil)

    init(
        map: Map, parameters: GenerateOfflineMapParameters, folder: URL, plan: OfflineMapPlan?,
        environment: ServiceEnvironment, id: UUID? = nil
    ) {
        self.map = map
        onlineMap = map
        self.parameters = parameters
        downloadDirectoryURL = folder
        wanted = plan
        self.environment = environment
        self.id = id ?? environment.makeID()
        super.init(isResumed: false)
    }

    init(snapshot: JSONValue, environment: ServiceEnvironment = .standard) throws {
        guard let path = snapshot["directory"]?.stringValue, let document = snapshot["map"],
            let id = snapshot["id"]?.stringValue.flatMap(UUID.init)
        else {
            throw CommonError.invalidJSON(details: "The state of the job is not complete.")
        }
        map = try Map.fromJSON(Data(document.text.utf8), environment: environment)
        onlineMap = map
        self.id = id
        parameters = try GenerateOfflineMapParameters(json: snapshot["parameters"] ?? [:])
        downloadDirectoryURL = URL(filePath: path)
        wanted = try snapshot["plan"].map { try OfflineMapPlan(json: $0) }
        self.environment = environment
        super.init(isResumed: true)
    }

    override func snapshot() -> JSONValue {
        var object = JSONObject()
        object.append("job", .string(Self.kind))
        object.append("id", .string(id.uuidString))
        object.append("directory", .string(downloadDirectoryURL.path))
        object.append("parameters", parameters.json)
        object.append("map", map.webMap)
        if let wanted { object.append("plan", wanted.json) }
        return .object(object)
    }

    /// The offline map and its package. Throws the job's error.
    public var output: GenerateOfflineMapResult {
        get async throws { try await outcome(as: GenerateOfflineMapResult.self) }
    }

    /// Bytes of the file that is coming now, that are on this device and in all; nil while none comes. Not part of the vendor's API.
    public var arrived: GenerateGeodatabaseJob.Arrival? {
        switch child.withLock({ $0 }) {
        case let job as GenerateGeodatabaseJob: job.arrived
        case let job as ExportVectorTilesJob: job.arrived
        case let job as ExportTileCacheJob: job.arrived
        default: nil
        }
    }

    // MARK: Files

    private var makingURL: URL { URL(filePath: "\(downloadDirectoryURL.path).making", directoryHint: .isDirectory) }
    private var planURL: URL { makingURL.appending(path: "plan.json") }

    private func file(_ part: OfflineMapPart) -> URL { makingURL.appending(path: part.file) }
    private func note(_ part: OfflineMapPart) -> URL { makingURL.appending(path: "\(part.file).job") }

    /// The prepared replicas that the job has begun to start from; nil where it has begun nothing.
    var begunReferences: Set<UUID>? {
        guard let plan = try? keptPlan(), plan.job == id else { return nil }
        return plan.references
    }

    override func discard() async {
        // The replicas of a map that is given up are of no use to anybody: each service that answers ends its own.
        for part in (try? keptPlan())?.parts ?? [] {
            guard case .geodatabase = part.content, FileManager.default.fileExists(atPath: file(part).path) else {
                continue
            }
            let geodatabase = Geodatabase(fileURL: file(part))
            try? await GeodatabaseSyncTask(url: part.source, environment: environment)
                .unregisterGeodatabase(geodatabase)
            geodatabase.close()
        }
        try? FileManager.default.removeItem(at: makingURL)
    }

    // MARK: Work

    override func work() async throws -> any Sendable {
        let manager = FileManager.default
        if manager.fileExists(atPath: downloadDirectoryURL.path),
            try !manager.contentsOfDirectory(atPath: downloadDirectoryURL.path).isEmpty
        {
            // A job that was killed at its very end has done its work.
            if let index = try? MapPackageIndex(folder: downloadDirectoryURL), index.job == id {
                return try await result()
            }
            throw CommonError.illegalState(
                details: "The folder \(downloadDirectoryURL.lastPathComponent) is not empty.")
        }
        // What another job has left for this folder is nobody's any more.
        if manager.fileExists(atPath: makingURL.path), (try? keptPlan())?.job != id { await discard() }
        try manager.createDirectory(at: makingURL, withIntermediateDirectories: true)
        var plan = try await preparedPlan()
        var parts: [OfflineMapPart] = []
        for (index, part) in plan.parts.enumerated() {
            let share = 95 / max(1, plan.parts.count)
            do {
                try await bring(part, from: 3 + index * share, share: share)
                parts.append(part)
            } catch let error where OfflineMapPlanner.isFinal(error) {
                try leaveOut(part, error, &plan)
            }
        }
        plan.parts = parts
        guard parts.contains(where: { if case .locator = $0.content { false } else { true } }) else {
            throw CommonError.propertyNotSupported(
                details: plan.refusals.first?.reason ?? "The map has nothing that can be taken offline.")
        }
        try await finish(plan)
        tell("The map is on this device.")
        return try await result()
    }

    private func keptPlan() throws -> OfflineMapPlan {
        try OfflineMapPlan(json: try JSONParser.parse(Data(contentsOf: planURL)))
    }

    /// What comes along is decided once: a job that goes on brings the same.
    private func preparedPlan() async throws -> OfflineMapPlan {
        if FileManager.default.fileExists(atPath: planURL.path) { return try keptPlan() }
        tell("Asking the services what can be taken along.")
        try await map.load()
        let planner = OfflineMapPlanner(map: map, parameters: parameters, environment: environment)
        var plan: OfflineMapPlan
        if let wanted { plan = wanted } else { plan = try await planner.plan() }
        plan.job = id
        if let refusal = plan.refusals.first, !parameters.continuesOnErrors { throw refusal.error }
        for refusal in plan.refusals { tell(refusal.reason, severity: .warning) }
        try Data(plan.json.text.utf8).write(to: planURL, options: .atomic)
        advance(to: 3)
        return plan
    }

    private func leaveOut(_ part: OfflineMapPart, _ error: any Error, _ plan: inout OfflineMapPlan) throws {
        // A prepared replica that was replaced meanwhile is no reason to come without the layers: there is a newer one.
        if part.reference != nil, Self.isOutdated(error) { throw error }
        let reason = (error as? any ArcGISError)?.details ?? "\(error)"
        if case .locator = part.content {
            return tell("No addresses come along: \(reason)", severity: .warning)
        }
        guard parameters.continuesOnErrors else { throw error }
        tell(reason, severity: .warning)
        plan.refusals += part.layers.map { OfflineMapRefusal(layer: $0, title: "", reason: reason) }
        for name in try FileManager.default.contentsOfDirectory(atPath: makingURL.path) where name.hasPrefix(part.file)
        {
            try? FileManager.default.removeItem(at: makingURL.appending(path: name))
        }
    }

    /// Whether a service says that there is no such prepared replica any more, or that its layers have changed since.
    static func isOutdated(_ error: any Error) -> Bool {
        guard case ServiceError.serverFailure(_, let code)? = error as? ServiceError else { return false }
        return code == 404 || code == 409
    }

    // MARK: Parts

    private func bring(_ part: OfflineMapPart, from start: Int, share: Int) async throws {
        let target = file(part)
        let isThere = FileManager.default.fileExists(atPath: target.path)
        if isThere, !FileManager.default.fileExists(atPath: note(part).path) { return advance(to: start + share) }
        switch part.content {
        case .geodatabase(let parameters):
            tell("The features of \(Self.name(part.source)).")
            let task = GeodatabaseSyncTask(url: part.source, environment: environment)
            let job =
                try begun(part) { try GenerateGeodatabaseJob(snapshot: $0, environment: environment) }
                ?? task.makeGenerateGeodatabaseJob(parameters: parameters, downloadFileURL: target)
            _ = try await run(job, start, share)
        case .vectorTiles(let parameters):
            tell("The map tiles of \(Self.name(part.source)).")
            let job =
                try begun(part) { try ExportVectorTilesJob(snapshot: $0, environment: environment) }
                ?? ExportVectorTilesTask(url: part.source, environment: environment)
                .makeExportVectorTilesJob(parameters: parameters, downloadFileURL: target)
            _ = try await run(job, start, share)
        case .tiles(let parameters):
            tell("The map tiles of \(Self.name(part.source)).")
            let job =
                try begun(part) { try ExportTileCacheJob(snapshot: $0, environment: environment) }
                ?? ExportTileCacheTask(url: part.source, environment: environment)
                .makeExportTileCacheJob(parameters: parameters, downloadFileURL: target)
            _ = try await run(job, start, share)
        case .referenceBasemap:
            tell("The basemap that is on this device already.")
            try Self.share(part.source, as: target)
        case .locator:
            guard let area = self.parameters.areaOfInterest,
                let degrees = GeometryEngine.project(area, into: .wgs84)?.extent
            else { return }
            tell("The addresses of the area.")
            try await part.takeLocatorAlong(area: degrees, to: target)
        }
        advance(to: start + share)
    }

    /// `…/services/City/Trees/FeatureServer` is called Trees.
    private static func name(_ service: URL) -> String { service.deletingLastPathComponent().lastPathComponent }

    /// The job of a part that an earlier process began, by its own note.
    private func begun<J>(_ part: OfflineMapPart, _ make: (JSONValue) throws -> J) throws -> J? {
        guard let data = try? Data(contentsOf: note(part)), let state = try? JSONParser.parse(data) else { return nil }
        return try make(state)
    }

    private func run<J: JobProtocol>(_ job: J, _ start: Int, _ share: Int) async throws -> J.Output {
        child.withLock { $0 = job }
        defer { child.withLock { $0 = nil } }
        let watch = Task { [weak self] in
            while !Task.isCancelled {
                self?.advance(to: start + Int(job.progress.completedUnitCount) * share / 100)
                try? await Task.sleep(for: .milliseconds(Limits.firstPollMilliseconds))
            }
        }
        defer { watch.cancel() }
        job.start()
        return try await withTaskCancellationHandler {
            try await job.output
        } onCancel: {
            job.pause()
        }
    }

    /// A file of this device is there once: its bytes get a second name, where the disk knows that.
    private static func share(_ source: URL, as target: URL) throws {
        do {
            try FileManager.default.linkItem(at: source, to: target)
        } catch {
            try FileManager.default.copyItem(at: source, to: target)
        }
    }

    // MARK: The end

    private func finish(_ plan: OfflineMapPlan) async throws {
        if parameters.updateMode == .noUpdates {
            for part in plan.parts {
                guard case .geodatabase = part.content else { continue }
                let geodatabase = Geodatabase(fileURL: file(part))
                defer { geodatabase.close() }
                try await geodatabase.load()
                guard geodatabase.syncID != nil else { continue }
                try await GeodatabaseSyncTask(url: part.source, environment: environment)
                    .unregisterGeodatabase(geodatabase)
            }
        }
        let document = OfflineMapDocument(map.webMap, plan, parameters).text
        try document.write(to: makingURL.appending(path: MapPackageIndex.mapName), options: .atomic)
        var seals = [try MapPackageIndex.seal(MapPackageIndex.mapName, in: makingURL)]
        for part in plan.parts where part.isSealed {
            seals.append(try MapPackageIndex.seal(part.file, in: makingURL))
        }
        let index = MapPackageIndex(
            item: parameters.itemInfo ?? OfflineMapItemInfo(), parameters: parameters, plan: plan, seals: seals,
            made: DeviceClock.now())
        let indexURL = makingURL.appending(path: MapPackageIndex.fileName)
        try Data(index.json.text.utf8).write(to: indexURL, options: .atomic)
        for name in [MapPackageIndex.mapName, MapPackageIndex.fileName] + plan.parts.map(\.file) {
            try Self.flush(makingURL.appending(path: name))
        }
        try Self.flush(makingURL)
        // An empty folder gives way.
        guard rename(makingURL.path, downloadDirectoryURL.path) == 0 else {
            throw CommonError.io(
                details: "The package \(downloadDirectoryURL.lastPathComponent) could not be put in its place.")
        }
        try Self.flush(downloadDirectoryURL.deletingLastPathComponent())
        // Until the package has its name, a job that is killed goes on by its plan.
        try? FileManager.default.removeItem(at: downloadDirectoryURL.appending(path: planURL.lastPathComponent))
    }

    /// Has a file or a folder on the disk.
    private static func flush(_ url: URL) throws {
        let descriptor = open(url.path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw CommonError.io(details: "\(url.lastPathComponent) can't be read.") }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else {
            throw CommonError.io(details: "\(url.lastPathComponent) could not be kept on this device.")
        }
    }

    private func result() async throws -> GenerateOfflineMapResult {
        let package = MobileMapPackage(fileURL: downloadDirectoryURL)
        try await package.load()
        guard let offline = package.maps.first else {
            throw CommonError.illegalState(details: "The package has no map.")
        }
        let reasons = Dictionary(package.refusals.map { ($0.layer, $0.error) }) { first, _ in first }
        var layers: [Layer: any Error] = [:]
        for layer in map.offlineLayers { layers[layer] = reasons[layer.offlineAddress] }
        var tables: [FeatureTable: any Error] = [:]
        for table in map.tables { tables[table] = reasons[table.offlineAddress] }
        return GenerateOfflineMapResult(
            offlineMap: offline, mobileMapPackage: package, layerErrors: layers, tableErrors: tables)
    }
}

/// A map that was taken along.
public final class GenerateOfflineMapResult: Sendable {
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

    init(
        offlineMap: Map, mobileMapPackage: MobileMapPackage, layerErrors: [Layer: any Error],
        tableErrors: [FeatureTable: any Error]
    ) {
        self.offlineMap = offlineMap
        self.mobileMapPackage = mobileMapPackage
        self.layerErrors = layerErrors
        self.tableErrors = tableErrors
    }
}
