import FieldworkGeometry
import FieldworkPublishing
import Foundation

/// Finds out how a file is read: by its name, its beginning, and with `ogr2ogr` where Fieldwork does not read it.
struct SourceOpener {
    var options: SourceOptions
    /// The sheet of a workbook; nil: its first.
    var sheet: String?

    /// A file that can be read feature by feature, or one that has to be taken as a whole.
    enum Opened {
        case source(any FeatureSource)
        case geoPackage(URL)
    }

    private static let sheetFormats: Set = ["xlsx", "xls", "ods"]
    private static let featureFormats: Set = [
        "geojson", "json", "geojsonl", "geojsons", "geojsonseq", "ndjson", "jsonl",
    ]
    private static let tableFormats: Set = ["csv", "tsv", "tab", "txt"]
    private static let sniffedBytes = 64 << 10

    /// - Parameter body: works with what was opened; what was made for it is gone afterwards.
    func open<Result>(_ input: URL, _ body: (Opened) async throws -> Result) async throws -> Result {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: input.path, isDirectory: &isFolder) else {
            throw CommandFailure(.noInput, "\(input.path) is not there.")
        }
        let unpacked = input.pathExtension == "gz" ? input.deletingPathExtension() : input
        let format = unpacked.pathExtension.lowercased()
        guard !isFolder.boolValue || format == "gdb" else {
            throw CommandFailure(.badData, "\(input.path) is a folder: name a file in it.")
        }
        switch format {
        case _ where Self.tableFormats.contains(format):
            return try await body(.source(try CSVSource(url: input, options)))
        case _ where Self.featureFormats.contains(format):
            if let dialect = try Self.dialect(of: input) {
                return try await converted(input, named: dialect.name, reference: dialect.reference, body)
            }
            try refuseColumns(of: input)
            return try await body(.source(GeoJSONSource(url: input, options: options)))
        case "gpkg" where input.pathExtension != "gz":
            try refuseColumns(of: input)
            return try await body(.geoPackage(input))
        default:
            return try await converted(
                input, named: "formats other than .gpkg, .geojson and .csv", reference: nil, body)
        }
    }

    /// JSON of features that is not GeoJSON.
    private static func dialect(of url: URL) throws -> (name: String, reference: Int?)? {
        let source = try ByteSource(url)
        defer { source.close() }
        guard let start = try source.next()?.prefix(sniffedBytes) else { return nil }
        let text = String(decoding: start, as: UTF8.self).filter { !$0.isWhitespace }
        if text.contains(#""type":"Topology""#) { return ("TopoJSON", 4_326) }
        let isGeoJSON = text.contains(#""type":"Feature"#)
        return !isGeoJSON && text.contains(#""esriGeometry"#) ? ("JSON of the protocol", nil) : nil
    }

    private func refuseColumns(of input: URL) throws {
        guard options.coordinates != nil else { return }
        throw CommandFailure(
            .badData,
            """
            --x and --y name columns of a table; \(input.lastPathComponent) has geometries of its own. Leave them out, or make a \
            table of it: ogr2ogr -f CSV OUT.csv \(input.lastPathComponent)
            """)
    }

    /// What other programs read, they may convert.
    private func converted<Result>(
        _ input: URL, named formats: String, reference: Int?, _ body: (Opened) async throws -> Result
    ) async throws -> Result {
        guard let converter = Converter.find() else {
            throw CommandFailure(.badData, "Install gdal-bin (ogr2ogr) to publish \(formats).")
        }
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "fieldwork-\(UUID().uuidString)", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        func made(_ name: String) -> URL { folder.appending(path: name, directoryHint: .notDirectory) }
        if Self.sheetFormats.contains(input.pathExtension.lowercased()) {
            let sheet = try await sheet(of: input, converter)
            let lines = made("\(input.deletingPathExtension().lastPathComponent).geojsonl")
            try await converter.convert(input, to: lines, as: .lines, sheet: sheet)
            return try await body(.source(GeoJSONSource(url: lines, options: options, isSheet: true)))
        }
        // Columns of coordinates are a table's, whatever program wrote it.
        if options.coordinates != nil {
            try await converter.convert(input, to: made("converted.csv"), as: .csv)
            return try await body(.source(try CSVSource(url: made("converted.csv"), options)))
        }
        try await converter.convert(input, to: made("converted.gpkg"), reference: reference)
        return try await body(.geoPackage(made("converted.gpkg")))
    }

    private func sheet(of input: URL, _ converter: Converter) async throws -> String? {
        let sheets = try await converter.sheets(of: input)
        if let sheet {
            guard let found = sheets.first(where: { $0.lowercased() == sheet.lowercased() }) else {
                throw CommandFailure(
                    .badData, "There is no sheet \(sheet). The sheets are: \(sheets.joined(separator: ", ")).")
            }
            return found
        }
        if sheets.count > 1 {
            Terminal.error("Read the sheet \(sheets[0]) of \(sheets.joined(separator: ", ")); --sheet names another")
        }
        return sheets.first
    }
}
