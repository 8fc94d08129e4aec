import FieldworkREST

/// A column of a table that is published in place, and how its values become those of a field and back.
struct PlacedColumn {
    var name: String
    /// The type's own name.
    var type: String
    /// The type as SQL has it, with its length.
    var declared: String
    var length: Int
    var isRequired: Bool
    /// In SQL; nil for none.
    var defaultValue: String?
    var isGenerated: Bool
    /// "a" for GENERATED ALWAYS, "d" for BY DEFAULT, empty for neither.
    var identity: String
    /// The values of an enumeration.
    var labels: [String]

    static func read(_ place: String, on connection: StoreConnection) throws -> [PlacedColumn] {
        var columns: [PlacedColumn] = []
        try connection.run(
            """
            SELECT a.attname::text, t.typname::text, pg_catalog.format_type(a.atttypid, a.atttypmod),
                a.atttypmod::bigint, a.attnotnull::integer, pg_catalog.pg_get_expr(d.adbin, d.adrelid),
                a.attgenerated::text, a.attidentity::text, coalesce((
                    SELECT string_agg(e.enumlabel::text, chr(10) ORDER BY e.enumsortorder)
                    FROM pg_catalog.pg_enum AS e WHERE e.enumtypid = t.oid), '')
            FROM pg_catalog.pg_attribute AS a JOIN pg_catalog.pg_type AS t ON t.oid = a.atttypid
            LEFT JOIN pg_catalog.pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
            WHERE a.attrelid = to_regclass(?) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
            """, bind: { try $0.bind(place, at: 1) },
            row: { row in
                let modifier = Int(row.integer(3))
                columns.append(
                    PlacedColumn(
                        name: row.text(0), type: row.text(1), declared: row.text(2),
                        length: ["varchar", "bpchar"].contains(row.text(1)) ? max(0, modifier - 4) : 0,
                        isRequired: row.integer(4) == 1, defaultValue: row.optionalText(5),
                        isGenerated: !row.text(6).isEmpty, identity: row.text(7),
                        labels: row.text(8).split(separator: "\n").map(String.init)))
            })
        return columns
    }

    var isWhole: Bool { ["int2", "int4", "int8"].contains(type) }
    var hasDefault: Bool { defaultValue != nil || !identity.isEmpty }

    // MARK: As a field

    /// nil for a type that no field has.
    var fieldType: FieldType? {
        if !labels.isEmpty { return .string }
        return switch type {
        case "bool", "int2": .smallInteger
        case "int4": .integer
        case "int8": .bigInteger
        case "float4": .single
        case "float8", "numeric": .double
        case "text", "varchar", "bpchar": .string
        case "uuid": .guid
        case "timestamptz", "timestamp": .date
        case "date": .dateOnly
        case "time": .timeOnly
        case "bytea": .blob
        default: nil
        }
    }

    var field: FieldDefinition? {
        guard let fieldType else { return nil }
        var field = FieldDefinition(
            name: name, type: fieldType, length: fieldType == .guid ? 38 : length,
            // What is left out gets the table's default.
            isNullable: !isRequired || hasDefault, isEditable: !isGenerated && identity != "a")
        if !labels.isEmpty {
            field.domain = DomainDefinition(
                name: type, kind: .codedValues(labels.map { DomainDefinition.CodedValue(code: .text($0), name: $0) }))
        }
        return field
    }

    // MARK: Values in SQL

    /// The column's value, as the column of a service of ours would hold it.
    /// - Parameter row: what stands before the column's name.
    func read(of row: String) -> String {
        let value = "\(row).\(quoted(name))"
        if !labels.isEmpty { return "\(value)::text COLLATE \"C\"" }
        return switch type {
        case "bool": "\(value)::integer::bigint"
        case "int2", "int4", "int8": "\(value)::bigint"
        case "float4", "float8", "numeric": "\(value)::double precision"
        case "uuid": "('{' || upper(\(value)::text) || '}') COLLATE \"C\""
        case "timestamptz": value
        case "timestamp": "(\(value) AT TIME ZONE 'UTC')"
        case "date": "to_char(\(value), 'YYYY-MM-DD') COLLATE \"C\""
        case "time": "to_char(\(value), 'HH24:MI:SS.MS') COLLATE \"C\""
        case "bytea": value
        default: "\(value)::text COLLATE \"C\""
        }
    }

    /// A value of a field, as the column takes it.
    func written(_ value: String) -> String {
        switch type {
        case "bool": "(\(value) <> 0)"
        case "timestamp": "(\(value) AT TIME ZONE 'UTC')"
        // Without its length, which would cut the value off instead of refusing it.
        case "varchar", "bpchar", "text": value
        default: "\(value)::\(declared)"
        }
    }
}
