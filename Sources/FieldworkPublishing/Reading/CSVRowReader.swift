import FieldworkGeometry
import FieldworkREST

/// Makes features of the rows of a table.
struct CSVRowReader {
    /// A field, and where its values stand.
    private struct Cell {
        var name: String
        var index: Int
        var form: Form

        /// Which values can be read from their bytes; the others are read as texts.
        enum Form {
            case text, whole, number, other
        }
    }

    private let schema: SourceSchema
    private let cells: [Cell]
    private let columnCount: Int
    /// Where the columns stand by their titles, of equal ones the first.
    private let indices: [String: Int]
    private let place: PlaceReader?
    /// Where the coordinates stand, if they are written with a point.
    private let coordinates: (x: Int, y: Int)?

    init(_ schema: SourceSchema, _ header: [String]) {
        self.schema = schema
        cells = zip(schema.fields, schema.readings).map { field, reading in
            let form: Cell.Form =
                switch field.type {
                case .string: .text
                case .integer, .bigInteger, .smallInteger: .whole
                case .double, .single: reading.number == .comma ? .other : .number
                default: .other
                }
            return Cell(name: field.name, index: reading.index, form: form)
        }
        columnCount = header.count
        indices = Dictionary(
            header.enumerated().map { ($0.element, $0.offset) }, uniquingKeysWith: { first, _ in first })
        place = schema.place == nil ? nil : PlaceReader(schema)
        if let place, case .coordinates(let x, let y) = place.place, let x = indices[x], let y = indices[y],
            place.numbers.x != .comma, place.numbers.y != .comma
        {
            coordinates = (x, y)
        } else {
            coordinates = nil
        }
    }

    func feature(_ record: CSVRecord) -> Result<FeatureEdit, BadRow> {
        // Some programs end each line with a delimiter.
        let isLong = record.count > columnCount && (columnCount..<record.count).allSatisfy(record.isEmpty)
        guard record.count == columnCount || isLong else {
            return .failure(BadRow(reason: "It has \(record.count) values, not \(columnCount)."))
        }
        var attributes: [(name: String, value: AttributeValue)] = []
        attributes.reserveCapacity(cells.count)
        for number in cells.indices { attributes.append((cells[number].name, value(record, number))) }
        var feature = FeatureEdit(attributes: attributes)
        if schema.identity.objectID != nil || schema.identity.globalID != nil {
            (feature.objectID, feature.globalID) = schema.identity.ids { .text(text($0, record)) }
        }
        guard let place else { return .success(feature) }
        if let point = point(record, place) {
            feature.geometry = .geometry(point)
            return .success(feature)
        }
        return place.geometry { text($0, record) }.map { geometry in
            feature.geometry = geometry
            return feature
        }
    }

    private func text(_ title: String, _ record: CSVRecord) -> String { indices[title].map { record[$0] } ?? "" }

    /// What `FieldInference.value` makes of the value of a field.
    private func value(_ record: CSVRecord, _ number: Int) -> AttributeValue {
        let index = cells[number].index
        if record.isEmpty(index) { return .null }
        switch cells[number].form {
        case .text: return .text(record[index])
        case .whole:
            if let integer = record.withBytes(of: index, { PlainNumber($0)?.integer }) { return .integer(integer) }
        case .number:
            if let number = record.withBytes(of: index, { PlainNumber($0)?.value }) { return .real(number) }
        case .other: break
        }
        return FieldInference.value(record[index], for: schema.fields[number], schema.readings[number])
    }

    /// The point of a row whose coordinates are plain numbers where a point can be; others are for `PlaceReader` to judge.
    private func point(_ record: CSVRecord, _ place: PlaceReader) -> Point? {
        guard let coordinates, let x = record.withBytes(of: coordinates.x, { PlainNumber($0)?.value }),
            let y = record.withBytes(of: coordinates.y, { PlainNumber($0)?.value }),
            place.range?.contains(x: x, y: y) ?? true
        else { return nil }
        return Point(x: x, y: y, spatialReference: place.reference)
    }
}
