package import FieldworkStore
package import Logging
import ServiceLifecycle

/// A server that was started and listens: for tests, and for a program that runs it beside something else. It has its
/// own service group; `stop` shuts it down gracefully.
package struct RunningFeatureServer: Sendable {
    package let port: Int
    package let instance: String
    private let group: ServiceGroup
    private let running: Task<Void, any Error>

    /// The address of the catalogue, `http://…/<instance>/rest/services`.
    package var servicesAddress: String { "http://127.0.0.1:\(port)/\(instance)/rest/services" }

    /// Starts a server and waits until it accepts connections.
    /// - Parameter configuration: by default any free port of the loopback interface.
    package static func start(
        store: any FeatureStore, configuration: ServerConfiguration = ServerConfiguration(port: 0),
        logger: Logger = Logger(label: "fieldwork.server") { _ in SwiftLogNoOpLogHandler() }
    ) async throws -> RunningFeatureServer {
        let (ready, announce) = AsyncThrowingStream.makeStream(of: Int.self)
        let server = FeatureServer(store: store, configuration: configuration, logger: logger) { port in
            announce.yield(port)
            announce.finish()
        }
        var groupConfiguration = ServiceGroupConfiguration(services: [.init(service: server)], logger: logger)
        groupConfiguration.maximumGracefulShutdownDuration = configuration.shutdownTime
        let group = ServiceGroup(configuration: groupConfiguration)
        let running = Task {
            do {
                try await group.run()
                announce.finish()
            } catch {
                // Nobody waits for the port any longer when the server has been ready.
                announce.finish(throwing: error)
                throw error
            }
        }
        for try await port in ready {
            return RunningFeatureServer(port: port, instance: configuration.instance, group: group, running: running)
        }
        throw StoreError(.closed, "The server stopped before it accepted connections.")
    }

    /// Takes no more requests, lets those that are being answered finish, closes the store, and returns.
    package func stop() async throws {
        await group.triggerGracefulShutdown()
        try await running.value
    }
}
