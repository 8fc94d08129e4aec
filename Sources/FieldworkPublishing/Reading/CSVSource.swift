import FieldworkGeometry
package import FieldworkREST
package import Foundation

/// A table of values with a delimiter between them. Two of its columns may be coordinates, or one geometries as text.
package struct CSVSource: FeatureSource {
    package var url: URL
    package var options: SourceOptions
    private let format: TableFormat
    /// Rows between two reports of progress, each with a look at whether the task was cancelled.
    private static let rowsPerLook = 1_024

    /// What stands between the values.
    package var delimiter: UInt8 { format.delimiter }

    package init(url: URL, _ options: SourceOptions = SourceOptions()) throws {
        let found = try TableFormat(of: url, options.settings)
        self.init(url: url, options, format: found)
    }

    private init(url: URL, _ options: SourceOptions, format: TableFormat) {
        self.url = url
        self.options = options
        self.format = format
    }

    package func schema(progress: (Int) -> Void) throws -> SourceSchema {
        var reader = try CSVReader(url, format)
        defer { reader.close() }
        let header = try header(&reader)
        // In a table of `fieldwork export` what stands in quotes is text.
        let isExport = Self.isExport(header)
        var columns = header.map { FieldInference(name: $0, takesQuotedAsText: isExport, options.settings) }
        var surveys: [Int: GeometryTextSurvey] = [:]
        if options.coordinates == nil, !options.isTable {
            for (index, title) in header.enumerated() where PlaceColumns.mayHoldText(title) {
                surveys[index] = GeometryTextSurvey()
            }
        }
        var identity = IdentitySurvey(wanted: options.globalID)
        for title in header { identity.see(title: title) }
        let identifying = Set(header.indices.filter { identity.concerns(header[$0]) })
        let asText = identifying.union(surveys.keys).sorted()
        var count = 0
        while try reader.read() {
            let record = reader.record
            for index in 0..<min(record.count, columns.count) {
                record.withBytes(of: index) { columns[index].see($0, isQuoted: record.quoted[index]) }
            }
            for index in asText where index < record.count {
                let value = record[index]
                surveys[index]?.see(value)
                guard identifying.contains(index) else { continue }
                try identity.see(.text(value), of: header[index], at: name(of: reader.line))
            }
            count += 1
            guard count.isMultiple(of: Self.rowsPerLook) else { continue }
            try Task.checkCancellation()
            progress(count)
        }
        progress(count)
        let texts = Dictionary(surveys.map { (header[$0.key], $0.value) }) { first, _ in first }
        return try schema(header, columns, texts, try identity.columns(), count)
    }

    package static func isExport(_ header: [String]) -> Bool {
        header.first == "OBJECTID" && header.contains("GlobalID")
    }

    private func schema(
        _ header: [String], _ columns: [FieldInference], _ texts: [String: GeometryTextSurvey],
        _ identity: (columns: IdentityColumns, notes: [String]), _ count: Int
    ) throws -> SourceSchema {
        var schema = SourceSchema(fields: [], readings: [], kinds: [], featureCount: count)
        schema.identity = identity.columns
        if let words = format.words { schema.notes.append(words) }
        schema.notes += identity.notes
        try setPlace(of: &schema, header, columns, texts)
        let hints = ColumnHints(columns, options.settings, format)
        for (index, column) in columns.enumerated() {
            let title = header[index]
            if schema.identity.contains(title) || isOnlyPlace(title, schema.place, header) { continue }
            var (field, reading, doubt) = column.conclusion(hints)
            reading.index = index
            field.alias = title
            schema.fields.append(field)
            schema.readings.append(reading)
            if let doubt { schema.notes.append(doubt) }
        }
        for (index, name) in FieldNames.unique(schema.readings.map(\.title)).enumerated() {
            schema.fields[index].name = name
        }
        return schema
    }

    /// Coordinates are kept as fields too, as the table has them; geometries as text are not, nor the columns that an export
    /// has added.
    private func isOnlyPlace(_ title: String, _ place: PlaceColumns?, _ header: [String]) -> Bool {
        switch place {
        case .text(let column)?: title == column
        case .coordinates(let x, let y)?:
            Self.isExport(header) && header.suffix(2).elementsEqual([x, y]) && [x, y].contains(title)
        case nil: false
        }
    }

    private func setPlace(
        of schema: inout SourceSchema, _ header: [String], _ columns: [FieldInference],
        _ texts: [String: GeometryTextSurvey]
    ) throws {
        if options.isTable { return }
        if let coordinates = options.coordinates {
            let titles = try (title(coordinates.x, in: header), title(coordinates.y, in: header))
            schema.place = .coordinates(x: titles.0, y: titles.1)
            schema.spatialReference = options.reference ?? .wgs84
        } else {
            let (found, words) = PlaceColumns.find(columns, texts, options.reference)
            schema.place = found?.columns
            schema.spatialReference = found?.reference
            if let words { schema.notes.append(words) }
            guard found != nil || options.reference == nil else {
                throw PublishingError(
                    .badData, "--wkid is the reference of coordinates: name their columns with --x and --y.")
            }
        }
        switch schema.place {
        case .coordinates?: schema.kinds = [.point]
        case .text(let column)?:
            let survey = texts[column] ?? GeometryTextSurvey()
            schema.kinds = LayerGeometryType.inLayerOrder.filter(survey.kinds.contains)
            schema.hasZ = survey.hasZ
        case nil: break
        }
    }

    private func header(_ reader: inout CSVReader) throws -> [String] {
        guard let header = try reader.next(), !header.isEmpty else {
            throw PublishingError(.badData, "\(url.lastPathComponent) has no line of column names.")
        }
        return header.map { FieldInference.trimmed($0) }
    }

    private func title(_ name: String, in header: [String]) throws -> String {
        guard let title = header.first(where: { $0.lowercased() == name.lowercased() }) else {
            throw PublishingError(
                .badData, "There is no column \(name). The columns are: \(header.joined(separator: ", ")).")
        }
        return title
    }

    package func name(of place: Int) -> String { "line \(place)" }

    package func forEach(_ schema: SourceSchema, _ body: (Result<FeatureEdit, BadRow>, Int) throws -> Void) throws {
        var reader = try CSVReader(url, format)
        defer { reader.close() }
        let header = try header(&reader)
        let row = CSVRowReader(schema, header)
        while try reader.read() { try body(row.feature(reader.record), reader.line) }
    }
}

extension LayerGeometryType {
    /// The kinds that layers have, in the order of the layers that a mixed file gives.
    package static let inLayerOrder: [LayerGeometryType] = [.point, .multipoint, .polyline, .polygon]
}
