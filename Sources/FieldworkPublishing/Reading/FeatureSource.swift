package import FieldworkGeometry
package import FieldworkREST
package import Foundation

/// What a file looks like after a first reading.
package struct SourceSchema: Sendable {
    package var fields: [FieldDefinition]
    /// How the values of each field are read, in the order of the fields.
    package var readings: [ColumnReading]
    /// The kinds of geometry, each of which is a layer; none for a table.
    package var kinds: [LayerGeometryType]
    package var spatialReference: SpatialReference?
    package var hasZ = false
    package var featureCount: Int
    /// The columns of a table that say where a row is.
    package var place: PlaceColumns?
    /// The columns that hold the features' ids.
    package var identity = IdentityColumns()
    /// What was found out about the file and is worth saying.
    package var notes: [String] = []
}

/// Why a row can't become a feature.
package struct BadRow: Error, Sendable {
    package var reason: String

    package init(reason: String) { self.reason = reason }
}

/// A file of features, read from the beginning as often as needed.
package protocol FeatureSource: Sendable {
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
    package var fileName: String { url.lastPathComponent }
}

/// What somebody says of a file of features, whatever its format.
package struct SourceOptions: Sendable {
    /// The columns of the coordinates; nil: found by their names.
    package var coordinates: (x: String, y: String)?
    /// The reference of the coordinates; nil: as the file says.
    package var reference: SpatialReference?
    /// The column of the features' global ids; nil: found by its name.
    package var globalID: String?
    /// Rows are no features with a place, whatever their columns are called.
    package var isTable = false
    package var settings = TableSettings()

    package init(
        coordinates: (x: String, y: String)? = nil, reference: SpatialReference? = nil, globalID: String? = nil,
        isTable: Bool = false, settings: TableSettings = TableSettings()
    ) {
        self.coordinates = coordinates
        self.reference = reference
        self.globalID = globalID
        self.isTable = isTable
        self.settings = settings
    }
}

/// Makes the geometry of a row of a table.
package struct PlaceReader {
    package let place: PlaceColumns
    package let reference: SpatialReference
    package let range: CoordinateRange?
    /// How the numbers of the columns of coordinates are written.
    package var numbers: (x: NumberForm, y: NumberForm) = (.point, .point)

    package init(_ schema: SourceSchema) {
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
    package func geometry(_ text: (String) -> String) -> Result<FeatureEdit.GeometryEdit, BadRow> {
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
    package func checked(_ geometry: Geometry, _ hint: String) -> Result<FeatureEdit.GeometryEdit, BadRow> {
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
