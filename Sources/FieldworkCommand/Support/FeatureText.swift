import FieldworkGeometry
import FieldworkPublishing
import FieldworkREST
import Foundation

/// Writes features as text that is looked at, a page at a time.
struct FeatureText {
    private let format: QueryCommand.Format
    private let write: (String) throws -> Void
    /// Writes what files hold as well.
    private var file: FeatureFileText?
    private var isFirstPage = true
    private var isFirstFeature = true

    init(format: QueryCommand.Format, write: @escaping (String) throws -> Void) {
        self.format = format
        self.write = write
        switch format {
        case .csv: file = FeatureFileText(format: .csv, isFile: false, write: write)
        case .geojson: file = FeatureFileText(format: .geojson, isFile: false, write: write)
        case .table, .json: file = nil
        }
    }

    mutating func write(_ set: FeatureSet) throws {
        switch format {
        case .table: try writeTable(set)
        case .csv, .geojson: try file?.write(set)
        case .json:
            try writeObjects(set, head: #"{"features":["#) { feature in
                var object: JSONValue = ["attributes": FeatureFileText.attributes(feature, set)]
                if let geometry = feature.geometry, var members = object.objectValue {
                    members["geometry"] = GeoServicesJSON.json(for: geometry)
                    object = .object(members)
                }
                return object.text
            }
        }
        isFirstPage = false
    }

    func finish() throws {
        if format == .json { try write("]}\n") }
        try file?.finish()
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

    /// The most characters of a value in a table.
    private static let cellWidth = 40

    private mutating func writeTable(_ set: FeatureSet) throws {
        let rows = set.features.map { feature in
            set.fields.map { field in
                let text = FeatureFileText.shown(feature.attributes[field.name] ?? .null, field)
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
