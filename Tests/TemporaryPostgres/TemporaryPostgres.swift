package import FieldworkPostGIS
import FieldworkStore
package import Foundation
import Synchronization

/// A PostgreSQL of the tests' own: made in a temporary folder, on a free port of loopback, removed when the tests end.
/// The server refuses to run as root, so root runs it as Debian's `postgres`.
package final class TemporaryPostgres: Sendable {
    package struct Failure: Error, CustomStringConvertible {
        package var description: String
    }

    /// One for all suites of the process: starting one takes seconds.
    package static let shared = Task { try await TemporaryPostgres() }

    package static let binaries = URL(filePath: "/usr/lib/postgresql/15/bin", directoryHint: .isDirectory)
    package static var isInstalled: Bool {
        FileManager.default.isExecutableFile(atPath: binaries.appending(path: "initdb").path)
    }

    package let folder: URL
    package let port: Int
    private let server = Mutex<pid_t>(0)

    private init() async throws {
        folder = FileManager.default.temporaryDirectory.appending(
            path: "fieldwork-postgres-\(ProcessInfo.processInfo.processIdentifier)", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        if getuid() == 0 { try await Self.run("/bin/chown", ["postgres", folder.path], asOwner: false) }
        port = try Self.freePort()
        let data = folder.appending(path: "data").path
        try await Self.run(
            Self.binaries.appending(path: "initdb").path,
            ["-D", data, "-A", "trust", "-U", "fieldwork", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync"])
        try await start()
        try PostgresConnection(PostgresSettings(address(database: "postgres"))).execute("CREATE DATABASE fieldwork")
        try PostgresConnection(PostgresSettings(address())).execute("CREATE EXTENSION postgis")
        // Deinitialisation does not happen for what a process holds to its end.
        stopAtExit()
    }

    package func address(database: String = "fieldwork") -> String {
        "postgres://fieldwork@127.0.0.1:\(port)/\(database)"
    }

    /// Starts the server as a child of the tests. `pg_ctl` would leave it to run by itself, with a socket in hand by which
    /// Foundation waits for the end of `pg_ctl`.
    package func start() async throws {
        let identifier = try await Self.startServer(
            on: folder.appending(path: "data"), port: port, log: folder.appending(path: "log"))
        self.server.withLock { $0 = identifier }
    }

    /// - Returns: the server's process, once it answers.
    static func startServer(
        on data: URL, port: Int, log: URL, settings: [String] = []
    ) async throws -> pid_t {
        let server = process(
            binaries.appending(path: "postgres").path,
            [
                "-D", data.path, "-p", "\(port)", "-c", "listen_addresses=127.0.0.1",
                "-c", "unix_socket_directories=", "-c", "fsync=off", "-c", "max_connections=500",
            ] + settings.flatMap { ["-c", $0] }, asOwner: true)
        if !FileManager.default.fileExists(atPath: log.path) { try Data().write(to: log) }
        let output = try FileHandle(forWritingTo: log)
        try output.seekToEnd()
        server.standardOutput = output
        server.standardError = output
        try server.run()
        let address = try PostgresSettings("postgres://fieldwork@127.0.0.1:\(port)/postgres")
        for _ in 0..<2_400 {
            if (try? PostgresConnection(address)) != nil { return server.processIdentifier }
            guard server.isRunning else { break }
            try await Task.sleep(for: .milliseconds(25))
        }
        throw Failure(description: "PostgreSQL did not start: \(try String(contentsOf: log, encoding: .utf8))")
    }

    /// An empty schema of its own for a test.
    package func connection() throws -> PostgresConnection {
        let connection = try PostgresConnection(PostgresSettings(address()))
        let schema = "test_\(UUID().uuidString.lowercased().replacing("-", with: ""))"
        try connection.execute("CREATE SCHEMA \(schema); SET search_path = \(schema), public")
        return connection
    }

    /// A database of its own for a test, prepared for services.
    package func storeAddress() async throws -> String {
        try await Self.template.value
        return address(database: try Self.makeStore(at: address(database: "postgres")))
    }

    /// - Returns: the name of a database that is prepared for services, on a server that has the template.
    static func makeStore(at address: String) throws -> String {
        let name = "store_\(UUID().uuidString.lowercased().replacing("-", with: ""))"
        let connection = try PostgresConnection(PostgresSettings(address))
        try connection.execute("CREATE DATABASE \(name) TEMPLATE fieldwork_template")
        return name
    }

    // MARK: A standby

    /// A copy of the whole server that follows it by streaming.
    package func standby() async throws -> TemporaryStandby {
        let port = try Self.freePort()
        let data = folder.appending(path: "standby-\(port)")
        try await Self.copy(self.port, to: data, following: true)
        let standby = TemporaryStandby(data: data, port: port)
        try await standby.start()
        return standby
    }

    /// Copies a running server.
    /// - Parameter following: whether the copy is to follow it.
    static func copy(_ port: Int, to data: URL, following: Bool) async throws {
        try await run(
            binaries.appending(path: "pg_basebackup").path,
            [
                "-D", data.path, "-h", "127.0.0.1", "-p", "\(port)", "-U", "fieldwork", "-X", "stream",
                "--checkpoint=fast", "--no-sync",
            ] + (following ? ["-R"] : []))
    }

    /// A primary and a standby of their own, which may be killed.
    package func pair() async throws -> TemporaryPair {
        try await Self.template.value
        return try await TemporaryPair(copying: self)
    }

    /// Drops a database of `storeAddress`, for tests that need many of them.
    package func removeStore(_ address: String) throws {
        guard let name = address.split(separator: "/").last, name.hasPrefix("store_") else { return }
        let connection = try PostgresConnection(PostgresSettings(self.address(database: "postgres")))
        try connection.execute("DROP DATABASE \(name) WITH (FORCE)")
    }

    /// What the databases of tests are copies of.
    private static let template = Task {
        let server = try await shared.value
        let connection = try PostgresConnection(PostgresSettings(server.address(database: "postgres")))
        try connection.execute("CREATE DATABASE fieldwork_template")
        try PostgresConnection(PostgresSettings(server.address(database: "fieldwork_template")))
            .execute("CREATE EXTENSION postgis")
        try await PostgresStore.initialize(server.address(database: "fieldwork_template"))
    }

    // MARK: Processes

    private static func process(_ program: String, _ arguments: [String], asOwner: Bool) -> Process {
        let process = Process()
        if getuid() == 0, asOwner {
            process.executableURL = URL(filePath: "/usr/bin/setpriv")
            process.arguments =
                ["--reuid=postgres", "--regid=postgres", "--clear-groups", program] + arguments
        } else {
            process.executableURL = URL(filePath: program)
            process.arguments = arguments
        }
        process.standardInput = FileHandle.nullDevice
        process.currentDirectoryURL = URL(filePath: "/")
        return process
    }

    private static func run(_ program: String, _ arguments: [String], asOwner: Bool = true) async throws {
        let process = process(program, arguments, asOwner: asOwner)
        // What it prints goes to a file: another child may inherit a pipe and hold it open.
        let output = FileManager.default.temporaryDirectory.appending(path: "fieldwork-postgres-\(UUID().uuidString)")
        try Data().write(to: output)
        defer { try? FileManager.default.removeItem(at: output) }
        process.standardOutput = try FileHandle(forWritingTo: output)
        process.standardError = process.standardOutput
        let status: Int32 = try await withCheckedThrowingContinuation { continuation in
            process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
            do { try process.run() } catch { continuation.resume(throwing: error) }
        }
        guard status == 0 else {
            let text = try String(contentsOf: output, encoding: .utf8)
            throw Failure(description: "\(program) ended with \(status): \(text)")
        }
    }

    static func freePort() throws -> Int {
        let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(socket) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket, $0, length) == 0 && getsockname(socket, $0, &length) == 0
            }
        }
        guard isBound else { throw Failure(description: "There is no free port.") }
        return Int(UInt16(bigEndian: address.sin_port))
    }

    private func stopAtExit() {
        Self.running.withLock { $0 = (server.withLock { $0 }, folder) }
        atexit {
            guard let (server, folder) = TemporaryPostgres.running.withLock({ $0 }) else { return }
            kill(server, SIGQUIT)
            try? FileManager.default.removeItem(at: folder)
        }
    }

    private static let running = Mutex<(server: pid_t, folder: URL)?>(nil)
}
