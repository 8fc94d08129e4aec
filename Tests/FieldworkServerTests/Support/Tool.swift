import Foundation
import TestSupport

/// Programs of the system that tests compare with.
enum Tool {
    struct Output {
        var status: Int32
        var standardOutput: Data
        var standardError: String
        var text: String { String(decoding: standardOutput, as: UTF8.self) }
    }

    static func isInstalled(_ name: String) -> Bool { path(name) != nil }

    /// Runs a program to its end, without holding a thread meanwhile: the server under test needs it.
    static func run(_ name: String, _ arguments: [String], environment: [String: String] = [:]) async throws -> Output {
        guard let path = path(name) else { throw CocoaError(.fileNoSuchFile) }
        // GDAL keeps tiles of services below the folder that the tests run in, unless it is told where.
        let tiles = FileManager.default.temporaryDirectory.appending(path: "fieldwork-tool-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: tiles) }
        let ended = try await ChildProcess.runAside(
            path, arguments,
            environment: ["GDAL_DEFAULT_WMS_CACHE_PATH": tiles.path].merging(environment) { $1 })
        return Output(
            status: ended.status, standardOutput: ended.standardOutput,
            standardError: String(decoding: ended.standardError, as: UTF8.self))
    }

    private static func path(_ name: String) -> String? {
        (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin").split(separator: ":").map { "\($0)/\(name)" }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }
}
