import Foundation
import Synchronization

/// The built `fieldwork`, run as a user runs it.
final class FieldworkProcess: Sendable {
    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    /// Where the package's build put the executable; `FIELDWORK_EXECUTABLE` names another.
    static let executable: URL = {
        if let path = ProcessInfo.processInfo.environment["FIELDWORK_EXECUTABLE"] { return URL(filePath: path) }
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        return root.appending(path: ".build/debug/fieldwork")
    }()

    struct Output: Sendable {
        var status: Int32
        var text: String
        var errors: String
    }

    /// Runs a verb to its end, without blocking the thread that waits. What it prints goes to files: the end of a pipe
    /// may be inherited by whatever process another test starts meanwhile, and would then never be reached.
    static func run(_ arguments: [String]) async throws -> Output {
        let folder = try TemporaryFolder()
        let (output, errors) = (folder.url.appending(path: "output"), folder.url.appending(path: "errors"))
        for file in [output, errors] { try Data().write(to: file) }
        let process = Process()
        process.executableURL = executable
        process.arguments = arguments
        process.standardOutput = try FileHandle(forWritingTo: output)
        process.standardError = try FileHandle(forWritingTo: errors)
        process.standardInput = FileHandle.nullDevice
        let status: Int32 = try await withCheckedThrowingContinuation { continuation in
            process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
            do { try process.run() } catch { continuation.resume(throwing: error) }
        }
        return Output(
            status: status, text: try String(contentsOf: output, encoding: .utf8),
            errors: try String(contentsOf: errors, encoding: .utf8))
    }

    /// `http://127.0.0.1:…/arcgis/rest/services`.
    let services: String
    private let process: Process
    private let ended: Task<Int32, Never>

    /// Starts `serve` on any free port and waits for its line.
    static func serve(data: URL) async throws -> FieldworkProcess {
        let process = Process()
        process.executableURL = executable
        process.arguments = ["serve", "--data", data.path, "--port", "0"]
        process.standardError = FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        let output = Pipe()
        process.standardOutput = output
        let (statuses, announce) = AsyncStream.makeStream(of: Int32.self)
        process.terminationHandler = {
            announce.yield($0.terminationStatus)
            announce.finish()
        }
        try process.run()
        let ended = Task { await statuses.first { _ in true } ?? -1 }
        for try await line in lines(of: output.fileHandleForReading) {
            guard let range = line.range(of: "services ") else { continue }
            return FieldworkProcess(
                services: String(line[range.upperBound...].split(separator: " ")[0]), process: process, ended: ended)
        }
        throw Failure(description: "fieldwork serve ended before it was ready")
    }

    private static func lines(of handle: FileHandle) -> AsyncStream<String> {
        AsyncStream { continuation in
            let buffer = Mutex("")
            handle.readabilityHandler = { handle in
                let data = handle.availableData
                guard !data.isEmpty else {
                    handle.readabilityHandler = nil
                    continuation.finish()
                    return
                }
                let whole = buffer.withLock { text -> [String] in
                    text += String(decoding: data, as: UTF8.self)
                    var lines = text.components(separatedBy: "\n")
                    text = lines.removeLast()
                    return lines
                }
                for line in whole { continuation.yield(line) }
            }
        }
    }

    private init(services: String, process: Process, ended: Task<Int32, Never>) {
        self.services = services
        self.process = process
        self.ended = ended
    }

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
