import FieldworkGeometry
import FieldworkREST
import Foundation

/// What a file looks like after a first reading.
struct SourceSchema: Sendable {
    var fields: [FieldDefinition]
    /// The kinds of geometry, each of which is a layer; none for a table.
    var kinds: [LayerGeometryType]
    var spatialReference: SpatialReference?
    var hasZ = false
    var featureCount: Int
}

/// Why a row can't become a feature.
struct BadRow: Error, Sendable {
    var reason: String
}

/// A file of features, read from the beginning as often as needed.
protocol FeatureSource: Sendable {
    var url: URL { get }
    /// Reads the whole file once to learn its fields.
    func schema(progress: (Int) -> Void) throws -> SourceSchema
    /// Reads the features in order; the body gets each as a feature or as the reason why it is none, with its place: the
    /// line of a table, the number of a feature.
    func forEach(_ schema: SourceSchema, _ body: (Result<FeatureEdit, BadRow>, Int) throws -> Void) throws
    /// A place in words.
    func name(of place: Int) -> String
}

extension FeatureSource {
    var fileName: String { url.lastPathComponent }
}

/// A table with coordinates in two of its columns, or none.
struct CSVSource: FeatureSource {
    var url: URL
    var xColumn: String?
    var yColumn: String?
    var spatialReference: SpatialReference
    private var range: CoordinateRange?

    init(url: URL, xColumn: String?, yColumn: String?, spatialReference: SpatialReference) {
        self.url = url
        self.xColumn = xColumn
        self.yColumn = yColumn
        self.spatialReference = spatialReference
        range = CoordinateRange(spatialReference)
    }

    func schema(progress: (Int) -> Void) throws -> SourceSchema {
        var reader = try CSVReader(url)
        defer { reader.close() }
        let header = try header(&reader)
        var columns = FieldNames.unique(header).map { FieldInference(name: $0) }
        var count = 0
        while let values = try reader.next() {
            try Task.checkCancellation()
            for (index, value) in values.enumerated() where index < columns.count { columns[index].see(.text(value)) }
            count += 1
            progress(count)
        }
        let coordinates = try coordinateIndices(header)
        let fields = zip(header, columns).map { title, column in
            var field = column.field
            field.alias = title
            return field
        }
        return SourceSchema(
            fields: fields, kinds: coordinates == nil ? [] : [.point],
            spatialReference: coordinates == nil ? nil : spatialReference, featureCount: count)
    }

    private func header(_ reader: inout CSVReader) throws -> [String] {
        guard let header = try reader.next(), !header.isEmpty else {
            throw CommandFailure(.badData, "\(url.lastPathComponent) has no line of column names.")
        }
        return header
    }

    private func coordinateIndices(_ header: [String]) throws -> (x: Int, y: Int)? {
        guard let xColumn, let yColumn else { return nil }
        func index(_ name: String) throws -> Int {
            guard let index = header.firstIndex(where: { $0.lowercased() == name.lowercased() }) else {
                throw CommandFailure(
                    .badData, "There is no column \(name). The columns are: \(header.joined(separator: ", ")).")
            }
            return index
        }
        return (try index(xColumn), try index(yColumn))
    }

    func name(of place: Int) -> String { "line \(place)" }

    func forEach(_ schema: SourceSchema, _ body: (Result<FeatureEdit, BadRow>, Int) throws -> Void) throws {
        var reader = try CSVReader(url)
        defer { reader.close() }
        let header = try header(&reader)
        let coordinates = try coordinateIndices(header)
        while let values = try reader.next() {
            try body(feature(values, schema, coordinates, columnCount: header.count), reader.line)
        }
    }

    private func feature(
        _ values: [String], _ schema: SourceSchema, _ coordinates: (x: Int, y: Int)?, columnCount: Int
    ) -> Result<FeatureEdit, BadRow> {
        func bad(_ reason: String) -> Result<FeatureEdit, BadRow> { .failure(BadRow(reason: reason)) }
        guard values.count == columnCount else { return bad("It has \(values.count) values, not \(columnCount).") }
        let attributes = zip(schema.fields, values).map { field, text in
            (name: field.name, value: FieldInference.value(text, for: field))
        }
        guard let coordinates else { return .success(FeatureEdit(attributes: attributes)) }
        let (xText, yText) = (values[coordinates.x], values[coordinates.y])
        if xText.isEmpty, yText.isEmpty { return .success(FeatureEdit(attributes: attributes, geometry: .null)) }
        guard let x = Double(xText), let y = Double(yText), x.isFinite, y.isFinite else {
            return bad("The coordinates '\(xText.prefix(30))', '\(yText.prefix(30))' are not numbers.")
        }
        if let range, !range.contains(x: x, y: y) {
            let hint = range.looksSwapped(x: x, y: y) ? " Are --x and --y swapped?" : ""
            return bad("The coordinates \(xText), \(yText) are outside of the spatial reference.\(hint)")
        }
        return .success(
            FeatureEdit(
                attributes: attributes, geometry: .geometry(Point(x: x, y: y, spatialReference: spatialReference))))
    }
}
