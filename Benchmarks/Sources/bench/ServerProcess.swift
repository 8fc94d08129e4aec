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

    /// Resident memory now and at its highest, in MB.
    func memory() -> (now: Double, highest: Double) {
        let status = (try? String(contentsOfFile: "/proc/\(process.processIdentifier)/status", encoding: .utf8)) ?? ""
        func value(_ name: String) -> Double {
            guard let line = status.split(separator: "\n").first(where: { $0.hasPrefix(name) }) else { return .nan }
            return Double(line.split(whereSeparator: { $0 == " " || $0 == "\t" })[1]).map { $0 / 1_024 } ?? .nan
        }
        return (value("VmRSS:"), value("VmHWM:"))
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
