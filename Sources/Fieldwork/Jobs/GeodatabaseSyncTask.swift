public import FieldworkGeometry
import FieldworkREST
public import Foundation
import Synchronization

/// Takes areas of a feature service offline and keeps them in step with it.
///
/// The task makes two kinds of jobs: a ``GenerateGeodatabaseJob`` takes an area into a ``Geodatabase`` on this device, a
/// ``SyncGeodatabaseJob`` sends the edits of that file and fetches those of others. Both survive a lost connection and the end of
/// the app.
///
/// ```swift
/// let task = GeodatabaseSyncTask(url: serviceURL)
/// let parameters = try await task.makeDefaultGenerateGeodatabaseParameters(extent: area)
/// let job = task.makeGenerateGeodatabaseJob(parameters: parameters, downloadFileURL: file)
/// job.start()
/// let geodatabase = try await job.output
/// ```
///
/// <doc:WorkingOffline> tells the whole way, and <doc:Conflicts> what happens when two have changed the same.
///
/// ## Topics
///
/// ### Taking an area
///
/// - ``makeDefaultGenerateGeodatabaseParameters(extent:)``
/// - ``makeGenerateGeodatabaseJob(parameters:downloadFileURL:)``
///
/// ### Keeping in step
///
/// - ``makeDefaultSyncGeodatabaseParameters(geodatabase:syncDirection:)``
/// - ``makeSyncGeodatabaseJob(parameters:geodatabase:)``
/// - ``unregisterGeodatabase(_:)``
public final class GeodatabaseSyncTask: Loadable, @unchecked Sendable {
    // What changes is behind a lock or in `Streamed`, which locks for itself.
    /// How far the loading has come.
    @Streamed public internal(set) var loadStatus = LoadStatus.notLoaded
    /// The feature service.
    public let url: URL?
    private let environment: ServiceEnvironment
    private let loading: LoadOnce
    private let service: Mutex<ServiceGeodatabase?>

    /// A task for a feature service, `…/FeatureServer`.
    public convenience init(url: URL) { self.init(url: url, environment: .standard) }

    /// A task for the service that a loaded geodatabase was taken from.
    public convenience init(geodatabase: Geodatabase) {
        self.init(url: geodatabase.serviceURL, environment: .standard)
    }

    init(url: URL?, environment: ServiceEnvironment) {
        self.url = url.map(ServiceGeodatabase.serviceRoot)
        self.environment = environment
        service = Mutex(nil)
        loading = LoadOnce(status: _loadStatus)
    }

    // MARK: Loading

    /// Why the last attempt failed.
    public var loadError: (any Error)? { loading.error }

    /// Reads what the service is.
    public func load() async throws { try await load(retries: false) }

    /// Like `load`, but starts again after a failure.
    public func retryLoad() async throws { try await load(retries: true) }

    /// Makes a load that is under way fail with `CancellationError`.
    public func cancelLoad() { loading.cancel() }

    private func load(retries: Bool) async throws {
        try await loading.load(retries: retries) { [self] in
            let service = ServiceGeodatabase(url: try address, environment: environment)
            try await service.load()
            self.service.withLock { $0 = service }
        }
    }

    private var address: URL {
        get throws {
            guard let url else {
                throw CommonError.illegalState(details: "The geodatabase was not taken from a service.")
            }
            return url
        }
    }

    /// What the service says about itself; nil before the task is loaded.
    public var featureServiceInfo: ArcGISFeatureServiceInfo? { service.withLock { $0 }?.serviceInfo }

    /// What the service is made of; nil before the task is loaded.
    var definition: ServiceDefinition? { service.withLock { $0 }?.session?.service }

    // MARK: Taking offline

    /// Parameters that take all layers and tables: the rows in an area, and of tables the rows that are related to them,
    /// or all where no relationship leads to a table; attachments with them.
    ///
    /// The task is loaded first. Change what is not wanted before the job is made, such as ``GenerateLayerOption/whereClause``.
    /// - Parameter extent: the area, in any spatial reference; a polygon takes what meets it, not what meets its box.
    /// - Throws: what ``load()`` throws when the service can't be read.
    public func makeDefaultGenerateGeodatabaseParameters(extent: Geometry) async throws -> GenerateGeodatabaseParameters
    {
        try await load()
        guard let definition else {
            throw MappingError.notLoaded(details: "The service is not loaded.")
        }
        let parameters = GenerateGeodatabaseParameters()
        parameters.extent = extent
        if definition.layers.contains(where: \.hasAttachments) {
            parameters.returnsAttachments = true
            parameters.attachmentSyncDirection = .bidirectional
        }
        for layer in definition.layers {
            let option = GenerateLayerOption(layerID: layer.id)
            if layer.isTable {
                let isRelated = definition.layers.contains { other in
                    other.relationships.contains { $0.relatedTableID == layer.id && $0.role == .origin }
                }
                option.queryOption = isRelated ? .none : .all
                option.usesGeometry = false
            }
            parameters.addLayerOption(option)
        }
        return parameters
    }

    /// A job that takes an area offline; it is not started.
    ///
    /// Nothing is asked of the service before ``Job/start()``. Wait for ``GenerateGeodatabaseJob/output``.
    /// - Parameters:
    ///   - parameters: the area and the layers, as ``makeDefaultGenerateGeodatabaseParameters(extent:)`` gives them.
    ///   - downloadFileURL: where the file will be. There must be none yet.
    public func makeGenerateGeodatabaseJob(
        parameters: GenerateGeodatabaseParameters, downloadFileURL: URL
    ) -> GenerateGeodatabaseJob {
        GenerateGeodatabaseJob(
            serviceURL: url ?? downloadFileURL, parameters: parameters, downloadFileURL: downloadFileURL,
            environment: environment)
    }

    // MARK: Keeping in step

    /// Parameters that sync all layers of a geodatabase.
    /// - Parameters:
    ///   - geodatabase: a file that was taken from this service; it is loaded first.
    ///   - syncDirection: which way; nil for both.
    /// - Throws: what ``Geodatabase/load()`` throws when the file can't be opened.
    public func makeDefaultSyncGeodatabaseParameters(
        geodatabase: Geodatabase, syncDirection: SyncGeodatabaseParameters.SyncDirection? = nil
    ) async throws -> SyncGeodatabaseParameters {
        try await geodatabase.load()
        let parameters = SyncGeodatabaseParameters()
        let direction = syncDirection ?? .bidirectional
        parameters.geodatabaseSyncDirection = direction
        if geodatabase.syncModel == .layer {
            for table in geodatabase.featureTables {
                parameters.addLayerOption(
                    SyncLayerOption(layerID: Int(table.serviceLayerID), syncDirection: direction))
            }
        }
        return parameters
    }

    /// A job that brings a geodatabase and its service together; it is not started.
    ///
    /// Edits that are made while it runs stay in the file and go with the next one.
    /// - Parameters:
    ///   - parameters: which layers, and which way.
    ///   - geodatabase: a file that was taken from this service.
    public func makeSyncGeodatabaseJob(
        parameters: SyncGeodatabaseParameters, geodatabase: Geodatabase
    ) -> SyncGeodatabaseJob {
        makeSyncGeodatabaseJob(parameters: parameters, geodatabase: geodatabase, watch: nil)
    }

    /// The same, and tells how far its sending has come. Not part of the vendor's API.
    package func makeSyncGeodatabaseJob(
        parameters: SyncGeodatabaseParameters, geodatabase: Geodatabase, watch: SendingWatch?
    ) -> SyncGeodatabaseJob {
        SyncGeodatabaseJob(
            geodatabase: geodatabase, parameters: parameters, environment: environment, watch: watch)
    }

    /// A job that brings a geodatabase and its service together one way or both; it is not started.
    public func makeSyncGeodatabaseJob(
        syncDirection: SyncGeodatabaseParameters.SyncDirection, rollsBackOnFailure: Bool, geodatabase: Geodatabase
    ) -> SyncGeodatabaseJob {
        let parameters = SyncGeodatabaseParameters()
        parameters.geodatabaseSyncDirection = syncDirection
        parameters.rollsBackOnFailure = rollsBackOnFailure
        return makeSyncGeodatabaseJob(parameters: parameters, geodatabase: geodatabase)
    }

    /// Ends a replica at the service: its edits can no longer be synced. The file and what is in it stay.
    public func unregisterGeodatabase(_ geodatabase: Geodatabase) async throws {
        try await geodatabase.load()
        let session = try geodatabase.openSession()
        guard let record = session.replica else {
            throw CommonError.illegalState(details: "The geodatabase was not taken from a service.")
        }
        try await ReplicaClient(root: record.serviceURL, client: environment.client).unregister(record.replicaID)
        try await session.keep(nil)
    }
}
