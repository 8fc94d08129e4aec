package import FieldworkStore
import FieldworkPortal
import FieldworkTiles
import Foundation
import HummingbirdCore
import HummingbirdTLS
package import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle

/// The GeoServices REST server over a store. Runs as a service: on graceful shutdown it takes no more requests, finishes
/// those that are being answered, and closes the store.
package struct FeatureServer: Service {
    /// The services, and the views that the portal has of them.
    private let store: any FeatureStore
    /// The services alone.
    private let services: any FeatureStore
    private let configuration: ServerConfiguration
    private let logger: Logger
    private let onReady: @Sendable (_ port: Int) async -> Void
    /// The moment of an edit.
    var now: @Sendable () -> Date = { Date() }

    /// - Parameter onReady: called once, when the server accepts connections, with the port that it listens on.
    package init(
        store: any FeatureStore, configuration: ServerConfiguration, logger: Logger,
        onReady: @escaping @Sendable (_ port: Int) async -> Void = { _ in }
    ) {
        services = store
        self.store = configuration.portal?.over(store) ?? store
        self.configuration = configuration
        self.logger = logger
        self.onReady = onReady
    }

    package func run() async throws { try await run(onReady: onReady) }

    /// Serves until the task's service group shuts down gracefully or the task is cancelled.
    package func run(onReady: @escaping @Sendable (_ port: Int) async -> Void) async throws {
        let attachments = await makeAttachments()
        let replicas = (store as? any ReplicaStore).map {
            ReplicaService(
                store: $0, instance: configuration.instance, uploads: attachments?.uploads, logger: logger,
                jobLease: configuration.jobLease, access: Access(portal: configuration.portal),
                tiles: configuration.dataFolder.map {
                    TileExporter(library: BasemapLibrary(folder: BasemapFolder(data: $0)))
                })
        }
        let departures = Departures()
        let provider = configuration.provider.map { SignInProvider($0, now: now) }
        let pipeline = makePipeline(replicas, attachments, departures, provider)
        let background = await beginBackgroundWork(replicas)
        defer { for task in background { task.cancel() } }
        let connections = makeConnections()
        let isEncrypted = configuration.tls != nil
        let channels = HTTP1Channel.Configuration(
            additionalChannelHandlers: [
                ConnectionGuard(
                    connections, configuration.connectionRules, sendsFiles: !isEncrypted, logger: logger),
                DepartureHandler(departures),
            ],
            idleTimeout: TimeAmount(configuration.idleTime),
            httpDecoderConfiguration: .init(
                maxHeaderFieldSize: Limits.headerBytes, maxHeaderListSize: Limits.headerBytes))
        let plain = HTTPServerBuilder { LoopChannel(base: HTTP1Channel(responder: $0, configuration: channels)) }
        let builder = try configuration.tls.map { tls in
            try HTTPServerBuilder.tls(plain, tlsConfiguration: tls.configuration(logger))
        }
        let server = try (builder ?? plain).buildServer(
            configuration: HummingbirdCore.ServerConfiguration(
                address: .hostname(configuration.host, port: configuration.port), backlog: Limits.connectionBacklog,
                availableConnectionsDelegate: AcceptedConnections(connections: connections)),
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton,
            logger: logger,
            responder: { try await pipeline.respond($0, $1, $2) },
            onServerRunning: { channel in await onReady(channel.localAddress?.port ?? configuration.port) })
        do {
            try await server.run()
        } catch {
            await replicas?.jobs.stop()
            await provider?.close()
            if configuration.closesStore { try? await store.close() }
            throw error
        }
        await replicas?.jobs.stop()
        await provider?.close()
        if configuration.closesStore { try await store.close() }
    }

    /// What goes on beside requests, until it is cancelled.
    private func beginBackgroundWork(_ replicas: ReplicaService?) async -> [Task<Void, Never>] {
        guard configuration.worksInBackground else { return [] }
        // What an earlier run left unfinished goes on.
        await replicas?.jobs.resume()
        var tasks: [Task<Void, Never>] = []
        if let replicas { tasks.append(Task { await replicas.jobs.watch() }) }
        // A search reads it, or what is missing of it, where this fails.
        if let portal = configuration.portal { tasks.append(Task { try? await portal.prepareSearches() }) }
        if let store = services as? any ReplicaStore {
            let care = ReplicaCare(
                store: store, policy: configuration.replicaPolicy, logger: logger, keeper: replicas?.keeper)
            tasks.append(Task { await care.run() })
        }
        return tasks
    }

    /// Attachments need a store that keeps them and a folder for what is on its way there.
    private func makeAttachments() async -> AttachmentService? {
        guard let store = store as? any AttachmentStore else { return nil }
        let uploads = Self.uploads(of: store)
        if configuration.worksInBackground { await sweep(uploads) }
        return AttachmentService(
            store: store, uploads: UploadService(keeper: uploads), instance: configuration.instance)
    }

    /// What an earlier run left is of no use to anybody when it is old.
    private func sweep(_ uploads: any UploadKeeper) async {
        do {
            try await uploads.sweep(now: Date())
        } catch {
            logger.warning("Old uploads could not be removed", metadata: ["error": "\(error)"])
        }
    }

    /// Where the uploads of a store are kept: where every process of it finds them.
    static func uploads(of store: any AttachmentStore) -> any UploadKeeper {
        guard let shared = store as? any WorkSharingStore else { return UploadFolder(work: store.workFolder) }
        return DatabaseUploads(work: shared.sharedWork, folder: store.workFolder)
    }

    private func makeConnections() -> OpenConnections {
        let access = configuration.access
        return OpenConnections(
            maximum: OpenFiles.connections(wanted: configuration.maximumConnections),
            perAddress: configuration.connectionRules.perAddress, logger: logger
        ) { access.isProxy($0) }
    }

    private func makePipeline(
        _ replicas: ReplicaService?, _ attachments: AttachmentService?, _ departures: Departures,
        _ provider: SignInProvider?
    ) -> RequestPipeline {
        let metrics = ServerMetrics()
        let routes = RouteTable(
            instance: configuration.instance, below: configuration.access.publicAddress?.path ?? [])
        let memory = BodyBudget(maximum: max(configuration.memory, configuration.maximumBodyBytes))
        return RequestPipeline(
            access: AccessPolicy(
                configuration.access, host: configuration.host, routes: routes,
                scheme: configuration.tls == nil ? "http" : "https"),
            router: makeRouter(replicas, attachments, metrics: metrics, provider: provider),
            reader: RequestReader(
                routes: routes, maximumBodyBytes: configuration.maximumBodyBytes,
                budget: BodyBudget(
                    maximum: max(Limits.bodyBytesInFlight, configuration.maximumBodyBytes), within: memory),
                uploads: attachments?.uploads.keeper, identify: configuration.identify,
                authenticator: Authenticator(portal: configuration.portal)),
            writer: AnswerWriter(stalledWriteTime: configuration.stalledWriteTime),
            metrics: metrics, logger: logger, accessLog: configuration.accessLog,
            care: MemoryCare(configuration.releaseMemory), departures: departures,
            memory: memory,
            requestTime: configuration.requestTime, requestMemory: configuration.requestMemory)
    }

    /// What answers requests, however they arrive.
    func makeRouter(
        _ replicas: ReplicaService?, _ attachments: AttachmentService?, metrics: ServerMetrics,
        provider: SignInProvider? = nil
    ) -> RequestRouter {
        let catalog = ServiceCatalog(store: store, lifetime: configuration.definitionLifetime)
        let readiness = Readiness(store: services, logger: logger)
        var service = FeatureService(store: store, uploads: attachments?.uploads)
        service.now = now
        return RequestRouter(
            instance: configuration.instance, catalog: catalog,
            locators: LocatorCatalog(folder: configuration.dataFolder), service: service,
            tiles: TileService(features: service, cacheBytes: Limits.tileCacheBytes),
            basemaps: configuration.dataFolder.map { BasemapLibrary(folder: BasemapFolder(data: $0)) },
            replicas: replicas,
            attachments: attachments,
            administration: Administration(
                store: store, catalog: catalog, service: service, key: configuration.administrationKey),
            access: Access(portal: configuration.portal), store: store, metrics: metrics, readiness: readiness,
            storeMetrics: StoreMetrics(store: services, folder: configuration.dataFolder, readiness: readiness),
            metricsKey: configuration.access.metricsKey,
            isReadByAll: configuration.access.isReadByAll,
            directory: ServicesDirectory(
                instance: configuration.instance, below: configuration.access.publicAddress?.path ?? []),
            provider: provider, codePicture: configuration.codePicture, logger: logger)
    }
}
