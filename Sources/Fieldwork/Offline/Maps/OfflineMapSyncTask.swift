import Synchronization

/// Brings an offline map and its services together.
///
/// ```swift
/// let task = OfflineMapSyncTask(map: offlineMap)
/// let parameters = try await task.makeDefaultOfflineMapSyncParameters()
/// let job = task.makeSyncOfflineMapJob(parameters: parameters)
/// job.start()
/// for (layer, result) in try await job.output.layerResults where result.hasErrors {
///     print(layer.name, result.error ?? "", result.editResults)
/// }
/// ```
///
/// What changes is in `Streamed`, which locks for itself.
public final class OfflineMapSyncTask: Loadable, @unchecked Sendable {
    /// How far the loading has come.
    @Streamed public internal(set) var loadStatus = LoadStatus.notLoaded
    /// The offline map.
    public let map: Map
    private let environment: ServiceEnvironment
    private let loading: LoadOnce

    /// A task for a map of a ``MobileMapPackage``.
    public convenience init(map: Map) { self.init(map: map, environment: .standard) }

    init(map: Map, environment: ServiceEnvironment) {
        self.map = map
        self.environment = environment
        loading = LoadOnce(status: _loadStatus)
    }

    /// Why the last attempt failed.
    public var loadError: (any Error)? { loading.error }

    /// Loads the map. Throws `CommonError.invalidArgument` for a map that was not taken offline, `CommonError.propertyNotSupported` for
    /// one in a package of one file.
    public func load() async throws { try await load(retries: false) }

    /// Like `load`, but starts again after a failure.
    public func retryLoad() async throws { try await load(retries: true) }

    /// Makes a load that is under way fail with `CancellationError`.
    public func cancelLoad() { loading.cancel() }

    private func load(retries: Bool) async throws {
        try await loading.load(retries: retries) { [map] in
            try await map.load()
            guard map.offline != nil else {
                throw CommonError.invalidArgument(
                    details: "The map was not taken offline: there is nothing to synchronise.")
            }
            guard map.offline?.isOneFile != true else {
                throw CommonError.propertyNotSupported(
                    details: "A map package of one file is read where it lies: unpack it to bring it up to date.")
            }
        }
    }

    /// Parameters that synchronise both ways, or download the updates of a map with scheduled ones.
    /// - Throws: what ``load()`` throws.
    public func makeDefaultOfflineMapSyncParameters() async throws -> OfflineMapSyncParameters {
        try await load()
        let parameters = OfflineMapSyncParameters()
        if map.offline?.updateMode == .noUpdates { parameters.syncDirection = .none }
        if map.offline?.scheduledArea != nil { parameters.preplannedScheduledUpdatesOption = .downloadAllUpdates }
        return parameters
    }

    /// A job that brings the map and its services together; it is not started. Edits that are made while it runs stay in the files and
    /// go with the next one.
    public func makeSyncOfflineMapJob(parameters: OfflineMapSyncParameters) -> OfflineMapSyncJob {
        OfflineMapSyncJob(map: map, parameters: parameters, environment: environment)
    }

    /// Whether there is something to exchange. Of a map that is synchronised it is known whether there is something to send, not whether
    /// there is something to fetch. Of a map with scheduled updates it is known whether its author has prepared the area anew, and how
    /// much is to be downloaded then: the services make their packages ready.
    /// - Throws: what ``load()`` throws; with scheduled updates `ServiceError`, what `PreplannedMapArea.load()` throws, and
    ///   `CommonError.illegalState` where the area has other layers or services by now.
    public func checkForUpdates() async throws -> OfflineMapUpdatesInfo {
        try await load()
        let geodatabases = map.offline?.geodatabases ?? []
        if let offline = map.offline, let area = offline.scheduledArea {
            var (isDue, size) = (false, Int64(0))
            for update in try await offline.scheduledUpdates(of: area, environment) where try await update.isDue() {
                isDue = true
                size += try await update.package().size
            }
            return OfflineMapUpdatesInfo(
                download: isDue ? .available : .noneAvailable, upload: .noneAvailable, scheduledSize: size)
        }
        guard map.offline?.updateMode == .syncWithFeatureServices else {
            return OfflineMapUpdatesInfo(download: .noneAvailable, upload: .noneAvailable)
        }
        return OfflineMapUpdatesInfo(
            download: .indeterminate,
            upload: geodatabases.contains(where: \.hasLocalEdits) ? .available : .noneAvailable)
    }

    /// How the map can be kept in step; nil before the task is loaded.
    public var updateCapabilities: OfflineMapUpdateCapabilities? {
        guard loadStatus == .loaded, let offline = map.offline else { return nil }
        return OfflineMapUpdateCapabilities(
            supportsSyncWithFeatureServices: offline.updateMode == .syncWithFeatureServices,
            supportsScheduledUpdatesForFeatures: offline.scheduledArea != nil)
    }
}

/// How an offline map can be kept in step.
public struct OfflineMapUpdateCapabilities: Sendable, Hashable {
    /// Whether it is synchronised with its services.
    public let supportsSyncWithFeatureServices: Bool
    /// Whether its author prepares packages of changes for it.
    public let supportsScheduledUpdatesForFeatures: Bool
}

/// Whether the updates of a map with scheduled ones are downloaded.
public enum PreplannedScheduledUpdatesOption: Sendable {
    /// None, or all that there are.
    case noUpdates, downloadAllUpdates
}

/// What there is to exchange with the services of an offline map.
public final class OfflineMapUpdatesInfo: Sendable {
    /// Whether there is something.
    public enum Availability: Sendable {
        /// Nothing, something, or one can't tell.
        case noneAvailable, available, indeterminate
    }

    /// Whether there is something to fetch.
    public let downloadAvailability: Availability
    /// Whether there is something to send.
    public let uploadAvailability: Availability
    /// Bytes of the packages of changes that are ready; 0 for a map without scheduled updates.
    public let scheduledUpdatesDownloadSize: Int64

    init(download: Availability, upload: Availability, scheduledSize: Int64 = 0) {
        downloadAvailability = download
        uploadAvailability = upload
        scheduledUpdatesDownloadSize = scheduledSize
    }
}

/// Which way an offline map is synchronised.
public final class OfflineMapSyncParameters: Sendable {
    private struct Values: Sendable {
        var direction = SyncGeodatabaseParameters.SyncDirection.bidirectional
        var rollsBackOnFailure = false
        var keepsDeltas = false
        var scheduled = PreplannedScheduledUpdatesOption.noUpdates
    }

    private let state = Mutex(Values())

    /// Parameters that synchronise both ways.
    public init() {}

    /// Which way changes go.
    public var syncDirection: SyncGeodatabaseParameters.SyncDirection {
        get { state.withLock { $0.direction } }
        set { state.withLock { $0.direction = newValue } }
    }

    /// Whether the updates of a map with scheduled ones are downloaded.
    public var preplannedScheduledUpdatesOption: PreplannedScheduledUpdatesOption {
        get { state.withLock { $0.scheduled } }
        set { state.withLock { $0.scheduled = newValue } }
    }

    /// Whether one refused edit makes its service refuse all.
    public var rollsBackOnFailure: Bool {
        get { state.withLock { $0.rollsBackOnFailure } }
        set { state.withLock { $0.rollsBackOnFailure = newValue } }
    }

    /// Whether what was exchanged is kept beside the files, for support.
    public var keepsGeodatabaseDeltas: Bool {
        get { state.withLock { $0.keepsDeltas } }
        set { state.withLock { $0.keepsDeltas = newValue } }
    }
}
