import Foundation
import TestSupport

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

    /// What the program wrote, its errors last. Throws `Failure` when it ended with another status than 0.
    static func run(_ name: String, _ arguments: [String]) throws -> String {
        let ended = try ChildProcess.run(path(name) ?? name, arguments)
        let output = String(decoding: ended.standardOutput + ended.standardError, as: UTF8.self)
        guard ended.status == 0 else { throw Failure(status: ended.status, output: output) }
        return output
    }
}
