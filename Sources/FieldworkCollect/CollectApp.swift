import Foundation
import Hummingbird
package import Logging
import NIOCore
import ServiceLifecycle

/// The data-collection app: a process on this machine that holds the state and serves its own page. It speaks to the
/// services through the SDK alone.
package struct CollectApp: Service {
    private let configuration: CollectConfiguration
    private let logger: Logger

    package init(configuration: CollectConfiguration, logger: Logger) {
        self.configuration = configuration
        self.logger = logger
    }

    /// Runs until the service group stops it.
    package func run() async throws {
        try await run(onReady: { _ in })
    }

    /// Runs until the service group stops it or the task is cancelled; `onReady` receives the address once the app answers there.
    package func run(onReady: @escaping @Sendable (CollectAddress) async -> Void) async throws {
        guard AccessPolicy.isLoopback(configuration.host) else {
            throw CollectError(
                .notLoopback, "The app listens on this machine only, not on \(configuration.host).",
                nextStep: "Use 127.0.0.1.")
        }
        try OwnerOnly.prepare(configuration.dataDirectory)
        let policy = AccessPolicy(key: try PageKey.load(from: configuration.dataDirectory))
        let hub = EventHub()
        let seat = try Seat(configuration: configuration, hub: hub, logger: logger)
        let pages = PageRenderer(
            templates: try TemplateLibrary(),
            assets: try AssetLibrary(mapLibraryDirectory: configuration.mapLibraryDirectory), seat: seat)
        await seat.prepare { workspace in
            await workspace.whenChanged { map in await Self.tell(map, pages: pages) }
        }
        let application = Application(
            router: Self.router(pages: pages, policy: policy),
            configuration: .init(
                address: .hostname(configuration.host, port: configuration.port), serverName: "Fieldwork"),
            onServerRunning: { channel in
                let port = channel.localAddress?.port ?? configuration.port
                policy.bind(port: port)
                await onReady(CollectAddress(port: port, key: policy.key))
            },
            logger: logger)
        try await Self.serve(application, seat: seat)
    }

    private static func serve(_ application: some ApplicationProtocol, seat: Seat) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await withTaskCancellationHandler {
                    try await withGracefulShutdownHandler {
                        try await application.run()
                    } onGracefulShutdown: {
                        seat.stop()
                    }
                } onCancel: {
                    seat.stop()
                }
            }
            group.addTask { await seat.run() }
            try await group.next()
            seat.stop()
            group.cancelAll()
        }
    }

    private static func router(pages: PageRenderer, policy: AccessPolicy) -> Router<CollectContext> {
        let router = Router(context: CollectContext.self)
        router.addMiddleware {
            RequestMoment(hub: pages.workspace.hub)
            AccessMiddleware(policy: policy, pages: pages)
            ProblemMiddleware(pages: pages)
            GateMiddleware(gate: pages.seat.gate)
            TransactionRule(pages: pages)
        }
        let edits = EditRoutes(pages: pages)
        MapRoutes(pages: pages).add(to: router)
        SearchRoutes(pages: pages).add(to: router)
        DataRoutes(pages: pages).add(to: router)
        edits.add(to: router)
        AddRoutes(pages: pages, edits: edits).add(to: router)
        PhotoRoutes(pages: pages).add(to: router)
        ConflictRoutes(pages: pages, edits: edits).add(to: router)
        HistoryRoutes(pages: pages, edits: edits).add(to: router)
        SketchRoutes(pages: pages, edits: edits).add(to: router)
        RelatedRoutes(pages: pages, edits: edits).add(to: router)
        ChooseRoutes(pages: pages).add(to: router)
        DraftRoutes(pages: pages).add(to: router)
        ListRoutes(pages: pages).add(to: router)
        ManyRoutes(pages: pages, edits: edits).add(to: router)
        ChangesRoutes(pages: pages, edits: edits).add(to: router)
        FrameRoutes(pages: pages).add(to: router)
        StartRoutes(pages: pages).add(to: router)
        StartFileRoutes(pages: pages).add(to: router)
        StartPortalRoutes(pages: pages).add(to: router)
        OfflineRoutes(pages: pages).add(to: router)
        AreaRoutes(pages: pages).add(to: router)
        TransactionRoutes(pages: pages).add(to: router)
        AccountRoutes(pages: pages).add(to: router)
        return router
    }

    /// Tells open windows what the state line says now.
    private static func tell(_ map: OpenMap, pages: PageRenderer) async {
        let status = await pages.status(map)
        let hub = pages.workspace.hub
        let parts: [(target: String, model: any TemplateModel)] = [
            ("state", status), ("sending", SendingView.bar(await map.outbox.report)),
            ("transaction", TransactionBar(map, revision: hub.revision)),
        ]
        for part in parts {
            guard let markup = try? pages.templates.render(part.model) else { continue }
            hub.send("fragment", StateFragment(target: part.target, html: markup.html, count: status.count ?? 0))
        }
    }
}

/// The state line for windows that are open.
struct StateFragment: Encodable, Sendable {
    let target: String
    let html: String
    let count: Int
}
