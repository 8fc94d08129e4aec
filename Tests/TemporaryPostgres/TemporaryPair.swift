import FieldworkPostGIS
import Foundation

/// A primary and the standby that each of its COMMITs waits for: two servers of the tests' own, which are killed as when the
/// power fails, and change places. They end with their last reference.
package actor TemporaryPair {
    private struct Server {
        let data: URL
        let port: Int
        var process: ServerProcess?
    }

    private static let name = "fieldwork_standby"
    private static let settings = [
        "cluster_name=\(name)", "synchronous_standby_names=\(name)", "synchronous_commit=on",
        "wal_retrieve_retry_interval=100ms",
    ]

    private var primary: Server
    private var standby: Server
    private let ports: [Int]

    /// - Parameter port: of a server that both are made like.
    init(copying port: Int, in folder: URL) async throws {
        let servers = try (0..<2).map { _ in
            let port = try TemporaryPostgres.freePort()
            return Server(data: folder.appending(path: "pair-\(port)"), port: port)
        }
        (primary, standby) = (servers[0], servers[1])
        ports = servers.map(\.port)
        try await TemporaryPostgres.copy(port, to: primary.data, following: false)
        primary = try await Self.started(primary)
        try await follow()
    }

    deinit {
        for server in [primary, standby] {
            server.process?.stop()
            try? FileManager.default.removeItem(at: server.data)
        }
    }

    /// Both of them, in an order that says nothing.
    package nonisolated func address(database: String) -> String {
        "postgres://fieldwork@\(ports.map { "127.0.0.1:\($0)" }.joined(separator: ","))/\(database)"
    }

    /// A database of its own for a test, prepared for services.
    package func storeAddress() throws -> String {
        address(database: try TemporaryPostgres.makeStore(at: address(database: "postgres")))
    }

    // MARK: What happens to them

    /// The primary dies and comes back.
    package func killPrimary() async throws {
        try await Self.kill(primary)
        primary = try await Self.started(primary)
    }

    /// The standby dies and comes back. Until then no COMMIT ends.
    package func killStandby() async throws {
        try await stopStandby()
        try await startStandby()
    }

    package func stopStandby() async throws { try await Self.kill(standby) }

    package func startStandby() async throws { standby = try await Self.started(standby) }

    /// Of the standby alone.
    package var standbyAddress: String { "postgres://fieldwork@127.0.0.1:\(standby.port)/fieldwork" }

    /// The primary dies for good. The standby takes its place, and gets a new one at the place of the old primary.
    package func changePrimary() async throws {
        try await Self.kill(primary)
        let connection = try PostgresConnection(
            PostgresSettings("postgres://fieldwork@127.0.0.1:\(standby.port)/postgres"))
        guard try connection.integer("SELECT pg_promote()::int::bigint") == 1 else {
            throw TemporaryPostgres.Failure(description: "The standby was not promoted.")
        }
        (primary, standby) = (standby, primary)
        try FileManager.default.removeItem(at: standby.data)
        try await follow()
    }

    private func follow() async throws {
        try await TemporaryPostgres.copy(primary.port, to: standby.data, following: true)
        standby = try await Self.started(standby)
    }

    private static func started(_ server: Server) async throws -> Server {
        var started = server
        started.process = try await TemporaryPostgres.startServer(
            on: server.data, port: server.port, settings: settings)
        return started
    }

    // MARK: Killing

    /// Kills a server with all of its processes, so that none of them says or writes a last word.
    private static func kill(_ server: Server) async throws {
        guard let process = server.process?.identifier else { return }
        // Stopped, it begins no new ones.
        Foundation.kill(process, SIGSTOP)
        let family = [process] + children(of: process)
        for process in family.reversed() { Foundation.kill(process, SIGKILL) }
        // The next server on the same folder looks whether the last one still lives.
        while family.contains(where: { parent(of: $0) != nil }) { try await Task.sleep(for: .milliseconds(5)) }
        server.process?.stop()
    }

    private static func children(of process: pid_t) -> [pid_t] {
        let all = (try? FileManager.default.contentsOfDirectory(atPath: "/proc"))?.compactMap(pid_t.init) ?? []
        return all.filter { parent(of: $0) == process }
    }

    /// nil for a process that has ended.
    private static func parent(of process: pid_t) -> pid_t? {
        guard let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
            let name = text.range(of: ")", options: .backwards)
        else { return nil }
        let fields = text[name.upperBound...].split(separator: " ")
        return fields.first == "Z" ? nil : fields.dropFirst().first.flatMap { pid_t($0) }
    }
}
