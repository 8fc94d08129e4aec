import Foundation

/// GDAL's `ogr2ogr`, which makes files that Fieldwork reads of formats that it does not read.
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
        /// A feature a line, whose values keep their types.
        case lines = "GeoJSONSeq"
    }

    /// Throws `CommandFailure` when the file can't be read, `CancellationError` when the task was cancelled.
    /// - Parameters:
    ///   - sheet: the one of the file's tables that is wanted; nil for all.
    ///   - reference: the EPSG code of a file whose format has none of its own.
    func convert(
        _ input: URL, to output: URL, as format: Format = .geoPackage, sheet: String? = nil, reference: Int? = nil
    ) async throws {
        var arguments = ["-f", format.rawValue]
        if let reference { arguments += ["-a_srs", "EPSG:\(reference)"] }
        arguments += [output.path, Self.source(input)]
        if let sheet { arguments.append(sheet) }
        let (status, told) = try await run(executable, arguments, in: output.deletingLastPathComponent())
        guard status == 0 else {
            let reason = told.first { $0.hasPrefix("ERROR") }.map { ": \($0)" } ?? ""
            throw CommandFailure(
                .badData, "\(input.lastPathComponent) is in no format that ogr2ogr reads, or is damaged\(reason).")
        }
        // That it makes polygons of multipolygons concerns nobody here.
        for line in told where line.hasPrefix("Warning") && !line.contains("of type") {
            Terminal.error("ogr2ogr: \(line)")
        }
    }

    /// The names of a file's tables and layers.
    func sheets(of input: URL) async throws -> [String] {
        let program = executable.deletingLastPathComponent().appending(path: "ogrinfo", directoryHint: .notDirectory)
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "fieldwork-\(UUID().uuidString)", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (status, lines) = try await run(program, ["-ro", "-q", Self.source(input)], in: folder)
        guard status == 0 else { return [] }
        // `1: Sheet1 (None)`
        return lines.compactMap { line in
            guard let colon = line.firstIndex(of: ":"), Int(line[..<colon]) != nil else { return nil }
            var name = line[line.index(after: colon)...].drop { $0 == " " }
            if name.hasSuffix(")"), let bracket = name.range(of: " (", options: .backwards) {
                name = name[..<bracket.lowerBound]
            }
            return String(name)
        }
    }

    /// What is in a zip file is read without unpacking it.
    private static func source(_ input: URL) -> String {
        input.pathExtension.lowercased() == "zip" ? "/vsizip/\(input.path)" : input.path
    }

    /// Gives the exit code and the lines that the program printed.
    private func run(_ program: URL, _ arguments: [String], in folder: URL) async throws -> (Int32, [String]) {
        let log = folder.appending(path: "\(UUID().uuidString).log", directoryHint: .notDirectory)
        try Data().write(to: log)
        defer { try? FileManager.default.removeItem(at: log) }
        let handle = try FileHandle(forWritingTo: log)
        defer { try? handle.close() }
        let process = Process()
        process.executableURL = program
        process.arguments = arguments
        // The first row of a spreadsheet names its columns, also where all of them are texts.
        process.environment = ProcessInfo.processInfo.environment.merging(
            ["OGR_XLSX_HEADERS": "FORCE", "OGR_ODS_HEADERS": "FORCE"]) { $1 }
        (process.standardOutput, process.standardError) = (handle, handle)
        process.standardInput = FileHandle.nullDevice
        let (ended, announce) = AsyncStream.makeStream(of: Int32.self, bufferingPolicy: .bufferingNewest(1))
        process.terminationHandler = {
            announce.yield($0.terminationStatus)
            announce.finish()
        }
        try process.run()
        // A cancelled task's sequence ends at once, with the program still at work.
        guard let status = await ended.first(where: { _ in true }) else {
            process.terminate()
            throw CancellationError()
        }
        let text = String(decoding: try Data(contentsOf: log), as: UTF8.self)
        return (status, text.split(whereSeparator: \.isNewline).map(String.init))
    }
}
