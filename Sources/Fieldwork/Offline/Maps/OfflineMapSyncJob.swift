import FieldworkGeometry
import Foundation

/// Synchronises the geodatabases of an offline map, one after the other. One that fails does not keep the others back: its layers
/// have the error in their results, and its edits stay in the file. The job fails where no geodatabase could be synchronised.
public final class OfflineMapSyncJob: Job, JobProtocol, @unchecked Sendable {
    /// Which way the map is synchronised.
    public let parameters: OfflineMapSyncParameters
    private let map: Map
    private let environment: ServiceEnvironment

    init(map: Map, parameters: OfflineMapSyncParameters, environment: ServiceEnvironment) {
        self.map = map
        self.parameters = parameters
        self.environment = environment
        super.init(isResumed: false)
    }

    /// The results, layer by layer. Throws the job's error.
    public var output: OfflineMapSyncResult {
        get async throws { try await outcome(as: OfflineMapSyncResult.self) }
    }

    override func work() async throws -> any Sendable {
        try await map.load()
        guard let offline = map.offline else {
            throw CommonError.invalidArgument(details: "The map was not taken offline.")
        }
        if let area = offline.scheduledArea {
            guard parameters.preplannedScheduledUpdatesOption == .downloadAllUpdates else { return result([:]) }
            tell("Asking the portal for the area.")
            let updates = try await offline.scheduledUpdates(of: area, environment)
            return try await each(updates, of: \.geodatabase, update)
        }
        let geodatabases = offline.geodatabases.filter { $0.syncID != nil && parameters.syncDirection != .none }
        return try await each(geodatabases, of: \.self) { geodatabase, _ in try await sync(geodatabase) }
    }

    /// Brings each file up to date; one that fails does not keep the others back.
    private func each<Item: Sendable>(
        _ items: [Item], of geodatabase: (Item) -> Geodatabase,
        _ bring: (Item, @escaping @Sendable (Double) -> Void) async throws -> [SyncLayerResult]
    ) async throws -> OfflineMapSyncResult {
        var outcomes: [ObjectIdentifier: Result<[SyncLayerResult], any Error>] = [:]
        for (index, item) in items.enumerated() {
            let geodatabase = geodatabase(item)
            do {
                let results = try await bring(item) { [weak self] part in
                    self?.advance(to: Int((Double(index) + part) * 100) / items.count)
                }
                outcomes[ObjectIdentifier(geodatabase)] = .success(results)
            } catch is CancellationError {
                throw CancellationError()
            } catch {
                outcomes[ObjectIdentifier(geodatabase)] = .failure(error)
                let reason = (error as? any ArcGISError)?.details ?? "\(error)"
                tell("\(geodatabase.fileURL.lastPathComponent) was not synchronised: \(reason)", severity: .error)
            }
            advance(to: (index + 1) * 100 / items.count)
        }
        let failures = outcomes.values.compactMap { outcome -> (any Error)? in
            if case .failure(let error) = outcome { error } else { nil }
        }
        if let first = failures.first, failures.count == items.count { throw first }
        return result(outcomes)
    }

    private func update(
        _ update: ScheduledUpdate, _ progress: @escaping @Sendable (Double) -> Void
    ) async throws -> [SyncLayerResult] {
        guard try await update.isDue() else {
            try await update.takeAwaited()
            return []
        }
        let package = try await update.package()
        tell("Downloading \((package.size + 1_023) / 1_024) KB of changes.")
        try await update.take(package, progress: progress)
        return []
    }

    private func sync(_ geodatabase: Geodatabase) async throws -> [SyncLayerResult] {
        let task = GeodatabaseSyncTask(url: geodatabase.serviceURL, environment: environment)
        let wanted = try await task.makeDefaultSyncGeodatabaseParameters(
            geodatabase: geodatabase, syncDirection: parameters.syncDirection)
        wanted.rollsBackOnFailure = parameters.rollsBackOnFailure
        wanted.keepsGeodatabaseDeltas = parameters.keepsGeodatabaseDeltas
        let job = task.makeSyncGeodatabaseJob(parameters: wanted, geodatabase: geodatabase)
        job.start()
        return try await withTaskCancellationHandler {
            try await job.output
        } onCancel: {
            job.pause()
        }
    }

    private func result(
        _ outcomes: [ObjectIdentifier: Result<[SyncLayerResult], any Error>]
    ) -> OfflineMapSyncResult {
        func result(_ table: FeatureTable?) -> OfflineMapSyncLayerResult? {
            guard let table = table as? GeodatabaseFeatureTable, let geodatabase = table.geodatabase,
                let outcome = outcomes[ObjectIdentifier(geodatabase)]
            else { return nil }
            switch outcome {
            case .success(let layers):
                let own = layers.first { $0.layerID == Int(table.serviceLayerID) }
                return OfflineMapSyncLayerResult(editResults: own?.editResults ?? [], error: nil)
            case .failure(let error): return OfflineMapSyncLayerResult(editResults: [], error: error)
            }
        }
        var layers: [Layer: OfflineMapSyncLayerResult] = [:]
        for case let layer as FeatureLayer in map.offlineLayers { layers[layer] = result(layer.featureTable) }
        var tables: [FeatureTable: OfflineMapSyncLayerResult] = [:]
        for table in map.tables { tables[table] = result(table) }
        return OfflineMapSyncResult(layerResults: layers, tableResults: tables)
    }
}

/// What came of a layer's synchronisation.
public final class OfflineMapSyncLayerResult: Sendable {
    /// The edits that the service refused; they stay in the file and go again with the next synchronisation.
    public let editResults: [FeatureEditResult]
    /// Why the layer's geodatabase could not be synchronised; nil where it was.
    public let error: (any Error)?
    /// Whether something went wrong.
    public var hasErrors: Bool { error != nil || editResults.contains(where: \.didCompleteWithErrors) }

    init(editResults: [FeatureEditResult], error: (any Error)?) {
        self.editResults = editResults
        self.error = error
    }
}

/// What came of an offline map's synchronisation.
public final class OfflineMapSyncResult: Sendable {
    /// Of the layers of the map.
    public let layerResults: [Layer: OfflineMapSyncLayerResult]
    /// Of its tables.
    public let tableResults: [FeatureTable: OfflineMapSyncLayerResult]
    /// Whether something went wrong.
    public var hasErrors: Bool {
        layerResults.values.contains(where: \.hasErrors) || tableResults.values.contains(where: \.hasErrors)
    }
    /// Whether the package has to be opened anew: never, as its files are changed in place.
    public var mobileMapPackageReopenIsRequired: Bool { false }

    init(layerResults: [Layer: OfflineMapSyncLayerResult], tableResults: [FeatureTable: OfflineMapSyncLayerResult]) {
        self.layerResults = layerResults
        self.tableResults = tableResults
    }
}
