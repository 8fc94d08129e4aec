import FieldworkPostGIS
import Foundation
import Synchronization

/// A standby of `TemporaryPostgres`. It lies in the folder of that, and ends with its last reference.
package final class TemporaryStandby: Sendable {
    private let data: URL
    private let port: Int
    private let server = Mutex<pid_t>(0)

    init(data: URL, port: Int) {
        self.data = data
        self.port = port
    }

    deinit { stop() }

    /// Where a database of the primary is found on the standby.
    package func address(of primary: String) -> String {
        "postgres://fieldwork@127.0.0.1:\(port)/\(primary.split(separator: "/").last ?? "")"
    }

    package func start() async throws {
        let identifier = try await TemporaryPostgres.startServer(
            on: data, port: port, log: data.appendingPathExtension("log"))
        server.withLock { $0 = identifier }
    }

    /// Ends it at once, as a machine that is switched off.
    package func stop() {
        let identifier = server.withLock { server in
            defer { server = 0 }
            return server
        }
        if identifier > 0 { kill(identifier, SIGQUIT) }
    }

    /// Stands still, or follows again.
    package func setPaused(_ isPaused: Bool) throws {
        let connection = try PostgresConnection(PostgresSettings(address(of: "/postgres")))
        try connection.execute(isPaused ? "SELECT pg_wal_replay_pause()" : "SELECT pg_wal_replay_resume()")
    }
}
