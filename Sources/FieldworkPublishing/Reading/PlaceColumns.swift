package import FieldworkGeometry
import FieldworkREST
import Foundation

/// The columns of a table that hold where its rows are.
package enum PlaceColumns: Sendable, Equatable {
    /// The titles of the columns of both coordinates.
    case coordinates(x: String, y: String)
    /// The title of the column with geometries as Well-Known Text.
    case text(String)

    /// Usual names, and what is added to them for another reference, as in `x_3857`.
    private static let pairs = [
        ("longitude", "latitude"), ("lon", "lat"), ("lng", "lat"), ("long", "lat"), ("x", "y"),
    ]
    private static let textNames = ["wkt", "geometry", "geom", "the_geom", "shape"]

    package struct Found {
        var columns: PlaceColumns
        var reference: SpatialReference
    }

    /// Finds the columns by their names and values.
    /// - Parameters:
    ///   - kinds: the kinds of geometry in the columns that may hold text of geometries, by title.
    ///   - wanted: the reference that somebody names.
    /// - Returns: what was found, and what is worth saying.
    package static func find(
        _ columns: [FieldInference], _ surveys: [String: GeometryTextSurvey], _ wanted: SpatialReference?
    ) -> (found: Found?, words: String?) {
        if let (title, survey) = surveys.first(where: { $0.value.isGeometry }) {
            let named = number(in: title, after: textNames) ?? survey.wkid
            let reference = wanted ?? named.flatMap(reference(of:)) ?? .wgs84
            return (Found(columns: .text(title), reference: reference), "Geometries are in the column \(title)")
        }
        var words: String?
        for (x, y) in pairs {
            for first in columns where base(of: first.name) == x {
                let suffix = first.name.dropFirst(x.count).lowercased()
                guard let second = columns.first(where: { $0.name.lowercased() == y + suffix }), isNumeric(first),
                    isNumeric(second)
                else { continue }
                let pair = PlaceColumns.coordinates(x: first.name, y: second.name)
                let told = "Coordinates are in the columns \(first.name) and \(second.name)"
                if let reference = wanted ?? number(in: first.name, after: [x]).flatMap(reference(of:)) {
                    return (Found(columns: pair, reference: reference), told)
                }
                if x != "x" || (fits(first, 180) && fits(second, 90)) {
                    return (
                        Found(columns: pair, reference: .wgs84),
                        "\(told), as longitude and latitude (--wkid names another reference)"
                    )
                }
                words =
                    "\(first.name) and \(second.name) look like coordinates of a reference that the file does not name: "
                    + "--x \(first.name) --y \(second.name) --wkid … makes points of them"
            }
        }
        return (nil, words)
    }

    /// Whether a column may hold geometries as text.
    package static func mayHoldText(_ title: String) -> Bool {
        let name = title.lowercased()
        return textNames.contains { name == $0 || number(in: name, after: [$0]) != nil }
    }

    private static func base(of title: String) -> String {
        let name = title.lowercased()
        let parts = name.split(separator: "_", omittingEmptySubsequences: false)
        guard parts.count == 2, Int(parts[1]) != nil else { return name }
        return String(parts[0])
    }

    /// The number behind one of the names.
    private static func number(in title: String, after names: [String]) -> Int? {
        let name = title.lowercased()
        for start in names where name.hasPrefix(start + "_") {
            if let number = Int(name.dropFirst(start.count + 1)) { return number }
        }
        return nil
    }

    private static func reference(of number: Int) -> SpatialReference? {
        WKID(number).flatMap { SpatialReference(wkid: $0) }
    }

    /// Some rows may have something else there; they are bad rows then.
    private static func isNumeric(_ column: FieldInference) -> Bool {
        column.numbers > 0 && column.numbers * 2 >= column.seen
    }

    private static func fits(_ column: FieldInference, _ limit: Double) -> Bool {
        column.range.map { $0.lowerBound >= -limit && $0.upperBound <= limit } ?? false
    }
}

/// What a column of Well-Known Text holds.
package struct GeometryTextSurvey: Sendable {
    private(set) var kinds: Set<LayerGeometryType> = []
    private(set) var hasZ = false
    private(set) var wkid: Int?
    private var others = 0

    /// Whether the values are geometries. Those that are none are bad rows.
    package var isGeometry: Bool { !kinds.isEmpty && others == 0 }

    package mutating func see(_ text: String) {
        guard !text.isEmpty else { return }
        let (wkid, body) = Self.parts(text)
        if self.wkid == nil { self.wkid = wkid }
        let words = body.prefix { $0 != "(" }.uppercased().split(separator: " ")
        guard let word = words.first, let kind = Self.kind(String(word)) else {
            others += 1
            return
        }
        kinds.insert(kind)
        if word.hasSuffix("Z") || words.dropFirst().contains(where: { $0.hasPrefix("Z") }) { hasZ = true }
    }

    /// The reference that stands before the geometry, as PostGIS writes it, and the geometry.
    package static func parts(_ text: String) -> (wkid: Int?, body: Substring) {
        let trimmed = text.drop { $0 == " " }
        guard trimmed.prefix(5).uppercased() == "SRID=", let end = trimmed.firstIndex(of: ";") else {
            return (nil, trimmed)
        }
        return (
            Int(trimmed[trimmed.index(trimmed.startIndex, offsetBy: 5)..<end]), trimmed[trimmed.index(after: end)...]
        )
    }

    private static func kind(_ word: String) -> LayerGeometryType? {
        switch word {
        case "POINT", "POINTZ", "POINTM", "POINTZM": .point
        case "MULTIPOINT", "MULTIPOINTZ": .multipoint
        case "LINESTRING", "MULTILINESTRING", "LINESTRINGZ", "MULTILINESTRINGZ": .polyline
        case "POLYGON", "MULTIPOLYGON", "POLYGONZ", "MULTIPOLYGONZ": .polygon
        default: nil
        }
    }
}
