import Foundation
import TestSupport

/// A line of shell, for what only a shell sets up: redirections and pipes.
enum Shell {
    static func run(_ line: String) async throws -> Int32 {
        try await ChildProcess("/bin/bash", ["-c", line]).ended()
    }

    /// Whether a program is on the search path.
    static func has(_ program: String) -> Bool {
        (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").contains {
            FileManager.default.isExecutableFile(atPath: "\($0)/\(program)")
        }
    }
}
