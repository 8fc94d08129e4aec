import FieldworkREST

/// What GeoPackage's schema extension says of a column.
struct ForeignDomain {
    var alias: String?
    private var constraint: String?
    private var values: [(value: String, description: String?)] = []
    private var range: (minimum: Double, maximum: Double)?

    static func read(table: String, column: String, on connection: StoreConnection) throws -> ForeignDomain? {
        var result: ForeignDomain?
        try connection.run(
            """
            SELECT coalesce(nullif(name, ''), nullif(title, '')), constraint_name FROM gpkg_data_columns
            WHERE lower(table_name) = lower(?) AND lower(column_name) = lower(?)
            """,
            bind: {
                try $0.bind(table, at: 1)
                try $0.bind(column, at: 2)
            },
            row: { row in
                var domain = ForeignDomain()
                domain.alias = row.optionalText(0)
                domain.constraint = row.optionalText(1)
                result = domain
            })
        guard let constraint = result?.constraint else { return result }
        try connection.run(
            """
            SELECT constraint_type, value, min, max, description FROM gpkg_data_column_constraints
            WHERE constraint_name = ?
            """,
            bind: { try $0.bind(constraint, at: 1) },
            row: { row in
                switch row.text(0) {
                case "enum": result?.values.append((row.text(1), row.optionalText(4)))
                case "range" where !row.isNull(2) && !row.isNull(3): result?.range = (row.double(2), row.double(3))
                default: break
                }
            })
        return result
    }

    func domain(for type: FieldType) -> DomainDefinition? {
        guard let constraint else { return nil }
        if let range {
            let isWhole = type != .double && type != .single
            func value(_ number: Double) -> AttributeValue {
                if isWhole, let whole = Int64(exactly: number) { .integer(whole) } else { .real(number) }
            }
            return DomainDefinition(
                name: constraint, kind: .range(minimum: value(range.minimum), maximum: value(range.maximum)))
        }
        guard !values.isEmpty else { return nil }
        let codes = values.map { value, description in
            DomainDefinition.CodedValue(code: Self.code(value, type), name: description ?? value)
        }
        return DomainDefinition(name: constraint, kind: .codedValues(codes))
    }

    private static func code(_ text: String, _ type: FieldType) -> AttributeValue {
        switch type {
        case .smallInteger, .integer, .bigInteger, .oid: Int64(text).map(AttributeValue.integer) ?? .text(text)
        case .single, .double: Double(text).map(AttributeValue.real) ?? .text(text)
        default: .text(text)
        }
    }
}
