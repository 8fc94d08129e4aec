package import FieldworkPostGIS
import FieldworkStore
package import Foundation
import Synchronization
import TestSupport

/// A PostgreSQL of the tests' own: made in a temporary folder, on a free port of loopback, removed when the tests end or with
/// its last reference. The server refuses to run as root, so root runs it as Debian's `postgres`.
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

    /// All servers of the process lie in it.
    private static let folder = Task {
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "fieldwork-postgres-\(ProcessInfo.processInfo.processIdentifier)", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        if getuid() == 0 { try await run("/bin/chown", ["postgres", folder.path]) }
        ServerProcess.removeAtExit(folder)
        return folder
    }

    package let port: Int
    private let data: URL
    private let server: ServerProcess
    private let template = Mutex<Task<Void, any Error>?>(nil)

    package init() async throws {
        port = try Self.freePort()
        data = try await Self.folder.value.appending(path: "server-\(port)")
        let (program, arguments) = Self.asOwner(
            Self.binaries.appending(path: "initdb").path,
            ["-D", data.path, "-A", "trust", "-U", "fieldwork", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync"])
        try await Self.run(program, arguments)
        server = try await Self.startServer(on: data, port: port)
        try PostgresConnection(PostgresSettings(address(database: "postgres"))).execute("CREATE DATABASE fieldwork")
        try PostgresConnection(PostgresSettings(address())).execute("CREATE EXTENSION postgis")
    }

    deinit {
        server.stop()
        try? FileManager.default.removeItem(at: data)
    }

    package func address(database: String = "fieldwork") -> String {
        "postgres://fieldwork@127.0.0.1:\(port)/\(database)"
    }

    /// Starts a server as a child of the tests; `pg_ctl` would leave it to run by itself. What it says is added to a log
    /// beside its folder.
    /// - Returns: the server's process, once it answers.
    static func startServer(on data: URL, port: Int, settings: [String] = []) async throws -> ServerProcess {
        let (program, arguments) = asOwner(
            binaries.appending(path: "postgres").path,
            [
                "-D", data.path, "-p", "\(port)", "-c", "listen_addresses=127.0.0.1",
                "-c", "unix_socket_directories=", "-c", "fsync=off", "-c", "max_connections=500",
                // What a copy or a standby has yet to read is not cleared away under it, however slow the machine is.
                "-c", "wal_keep_size=256MB", "-c", "max_wal_size=512MB",
            ] + settings.flatMap { ["-c", $0] })
        let log = data.appendingPathExtension("log")
        let server = try ServerProcess(program, arguments, log: log)
        let address = try PostgresSettings("postgres://fieldwork@127.0.0.1:\(port)/postgres")
        for _ in 0..<2_400 {
            if (try? PostgresConnection(address)) != nil { return server }
            guard server.isRunning else { break }
            try await Task.sleep(for: .milliseconds(25))
        }
        server.stop()
        throw Failure(description: "PostgreSQL did not start: \(try String(contentsOf: log, encoding: .utf8))")
    }

    /// An empty schema of its own for a test.
    package func connection() throws -> PostgresConnection {
        let connection = try PostgresConnection(PostgresSettings(address()))
        let schema = "test_\(UUID().uuidString.lowercased().replacing("-", with: ""))"
        try connection.execute("CREATE SCHEMA \(schema); SET search_path = \(schema), public")
        return connection
    }

    /// A database of its own for a test, prepared for services. It goes with the end of the test.
    package func storeAddress() async throws -> String {
        try await makeTemplate()
        let address = address(database: try Self.makeStore(at: address(database: "postgres")))
        TestEnd.then { try self.removeStore(address) }
        return address
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
        let copy = data.deletingLastPathComponent().appending(path: "standby-\(port)")
        try await Self.copy(self.port, to: copy, following: true)
        return try await TemporaryStandby(data: copy, port: port)
    }

    /// Copies a running server.
    /// - Parameter following: whether the copy is to follow it.
    static func copy(_ port: Int, to data: URL, following: Bool) async throws {
        let (program, arguments) = asOwner(
            binaries.appending(path: "pg_basebackup").path,
            [
                "-D", data.path, "-h", "127.0.0.1", "-p", "\(port)", "-U", "fieldwork", "-X", "stream",
                "--checkpoint=fast", "--no-sync",
            ] + (following ? ["-R"] : []))
        try await run(program, arguments)
    }

    /// A primary and a standby of their own, which may be killed.
    package static func pair() async throws -> TemporaryPair {
        let source = try await TemporaryPostgres()
        defer { withExtendedLifetime(source) {} }
        try await source.makeTemplate()
        return try await TemporaryPair(copying: source.port, in: folder.value)
    }

    /// Drops a database of `storeAddress`, for tests that need many of them.
    package func removeStore(_ address: String) throws {
        guard let name = address.split(separator: "/").last, name.hasPrefix("store_") else { return }
        let connection = try PostgresConnection(PostgresSettings(self.address(database: "postgres")))
        try connection.execute("DROP DATABASE \(name) WITH (FORCE)")
    }

    /// Makes what the databases of tests are copies of, once.
    private func makeTemplate() async throws {
        let making = template.withLock { task in
            let making = task ?? Task { [port] in try await Self.makeTemplate(on: port) }
            task = making
            return making
        }
        try await making.value
    }

    private static func makeTemplate(on port: Int) async throws {
        let server = "postgres://fieldwork@127.0.0.1:\(port)"
        try PostgresConnection(PostgresSettings("\(server)/postgres")).execute("CREATE DATABASE fieldwork_template")
        try PostgresConnection(PostgresSettings("\(server)/fieldwork_template")).execute("CREATE EXTENSION postgis")
        try await PostgresStore.initialize("\(server)/fieldwork_template")
    }

    // MARK: Processes

    /// The server and its tools refuse to run as root.
    private static func asOwner(_ program: String, _ arguments: [String]) -> (program: String, arguments: [String]) {
        guard getuid() == 0 else { return (program, arguments) }
        return (
            "/usr/bin/setpriv", ["--reuid=postgres", "--regid=postgres", "--clear-groups", program] + arguments
        )
    }

    private static func run(_ program: String, _ arguments: [String]) async throws {
        // Its owner may be kept out of the folder that the tests run in.
        let ended = try await ChildProcess.runAside("/usr/bin/env", ["--chdir=/", program] + arguments)
        guard ended.status == 0 else {
            let text = String(decoding: ended.standardOutput + ended.standardError, as: UTF8.self)
            throw Failure(description: "\(program) ended with \(ended.status): \(text)")
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
}
