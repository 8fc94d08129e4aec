public import Foundation

/// A program that a test starts.
///
/// Foundation's `Process` is not for tests that run side by side: it learns of a child's end by a socket that the child holds,
/// and a child that is started in the same moment may inherit that socket. Whoever waits for the end of the first child then
/// waits for the end of the second one. This child is given nothing but its three streams, and is waited for by its id.
public struct ChildProcess: Sendable {
    /// A program that could not be started.
    public struct Failure: Error, CustomStringConvertible {
        /// Why.
        public var description: String
    }

    /// What a program left.
    public struct Output: Sendable {
        /// Its exit status; 128 and the signal's number when a signal ended it.
        public var status: Int32
        /// What it printed.
        public var standardOutput: Data
        /// What it said of errors.
        public var standardError: Data
    }

    /// Its number among the processes of the machine.
    public let identifier: pid_t

    /// Starts a program.
    /// - Parameters:
    ///   - program: its path.
    ///   - environment: added to the environment of the tests.
    ///   - output: the file to which what it prints is added; nil for nowhere.
    ///   - errors: the same for what it says of errors; nil for where `output` goes.
    public init(
        _ program: String, _ arguments: [String] = [], environment: [String: String] = [:], output: URL? = nil,
        errors: URL? = nil
    ) throws {
        let closing = """
            for open in /proc/self/fd/*; do open=${open##*/}; [ "$open" -gt 2 ] && eval "exec $open>&-"; done; exec "$@"
            """
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        let adding = O_WRONLY | O_CREAT | O_APPEND
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, output?.path ?? "/dev/null", adding, 0o600)
        if let errors {
            posix_spawn_file_actions_addopen(&actions, 2, errors.path, adding, 0o600)
        } else {
            posix_spawn_file_actions_adddup2(&actions, 1, 2)
        }
        var words = Self.copies(["/bin/bash", "-c", closing, program, program] + arguments)
        var variables = Self.copies(
            ProcessInfo.processInfo.environment.merging(environment) { $1 }.map { "\($0)=\($1)" })
        defer { for copy in words + variables { free(copy) } }
        var started: pid_t = 0
        let code = posix_spawn(&started, "/bin/bash", &actions, nil, &words, &variables)
        guard code == 0 else { throw Failure(description: "\(program): \(String(cString: strerror(code)))") }
        identifier = started
    }

    private static func copies(_ texts: [String]) -> [UnsafeMutablePointer<CChar>?] { texts.map { strdup($0) } + [nil] }

    /// False once it has ended; it is then gone from the list of processes.
    public var isRunning: Bool { waitpid(identifier, nil, WNOHANG) == 0 }

    /// Waits for the end, and holds the thread meanwhile.
    /// - Returns: the exit status; 128 and the signal's number when a signal ended it.
    @discardableResult
    public func wait() -> Int32 {
        var status: Int32 = 0
        while waitpid(identifier, &status, 0) == -1 { guard errno == EINTR else { return -1 } }
        let signal = status & 0x7F
        return signal == 0 ? status >> 8 & 0xFF : 128 + signal
    }

    /// Waits for the end without holding a thread of the tasks: there are only as many as cores.
    @discardableResult
    public func ended() async -> Int32 {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: wait()) }
        }
    }

    /// Runs a program to its end, and holds the thread meanwhile. What it prints goes through files: the end of a pipe would
    /// have to be read while it runs.
    public static func run(
        _ program: String, _ arguments: [String] = [], environment: [String: String] = [:]
    ) throws -> Output {
        let files = try OutputFiles()
        defer { files.remove() }
        let child = try ChildProcess(
            program, arguments, environment: environment, output: files.output, errors: files.errors)
        return try files.read(status: child.wait())
    }

    /// Runs a program to its end without holding a thread of the tasks: what it asks may have to run on one.
    public static func runAside(
        _ program: String, _ arguments: [String] = [], environment: [String: String] = [:]
    ) async throws -> Output {
        let files = try OutputFiles()
        defer { files.remove() }
        let child = try ChildProcess(
            program, arguments, environment: environment, output: files.output, errors: files.errors)
        return try files.read(status: await child.ended())
    }
}

/// Where a program's words go.
private struct OutputFiles {
    private let folder: URL
    var output: URL { folder.appending(path: "output") }
    var errors: URL { folder.appending(path: "errors") }

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "fieldwork-child-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    func read(status: Int32) throws -> ChildProcess.Output {
        ChildProcess.Output(
            status: status, standardOutput: try Data(contentsOf: output), standardError: try Data(contentsOf: errors))
    }

    func remove() { try? FileManager.default.removeItem(at: folder) }
}
