import FieldworkREST

/// Aliases and domains in the tables of GeoPackage's schema extension, where QGIS and GDAL look for them.
struct DataColumns {
    let layer: StoredLayer

    /// Writes what the definition says, in place of what was there.
    func write(on connection: StoreConnection) throws {
        try connection.run("DELETE FROM gpkg_data_columns WHERE table_name = ?") { try $0.bind(layer.tableName, at: 1) }
        var usedNames: Set<String> = []
        for column in layer.columns where column.isStored && (hasAlias(column) || column.field.domain != nil) {
            // The standard wants the short name to be unique in the table.
            let alias = column.field.alias
            let name = hasAlias(column) && usedNames.insert(alias).inserted ? alias : nil
            let constraint = try column.field.domain.flatMap { try writeConstraint($0, of: column, on: connection) }
            try connection.run(
                """
                INSERT INTO gpkg_data_columns (table_name, column_name, name, title, constraint_name)
                VALUES (?, ?, ?, ?, ?)
                """
            ) {
                for (index, value) in [layer.tableName, column.name, name, alias, constraint].enumerated() {
                    try $0.bind(value, at: index + 1)
                }
            }
        }
    }

    private func hasAlias(_ column: StoredColumn) -> Bool {
        !column.field.alias.isEmpty && column.field.alias != column.name
    }

    private func writeConstraint(
        _ domain: DomainDefinition, of column: StoredColumn, on connection: StoreConnection
    ) throws -> String? {
        // Constraints are global to the file and lower case; two layers may use one name for different domains.
        let name = "fieldwork_\(layer.definition.id)_\(column.name)".lowercased()
        try connection.run("DELETE FROM gpkg_data_column_constraints WHERE constraint_name = ?") {
            try $0.bind(name, at: 1)
        }
        switch domain.kind {
        case .inherited: return nil
        case .codedValues(let values):
            for value in values {
                try connection.run(
                    """
                    INSERT OR IGNORE INTO gpkg_data_column_constraints
                        (constraint_name, constraint_type, value, description)
                    VALUES (?, 'enum', ?, ?)
                    """
                ) {
                    try $0.bind(name, at: 1)
                    try $0.bind(Self.text(value.code), at: 2)
                    try $0.bind(value.name, at: 3)
                }
            }
            return values.isEmpty ? nil : name
        case .range(let minimum, let maximum):
            guard minimum.doubleValue != nil, maximum.doubleValue != nil else { return nil }
            try connection.run(
                """
                INSERT INTO gpkg_data_column_constraints
                    (constraint_name, constraint_type, min, min_is_inclusive, max, max_is_inclusive, description)
                VALUES (?, 'range', ?, 1, ?, 1, ?)
                """
            ) {
                try $0.bind(name, at: 1)
                try $0.bind(minimum, at: 2)
                try $0.bind(maximum, at: 3)
                try $0.bind(domain.name, at: 4)
            }
            return name
        }
    }

    private static func text(_ code: AttributeValue) -> String {
        switch code {
        case .text(let text): text
        case .integer(let value): String(value)
        case .real(let value): String(value)
        case .null, .data: ""
        }
    }
}
