import FieldworkGeometry
import FieldworkREST
import Foundation

/// What a file looks like after a first reading.
struct SourceSchema: Sendable {
    var fields: [FieldDefinition]
    /// How the values of each field are read, in the order of the fields.
    var readings: [ColumnReading]
    /// The kinds of geometry, each of which is a layer; none for a table.
    var kinds: [LayerGeometryType]
    var spatialReference: SpatialReference?
    var hasZ = false
    var featureCount: Int
    /// The columns of a table that say where a row is.
    var place: PlaceColumns?
    /// The columns that hold the features' ids.
    var identity = IdentityColumns()
    /// What was found out about the file and is worth saying.
    var notes: [String] = []
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

/// What somebody says of a file of features, whatever its format.
struct SourceOptions: Sendable {
    /// The columns of the coordinates; nil: found by their names.
    var coordinates: (x: String, y: String)?
    /// The reference of the coordinates; nil: as the file says.
    var reference: SpatialReference?
    /// The column of the features' global ids; nil: found by its name.
    var globalID: String?
    /// Rows are no features with a place, whatever their columns are called.
    var isTable = false
    var settings = TableSettings()
}

/// Makes the geometry of a row of a table.
struct PlaceReader {
    let place: PlaceColumns
    let reference: SpatialReference
    let range: CoordinateRange?
    /// How the numbers of the columns of coordinates are written.
    var numbers: (x: NumberForm, y: NumberForm) = (.point, .point)

    init(_ schema: SourceSchema) {
        place = schema.place ?? .text("")
        reference = schema.spatialReference ?? .wgs84
        range = CoordinateRange(reference)
        if case .coordinates(let x, let y) = place {
            func form(_ title: String) -> NumberForm {
                schema.readings.first { $0.title.lowercased() == title.lowercased() }?.number ?? .point
            }
            numbers = (form(x), form(y))
        }
    }

    /// - Parameter text: the text of a column.
    func geometry(_ text: (String) -> String) -> Result<FeatureEdit.GeometryEdit, BadRow> {
        switch place {
        case .coordinates(let x, let y): point(text(x), text(y))
        case .text(let column): shape(text(column))
        }
    }

    private func point(_ x: String, _ y: String) -> Result<FeatureEdit.GeometryEdit, BadRow> {
        let (xText, yText) = (FieldInference.trimmed(x), FieldInference.trimmed(y))
        if xText.isEmpty, yText.isEmpty { return .success(.null) }
        guard let x = number(xText, numbers.x), let y = number(yText, numbers.y) else {
            return .failure(
                BadRow(reason: "The coordinates '\(xText.prefix(30))', '\(yText.prefix(30))' are not numbers."))
        }
        return checked(Point(x: x, y: y, spatialReference: reference), " Are --x and --y swapped?")
    }

    /// A column that one bad row keeps from being numbers still has good ones.
    private func number(_ text: String, _ form: NumberForm) -> Double? {
        let plain = form.plain(text) ?? NumberForm.comma.plain(text)
        let number = plain.flatMap { Double($0) } ?? NumberForm.comma.plain(text).flatMap { Double($0) }
        return number.flatMap { $0.isFinite ? $0 : nil }
    }

    private func shape(_ text: String) -> Result<FeatureEdit.GeometryEdit, BadRow> {
        let body = GeometryTextSurvey.parts(text).body
        if body.isEmpty { return .success(.null) }
        do {
            guard let geometry = try WellKnownText.geometry(from: String(body), spatialReference: reference) else {
                return .success(.null)
            }
            return checked(geometry, " Are they swapped? The longitude comes first.")
        } catch {
            return .failure(BadRow(reason: error.details))
        }
    }

    /// The geometry, unless it is where nothing can be.
    func checked(_ geometry: Geometry, _ hint: String) -> Result<FeatureEdit.GeometryEdit, BadRow> {
        guard let range, !geometry.isEmpty else { return .success(.geometry(geometry)) }
        let extent = geometry.extent
        let corners = [(extent.xMin, extent.yMin), (extent.xMax, extent.yMax)]
        guard let corner = corners.first(where: { !range.contains(x: $0.0, y: $0.1) }) else {
            return .success(.geometry(geometry))
        }
        let swapped = range.looksSwapped(x: corner.0, y: corner.1) ? hint : ""
        return .failure(
            BadRow(reason: "The coordinates \(corner.0), \(corner.1) are outside of the spatial reference.\(swapped)"))
    }
}
