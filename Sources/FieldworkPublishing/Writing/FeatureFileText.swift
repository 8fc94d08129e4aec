package import FieldworkGeometry
package import FieldworkREST
import Foundation

/// Features as the text of a table or of GeoJSON, a page at a time.
package struct FeatureFileText {
    package enum Format: Sendable {
        case csv, geojson
    }

    private let format: Format
    /// A file is read again by `fieldwork publish`: it says what a look at a terminal need not.
    private let isFile: Bool
    private let write: (String) throws -> Void
    private var isFirstPage = true
    private var isFirstFeature = true

    package init(format: Format, isFile: Bool = true, write: @escaping (String) throws -> Void) {
        self.format = format
        self.isFile = isFile
        self.write = write
    }

    package mutating func write(_ set: FeatureSet) throws {
        switch format {
        case .csv: try writeCSV(set)
        case .geojson: try writeGeoJSON(set)
        }
        isFirstPage = false
    }

    package func finish() throws {
        if format == .geojson { try write("]}\n") }
    }

    private mutating func writeGeoJSON(_ set: FeatureSet) throws {
        if isFirstPage { try write(#"{"type":"FeatureCollection","features":["#) }
        for feature in set.features {
            var geometry: [UInt8] = Array("null".utf8)
            if let shape = feature.geometry {
                geometry = []
                GeoJSONCodec.append(shape, to: &geometry)
            }
            let text =
                #"{"type":"Feature","geometry":"# + String(decoding: geometry, as: UTF8.self) + #","properties":"#
                + Self.attributes(feature, set, datesAsText: true).text + "}"
            try write((isFirstFeature ? "\n" : ",\n") + text)
            isFirstFeature = false
        }
    }

    /// - Parameter datesAsText: GeoJSON has no dates; a number would be read as one.
    package static func attributes(
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

    /// A value as a person reads it: dates as dates.
    package static func shown(_ value: AttributeValue, _ field: FieldDefinition) -> String {
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
}
