import FieldworkCollect
import Foundation
import Logging
import ServiceLifecycle

/// Prints the one line that says that all of it serves.
actor ReadyLine {
    private let listen: ListenOptions
    private let showsPortal: Bool
    private var serverPort: Int?
    private let ports = AsyncStream.makeStream(of: Int.self)

    init(_ listen: ListenOptions, showsPortal: Bool) {
        self.listen = listen
        self.showsPortal = showsPortal
    }

    func serverIsReady(_ port: Int) {
        serverPort = port
        ports.continuation.yield(port)
        ports.continuation.finish()
    }

    /// The services' address, as soon as the server accepts connections; nil when the waiting task was cancelled before.
    func services() async -> String? {
        for await port in ports.stream { return listen.servicesAddress(port: port) }
        return nil
    }

    func appIsReady(_ app: CollectAddress) {
        guard let serverPort else { return }
        let portal = showsPortal ? " · portal \(listen.portalAddress(port: serverPort))" : ""
        Terminal.output(
            "Fieldwork is ready: services \(listen.servicesAddress(port: serverPort))\(portal) · app \(app.text)")
    }
}

/// The app in the server's process: it starts when the server accepts connections and reaches it over the protocol, as
/// it would from another machine.
struct AppBesideServer: Service {
    /// It is reached from this machine alone.
    static let host = "127.0.0.1"

    var ready: ReadyLine
    var port: Int
    var dataDirectory: URL
    /// Web maps that its first page offers in place of the services that they show.
    var maps: [CollectConfiguration.OfferedMap] = []
    var logger: Logger

    func run() async throws {
        // A server that can't start must not leave the app waiting for it.
        let waiting = ready
        guard let services = await cancelWhenGracefulShutdown({ await waiting.services() }) else { return }
        let configuration = CollectConfiguration(
            port: port, servicesRoot: URL(string: services),
            ownsServices: true, offeredMaps: maps, dataDirectory: dataDirectory,
            mapLibraryDirectory: MapLibrary.directory)
        do {
            try await CollectApp(configuration: configuration, logger: logger).run { [ready] in
                await ready.appIsReady($0)
            }
        } catch {
            throw Serving.failure(error, host: configuration.host, port: port)
        }
    }
}
