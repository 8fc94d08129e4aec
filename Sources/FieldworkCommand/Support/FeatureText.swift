import FieldworkGeometry
import FieldworkREST
import Foundation

/// Writes features as text, a page at a time.
struct FeatureText {
    private let format: QueryCommand.Format
    /// A file is read again by `fieldwork publish`: it says what a look at a terminal need not.
    private let isFile: Bool
    private let write: (String) throws -> Void
    private var isFirstPage = true
    private var isFirstFeature = true

    init(format: QueryCommand.Format, isFile: Bool = false, write: @escaping (String) throws -> Void) {
        self.format = format
        self.isFile = isFile
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
                    + #","properties":"# + Self.attributes(feature, set, datesAsText: true).text + "}"
            }
        }
        isFirstPage = false
    }

    func finish() throws {
        if format == .json || format == .geojson { try write("]}\n") }
    }

    /// - Parameter datesAsText: GeoJSON has no dates; a number would be read as one.
    private static func attributes(
        _ feature: FeatureSet.Feature, _ set: FeatureSet, datesAsText: Bool = false
    ) -> JSONValue {
        var object = JSONObject()
        for field in set.fields {
            let value = feature.attributes[field.name] ?? .null
            let isDate = datesAsText && field.type == .date && value != .null
            object.append(field.name, isDate ? .string(shown(value, field)) : value.json)
        }
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
        case .integer(let number) where field.type == .date: return MomentText.text(milliseconds: number, isExact: true)
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
        let places = placeColumns(of: set)
        if isFirstPage { try write((set.fields.map(\.name) + places).map(quoted).joined(separator: ",") + "\r\n") }
        for feature in set.features {
            var values = set.fields.map { field in
                let text = Self.shown(feature.attributes[field.name] ?? .null, field)
                // Digits that are text stay text when the file is read.
                let isLikeNumber =
                    isFile && field.type == .string && text.first.map { "0123456789.-+".contains($0) } == true
                return isLikeNumber ? "\"" + text.replacing("\"", with: "\"\"") + "\"" : quoted(text)
            }
            if places.count == 2 {
                let point = feature.geometry as? Point
                values += [point?.x, point?.y].map { $0.map { JSONValue.number($0).text } ?? "" }
            } else if places.count == 1 {
                values.append(quoted(feature.geometry.map { WellKnownText.text(of: $0) } ?? ""))
            }
            try write(values.joined(separator: ",") + "\r\n")
        }
    }

    /// The columns of the geometry. In a file their names tell the reference, and geometries other than points are text.
    private func placeColumns(of set: FeatureSet) -> [String] {
        let wkid = set.spatialReference?.latestWKID ?? 4_326
        let suffix = isFile && wkid != 4_326 ? "_\(wkid)" : ""
        switch set.geometryType {
        case nil: return []
        case .point?: return ["x" + suffix, "y" + suffix]
        default: return isFile ? ["wkt" + suffix] : []
        }
    }

    /// The most characters of a value in a table.
    private static let cellWidth = 40

    private mutating func writeTable(_ set: FeatureSet) throws {
        let rows = set.features.map { feature in
            set.fields.map { field in
                let text = Self.shown(feature.attributes[field.name] ?? .null, field)
                // Control characters of a value must not steer the terminal.
                let safe = String(text.map { $0.isNewline ? " " : $0 })
                    .filter { $0.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F } }
                return CellWidth.cut(safe, to: Self.cellWidth)
            }
        }
        let titles = set.fields.map(\.name)
        let widths = titles.indices.map { column in
            max(CellWidth.of(titles[column]), rows.map { CellWidth.of($0[column]) }.max() ?? 0)
        }
        func line(_ values: [String]) -> String {
            zip(values, widths).map { $0 + String(repeating: " ", count: $1 - CellWidth.of($0)) }.joined(
                separator: "  ") + "\n"
        }
        if isFirstPage { try write(line(titles) + line(widths.map { String(repeating: "─", count: $0) })) }
        for row in rows { try write(line(row)) }
    }
}
