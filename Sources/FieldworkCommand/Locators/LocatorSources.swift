import FieldworkGeometry
import FieldworkLocator
import FieldworkPublishing
import FieldworkREST
import Foundation

/// Files that a locator is made of: OpenStreetMap extracts, tables, GeoJSON (also a feature a line, as OpenAddresses has it), and
/// what `ogr2ogr` makes GeoJSON of.
struct LocatorSources {
    var chosen: [FieldMap.Role: String]
    /// What rows without a town, state or country are in.
    var zone: AddressZone

    func read(_ file: URL, into builder: LocatorBuilder) async throws {
        guard FileManager.default.isReadableFile(atPath: file.path) else {
            throw CommandFailure(.noInput, "\(file.path) is not there, or can't be read.")
        }
        let unpacked = file.pathExtension == "gz" ? file.deletingPathExtension() : file
        switch unpacked.pathExtension.lowercased() {
        case "pbf": try OSMImport.read(file, into: builder)
        case "csv", "tsv", "txt": try readTable(file, into: builder)
        case "geojsonl", "geojsons", "ndjson", "jsonl": try readLines(file, into: builder)
        case "geojson", "json":
            if try Self.isCollection(file) {
                try readFeatures(file, into: builder)
            } else {
                try readLines(file, into: builder)
            }
        default: try await readConverted(file, into: builder)
        }
    }

    /// Tells these files, and how they are read, from others: by their paths, sizes and times. An interrupted making goes on only when
    /// it is the same.
    func fingerprint(of files: [URL]) -> String {
        let known = files.map { file in
            let attributes = try? FileManager.default.attributesOfItem(atPath: file.path)
            let time = (attributes?[.modificationDate] as? Date)?.timeIntervalSince1970 ?? 0
            return "\(file.standardizedFileURL.path) \(attributes?[.size] as? Int ?? -1) \(time)"
        }
        let columns = chosen.map { "\($0.key.rawValue)=\($0.value)" }.sorted()
        return (known + columns + [zone.city, zone.region, zone.country]).joined(separator: "\n")
    }

    private func map(_ columns: [String], of file: URL) throws -> FieldMap {
        let map = try FieldMap(columns: columns, chosen: chosen)
        guard map.isUsable else {
            throw CommandFailure(
                .badData,
                """
                \(file.lastPathComponent) has no column for a street, an address or a name: it has \
                \(columns.joined(separator: ", ")). Say which one it is: --field street=COLUMN.
                """)
        }
        return map
    }

    // MARK: Tables

    private func readTable(_ file: URL, into builder: LocatorBuilder) throws {
        var reader = try CSVReader(file, TableFormat(of: file, TableSettings()))
        defer { reader.close() }
        guard let header = try reader.next(), !header.isEmpty else {
            throw CommandFailure(.badData, "\(file.lastPathComponent) has no line of column names.")
        }
        let map = try map(header, of: file)
        guard map[.x] != nil, map[.y] != nil else {
            throw CommandFailure(
                .badData,
                "\(file.lastPathComponent) has no columns of coordinates. Say which they are: --field x=COLUMN --field y=COLUMN."
            )
        }
        let places = Dictionary(
            header.enumerated().map { ($0.element, $0.offset) }, uniquingKeysWith: { first, _ in first })
        while let values = try reader.next() {
            try map.add(nil, to: builder) { column in
                places[column].flatMap { $0 < values.count ? values[$0] : nil }
            } zone: {
                zone.completing($0)
            }
        }
    }

    // MARK: GeoJSON

    private func readFeatures(_ file: URL, into builder: LocatorBuilder) throws {
        let source = GeoJSONSource(url: file)
        let schema = try source.schema { _ in }
        let map = try map(schema.fields.map(\.alias), of: file)
        let names = Dictionary(schema.fields.map { ($0.alias, $0.name) }, uniquingKeysWith: { first, _ in first })
        try source.forEach(schema) { row, _ in
            guard case .success(let feature) = row, case .geometry(let geometry) = feature.geometry else { return }
            try map.add(try Self.degrees(geometry), to: builder) { column in
                guard let name = names[column] else { return nil }
                return feature.attributes.first { $0.name == name }.flatMap { Self.text($0.value) }
            } zone: {
                zone.completing($0)
            }
        }
    }

    static func text(_ value: AttributeValue) -> String? {
        switch value {
        case .text(let text): text
        case .integer(let number): "\(number)"
        case .real(let number): number == number.rounded() && abs(number) < 1e15 ? "\(Int64(number))" : "\(number)"
        default: nil
        }
    }

    private static func degrees(_ geometry: Geometry) throws -> Geometry? {
        guard let reference = geometry.spatialReference, reference != .wgs84 else { return geometry }
        return GeometryEngine.project(geometry, into: .wgs84)
    }

    /// A feature a line.
    private func readLines(_ file: URL, into builder: LocatorBuilder) throws {
        let source = try ByteSource(file)
        defer { source.close() }
        var line: [UInt8] = []
        var number = 0
        var map: FieldMap?
        func finish() throws {
            defer { line.removeAll(keepingCapacity: true) }
            number += 1
            guard line.contains(where: { $0 > 0x20 }) else { return }
            guard let feature = try? JSONParser.parse(line) else {
                throw CommandFailure(.badData, "Line \(number) of \(file.lastPathComponent) is not JSON.")
            }
            guard let properties = feature["properties"]?.objectValue, let json = feature["geometry"],
                let geometry = try? GeoJSONCodec.geometry(from: json, spatialReference: .wgs84)
            else { return }
            let known = try map ?? self.map(properties.members.map(\.key), of: file)
            map = known
            try known.add(geometry, to: builder) { column in
                switch properties[column] {
                case .string(let text): text
                case .integer(let number): "\(number)"
                case .number(let number): "\(number)"
                default: nil
                }
            } zone: {
                zone.completing($0)
            }
        }
        while let piece = try source.next() {
            for byte in piece {
                if byte == 0x0A { try finish() } else { line.append(byte) }
                guard line.count <= Self.lineBytesMax else {
                    throw CommandFailure(.badData, "Line \(number + 1) of \(file.lastPathComponent) is too long.")
                }
            }
        }
        try finish()
    }

    private static let lineBytesMax = 16 << 20

    private static func isCollection(_ file: URL) throws -> Bool {
        let source = try ByteSource(file)
        defer { source.close() }
        let beginning = try source.next().map { String(decoding: $0.prefix(4_096), as: UTF8.self) } ?? ""
        return beginning.contains("FeatureCollection")
    }

    // MARK: Other formats

    private func readConverted(_ file: URL, into builder: LocatorBuilder) async throws {
        guard let converter = Converter.find() else {
            throw CommandFailure(
                .badData,
                """
                Fieldwork makes locators of .osm.pbf, .csv and .geojson. Install gdal-bin (ogr2ogr) to make them of GeoPackages \
                and other formats.
                """)
        }
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "fieldwork-\(UUID().uuidString)", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let converted = folder.appending(path: "converted.geojson", directoryHint: .notDirectory)
        try await converter.convert(file, to: converted, as: .geoJSON)
        try readFeatures(converted, into: builder)
    }
}
