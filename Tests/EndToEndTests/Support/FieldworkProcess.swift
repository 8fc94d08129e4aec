import Foundation
import Synchronization

/// The built `fieldwork`, run as a user runs it.
final class FieldworkProcess: Sendable {
    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    /// Where the build of the tests put the package's programs.
    static let products = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: ".build/debug")

    /// The `fieldwork` that is tested: that of the same build, unless `FIELDWORK_EXECUTABLE` names another, such as a release.
    static let executable =
        ProcessInfo.processInfo.environment["FIELDWORK_EXECUTABLE"].map { URL(filePath: $0) }
        ?? products.appending(path: "fieldwork")

    struct Output: Sendable {
        var status: Int32
        var text: String
        var errors: String
    }

    /// Runs a verb, or another program of the package, to its end.
    static func run(
        _ arguments: [String], environment: [String: String] = [:], program: URL = executable
    ) async throws -> Output {
        let process = try start(arguments, environment: environment, program: program)
        let status = await process.status()
        return Output(status: status, text: try process.text(), errors: try process.errors())
    }

    /// Starts `serve` on any free port and waits for its line.
    static func serve(data: URL) async throws -> FieldworkProcess {
        let process = try start(["serve", "--data", data.path, "--port", "0"])
        _ = try await process.readyLine()
        return process
    }

    /// Starts a verb for which no file may grow beyond so many KB: as on a full disk, writing fails, or, with `isKilled`,
    /// the system ends the process at that very write.
    static func start(_ arguments: [String], fileKilobytes: Int, isKilled: Bool = false) throws -> FieldworkProcess {
        let trap = isKilled ? "" : "trap '' XFSZ; "
        return try start(
            ["-c", "\(trap)ulimit -f \(fileKilobytes); exec \"$0\" \"$@\"", executable.path] + arguments,
            program: URL(filePath: "/bin/bash"))
    }

    /// Starts a verb. What it prints goes to files: the end of a pipe may be inherited by whatever process another test
    /// starts meanwhile, and would then never be reached.
    static func start(
        _ arguments: [String], environment: [String: String] = [:], program: URL = executable
    ) throws -> FieldworkProcess {
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "fieldwork-process-\(UUID().uuidString)", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let (output, errors) = (folder.appending(path: "output"), folder.appending(path: "errors"))
        for file in [output, errors] { try Data().write(to: file) }
        let process = Process()
        process.executableURL = program
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let handles = try [output, errors].map { try FileHandle(forWritingTo: $0) }
        // Foundation keeps each process that it ever started, and with it what was not closed.
        defer { for handle in handles { try? handle.close() } }
        (process.standardOutput, process.standardError) = (handles[0], handles[1])
        process.standardInput = FileHandle.nullDevice
        let (statuses, announce) = AsyncStream.makeStream(of: Int32.self)
        process.terminationHandler = {
            announce.yield($0.terminationStatus)
            announce.finish()
        }
        try process.run()
        return FieldworkProcess(
            process: process, ended: Task { await statuses.first { _ in true } ?? -1 }, folder: folder)
    }

    private let process: Process
    private let ended: Task<Int32, Never>
    private let folder: URL
    private let root = Mutex("")

    /// `http://127.0.0.1:…/arcgis/rest/services`, once the line was there.
    var services: String { root.withLock { $0 } }

    private init(process: Process, ended: Task<Int32, Never>, folder: URL) {
        self.process = process
        self.ended = ended
        self.folder = folder
    }

    /// Who forgets a process ends it: none outlives its test.
    deinit {
        if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) }
        try? FileManager.default.removeItem(at: folder)
    }

    func text() throws -> String { try String(contentsOf: folder.appending(path: "output"), encoding: .utf8) }

    func errors() throws -> String { try String(contentsOf: folder.appending(path: "errors"), encoding: .utf8) }

    var isRunning: Bool { process.isRunning }

    var processID: Int32 { process.processIdentifier }

    /// Waits for the line that says that all of it serves.
    func readyLine() async throws -> String {
        while true {
            let isRunning = process.isRunning
            if let end = try text().range(of: "\n") {
                let line = String(try text()[..<end.lowerBound])
                if let range = line.range(of: "services ") {
                    root.withLock { $0 = String(line[range.upperBound...].split(separator: " ")[0]) }
                }
                return line
            }
            guard isRunning else { throw Failure(description: "It ended before it was ready: \(try errors())") }
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    /// The exit code, when it has ended by itself.
    func status() async -> Int32 { await ended.value }

    /// Ends it at once, whatever it is doing, and waits until it is gone.
    func kill() async {
        Foundation.kill(process.processIdentifier, SIGKILL)
        _ = await ended.value
    }

    /// Asks it to end, as Ctrl-C does, and gives its exit code.
    func interrupt() async -> Int32 {
        Foundation.kill(process.processIdentifier, SIGINT)
        return await ended.value
    }
}
