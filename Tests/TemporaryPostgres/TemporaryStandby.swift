import FieldworkPostGIS
import Foundation
import Synchronization

/// A standby of `TemporaryPostgres`. It ends with its last reference.
package final class TemporaryStandby: Sendable {
    private let data: URL
    private let port: Int
    private let server: Mutex<ServerProcess>

    init(data: URL, port: Int) async throws {
        self.data = data
        self.port = port
        server = Mutex(try await TemporaryPostgres.startServer(on: data, port: port))
    }

    deinit {
        stop()
        try? FileManager.default.removeItem(at: data)
    }

    /// Where a database of the primary is found on the standby.
    package func address(of primary: String) -> String {
        "postgres://fieldwork@127.0.0.1:\(port)/\(primary.split(separator: "/").last ?? "")"
    }

    package func start() async throws {
        let started = try await TemporaryPostgres.startServer(on: data, port: port)
        server.withLock { $0 = started }
    }

    /// Ends it at once, as a machine that is switched off.
    package func stop() { server.withLock { $0 }.stop() }

    /// Stands still, or follows again.
    package func setPaused(_ isPaused: Bool) throws {
        let connection = try PostgresConnection(PostgresSettings(address(of: "/postgres")))
        try connection.execute(isPaused ? "SELECT pg_wal_replay_pause()" : "SELECT pg_wal_replay_resume()")
    }
}
