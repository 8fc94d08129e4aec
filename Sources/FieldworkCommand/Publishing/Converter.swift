import Foundation

/// GDAL's `ogr2ogr`, which makes a GeoPackage of formats that Fieldwork does not read.
struct Converter {
    private let executable: URL

    /// The one of the search path; nil where it is not installed.
    static func find(path: String? = ProcessInfo.processInfo.environment["PATH"]) -> Converter? {
        for folder in (path ?? "/usr/local/bin:/usr/bin:/bin").split(separator: ":") where folder.hasPrefix("/") {
            let candidate = URL(filePath: String(folder), directoryHint: .isDirectory)
                .appending(path: "ogr2ogr", directoryHint: .notDirectory)
            if FileManager.default.isExecutableFile(atPath: candidate.path) { return Converter(executable: candidate) }
        }
        return nil
    }

    /// What it makes.
    enum Format: String {
        case geoPackage = "GPKG"
        case csv = "CSV"
        case geoJSON = "GeoJSON"
    }

    /// Throws `CommandFailure` when the file can't be read, `CancellationError` when the task was cancelled.
    func convert(_ input: URL, to output: URL, as format: Format = .geoPackage) async throws {
        let process = Process()
        process.executableURL = executable
        process.arguments = ["-f", format.rawValue, output.path, input.path]
        // What it has to say is no result.
        process.standardOutput = FileHandle.standardError
        process.standardInput = FileHandle.nullDevice
        let (ended, announce) = AsyncStream.makeStream(of: Int32.self, bufferingPolicy: .bufferingNewest(1))
        process.terminationHandler = {
            announce.yield($0.terminationStatus)
            announce.finish()
        }
        try process.run()
        // A cancelled task's sequence ends at once, with the program still at work.
        let status = await ended.first { _ in true }
        guard let status else {
            process.terminate()
            throw CancellationError()
        }
        guard status == 0 else {
            throw CommandFailure(.badData, "ogr2ogr could not make \(format.rawValue) of \(input.lastPathComponent).")
        }
    }
}
