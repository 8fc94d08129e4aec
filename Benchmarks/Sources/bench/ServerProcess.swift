import Foundation

/// The built `fieldwork`, started from outside as a user starts it.
final class ServerProcess {
    let port: UInt16
    private let process = Process()

    init(executable: URL, data: URL, port: UInt16) throws {
        self.port = port
        process.executableURL = executable
        process.arguments = ["serve", "--data", data.path, "--port", "\(port)"]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        for _ in 0..<200 {
            if let connection = try? Connection(port: port), (try? connection.get("/health")) != nil { return }
            Thread.sleep(forTimeInterval: 0.05)
        }
        process.terminate()
        throw ConnectionError(message: "the server did not start")
    }

    /// Resident memory in MB: all of it now and at its highest, and the part that is the process's own, without the pages of
    /// its program and libraries, which the kernel shares and drops at will.
    struct Memory {
        var now: Double
        var highest: Double
        var own: Double

        var text: String {
            String(format: "%.0f MB (%.0f MB without code), at its highest %.0f MB", now, own, highest)
        }
    }

    func memory() -> Memory {
        let status = (try? String(contentsOfFile: "/proc/\(process.processIdentifier)/status", encoding: .utf8)) ?? ""
        func value(_ name: String) -> Double {
            guard let line = status.split(separator: "\n").first(where: { $0.hasPrefix(name) }) else { return .nan }
            return Double(line.split(whereSeparator: { $0 == " " || $0 == "\t" })[1]).map { $0 / 1_024 } ?? .nan
        }
        return Memory(now: value("VmRSS:"), highest: value("VmHWM:"), own: value("RssAnon:"))
    }

    func stop() {
        process.terminate()
        process.waitUntilExit()
    }
}

/// Runs a command to its end.
func runToEnd(_ executable: URL, _ arguments: [String]) throws {
    let process = Process()
    process.executableURL = executable
    process.arguments = arguments
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
        throw ConnectionError(message: "\(executable.lastPathComponent) \(arguments.first ?? "") failed")
    }
}

/// What a command prints, without the ends of its lines.
func output(of executable: URL, _ arguments: [String]) throws -> String {
    let (process, pipe) = (Process(), Pipe())
    (process.executableURL, process.arguments) = (executable, arguments)
    (process.standardOutput, process.standardError) = (pipe, FileHandle.nullDevice)
    try process.run()
    let data = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
}
