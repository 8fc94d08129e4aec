import FieldworkServer
import Foundation
import Logging
import ServiceLifecycle
import UnixSignals

/// Runs services until Ctrl-C or SIGTERM; then they finish what they are doing and stop.
enum Serving {
    static func logger() -> Logger {
        var logger = Logger(label: "fieldwork") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = .warning
        return logger
    }

    /// - Parameter restart: called for SIGHUP, with what stops the services gracefully.
    static func run(
        _ services: [any Service], on listen: ListenOptions, logger: Logger,
        restart: (@Sendable (ServiceGroup) async -> Void)? = nil
    ) async throws {
        AnswerMemory.keep()
        var configuration = ServiceGroupConfiguration(
            services: services.map { .init(service: $0, failureTerminationBehavior: .gracefullyShutdownGroup) },
            gracefulShutdownSignals: [.sigint, .sigterm], logger: logger)
        configuration.maximumGracefulShutdownDuration = .seconds(20)
        let group = ServiceGroup(configuration: configuration)
        let listening = restart.map { restart in
            Task {
                for await _ in await UnixSignalsSequence(trapping: .sighup) { await restart(group) }
            }
        }
        defer { listening?.cancel() }
        do {
            try await group.run()
        } catch {
            throw failure(error, host: listen.host, port: listen.port)
        }
    }

    /// A taken port is the one thing that goes wrong often at a start: it deserves its own words.
    static func failure(_ error: any Error, host: String, port: Int) -> CommandFailure {
        if let failure = error as? CommandFailure { return failure }
        let text = "\(error)"
        if text.contains("EADDRINUSE") || text.contains("errno: 98") || text.contains("Address already in use") {
            return CommandFailure(
                .unavailable,
                "The port \(port) is taken by another program. Choose another with --port, or stop that program.")
        }
        if text.contains("EACCES") || text.contains("errno: 13") {
            return CommandFailure(
                .unavailable,
                "The port \(port) may not be used without more rights. Choose one above 1024.")
        }
        if text.contains("EADDRNOTAVAIL") || text.contains("errno: 99") || text.contains("UnknownHost") {
            return CommandFailure(.unavailable, "\(host) is no address of this machine.")
        }
        return CommandFailure(error)
    }
}
