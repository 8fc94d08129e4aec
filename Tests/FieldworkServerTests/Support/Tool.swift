import Foundation

/// Programs of the system that tests compare with.
enum Tool {
    struct Output {
        var status: Int32
        var standardOutput: Data
        var standardError: String
        var text: String { String(decoding: standardOutput, as: UTF8.self) }
    }

    static func isInstalled(_ name: String) -> Bool { path(name) != nil }

    /// Runs a program to its end, without holding a thread meanwhile: the server under test needs it. Its output goes
    /// through files, so that no pipe can fill up.
    static func run(_ name: String, _ arguments: [String], environment: [String: String] = [:]) async throws -> Output {
        guard let path = path(name) else { throw CocoaError(.fileNoSuchFile) }
        let folder = FileManager.default.temporaryDirectory.appending(path: "fieldwork-tool-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (output, errors) = (folder.appending(path: "out"), folder.appending(path: "err"))
        try Data().write(to: output)
        try Data().write(to: errors)
        let process = Process()
        process.executableURL = URL(filePath: path)
        process.arguments = arguments
        // GDAL keeps tiles of services below the folder that the tests run in, unless it is told where.
        let tiles = ["GDAL_DEFAULT_WMS_CACHE_PATH": folder.appending(path: "tiles").path]
        process.environment = ProcessInfo.processInfo.environment.merging(tiles) { $1 }.merging(environment) { $1 }
        process.standardOutput = try FileHandle(forWritingTo: output)
        process.standardError = try FileHandle(forWritingTo: errors)
        let status = try await withCheckedThrowingContinuation { continuation in
            process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
            do {
                try process.run()
            } catch {
                process.terminationHandler = nil
                continuation.resume(throwing: error)
            }
        }
        return Output(
            status: status, standardOutput: try Data(contentsOf: output),
            standardError: String(decoding: try Data(contentsOf: errors), as: UTF8.self))
    }

    private static func path(_ name: String) -> String? {
        (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin").split(separator: ":").map { "\($0)/\(name)" }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }
}
