import Foundation

/// Runs a program that is not ours against a file of ours.
enum ShellTool {
    static func path(_ name: String) -> String? {
        ["/usr/bin/", "/usr/local/bin/", "/opt/homebrew/bin/"].map { $0 + name }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    static func exists(_ name: String) -> Bool { path(name) != nil }

    struct Failure: Error {
        var status: Int32
        var output: String
    }

    /// What the program wrote. Throws `Failure` when it ended with another status than 0.
    static func run(_ name: String, _ arguments: [String]) throws -> String {
        let process = Process()
        process.executableURL = URL(filePath: path(name) ?? name)
        process.arguments = arguments
        // Into a file: the end of a pipe may be inherited by a process that another test starts meanwhile, and would
        // then never be reached.
        let file = FileManager.default.temporaryDirectory.appending(path: "fieldwork-tool-\(UUID().uuidString)")
        try Data().write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let handle = try FileHandle(forWritingTo: file)
        process.standardOutput = handle
        process.standardError = handle
        try process.run()
        process.waitUntilExit()
        let output = String(decoding: try Data(contentsOf: file), as: UTF8.self)
        guard process.terminationStatus == 0 else { throw Failure(status: process.terminationStatus, output: output) }
        return output
    }
}
