import FieldworkGeometry
import FieldworkREST
import Foundation

/// Writes features as text, a page at a time.
struct FeatureText {
    private let format: QueryCommand.Format
    private let write: (String) throws -> Void
    private var isFirstPage = true
    private var isFirstFeature = true

    init(format: QueryCommand.Format, write: @escaping (String) throws -> Void) {
        self.format = format
        self.write = write
    }

    mutating func write(_ set: FeatureSet) throws {
        switch format {
        case .table: try writeTable(set)
        case .csv: try writeCSV(set)
        case .json:
            try writeObjects(set, head: #"{"features":["#) { feature in
                var object: JSONValue = ["attributes": Self.attributes(feature, set)]
                if let geometry = feature.geometry, var members = object.objectValue {
                    members["geometry"] = GeoServicesJSON.json(for: geometry)
                    object = .object(members)
                }
                return object.text
            }
        case .geojson:
            try writeObjects(set, head: #"{"type":"FeatureCollection","features":["#) { feature in
                var geometry: [UInt8] = Array("null".utf8)
                if let shape = feature.geometry {
                    geometry = []
                    GeoJSONCodec.append(shape, to: &geometry)
                }
                return #"{"type":"Feature","geometry":"# + String(decoding: geometry, as: UTF8.self)
                    + #","properties":"# + Self.attributes(feature, set).text + "}"
            }
        }
        isFirstPage = false
    }

    func finish() throws {
        if format == .json || format == .geojson { try write("]}\n") }
    }

    private static func attributes(_ feature: FeatureSet.Feature, _ set: FeatureSet) -> JSONValue {
        var object = JSONObject()
        for field in set.fields { object.append(field.name, (feature.attributes[field.name] ?? .null).json) }
        return .object(object)
    }

    private mutating func writeObjects(
        _ set: FeatureSet, head: String, _ text: (FeatureSet.Feature) -> String
    ) throws {
        if isFirstPage { try write(head) }
        for feature in set.features {
            try write((isFirstFeature ? "\n" : ",\n") + text(feature))
            isFirstFeature = false
        }
    }

    /// A value as a person reads it: dates as dates.
    private static func shown(_ value: AttributeValue, _ field: FieldDefinition) -> String {
        switch value {
        case .null: return ""
        case .integer(let number) where field.type == .date: return MomentText.text(milliseconds: number)
        case .integer(let number): return String(number)
        case .real(let number): return JSONValue.number(number).text
        case .text(let text): return text
        case .data(let data): return data.base64EncodedString()
        }
    }

    private mutating func writeCSV(_ set: FeatureSet) throws {
        func quoted(_ text: String) -> String {
            let needsQuotes = text.contains { ",\"\n\r".contains($0) }
            return needsQuotes ? "\"" + text.replacing("\"", with: "\"\"") + "\"" : text
        }
        let hasPoints = set.geometryType == .point
        if isFirstPage {
            try write(
                (set.fields.map(\.name) + (hasPoints ? ["x", "y"] : [])).map(quoted).joined(separator: ",") + "\r\n")
        }
        for feature in set.features {
            var values = set.fields.map { quoted(Self.shown(feature.attributes[$0.name] ?? .null, $0)) }
            if hasPoints {
                let point = feature.geometry as? Point
                values += [point?.x, point?.y].map { $0.map { JSONValue.number($0).text } ?? "" }
            }
            try write(values.joined(separator: ",") + "\r\n")
        }
    }

    /// The most characters of a value in a table.
    private static let cellWidth = 40

    private mutating func writeTable(_ set: FeatureSet) throws {
        let rows = set.features.map { feature in
            set.fields.map { field in
                let text = Self.shown(feature.attributes[field.name] ?? .null, field)
                let part = text.count > Self.cellWidth ? text.prefix(Self.cellWidth - 1) + "…" : text[...]
                // Control characters of a value must not steer the terminal.
                return String(part.map { $0.isNewline ? " " : $0 })
                    .filter { $0.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F } }
            }
        }
        let titles = set.fields.map(\.name)
        let widths = titles.indices.map { column in
            max(titles[column].count, rows.map { $0[column].count }.max() ?? 0)
        }
        func line(_ values: [String]) -> String {
            zip(values, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }.joined(separator: "  ") + "\n"
        }
        if isFirstPage { try write(line(titles) + line(widths.map { String(repeating: "─", count: $0) })) }
        for row in rows { try write(line(row)) }
    }
}
