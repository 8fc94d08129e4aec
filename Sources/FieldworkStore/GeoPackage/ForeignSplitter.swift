package import FieldworkREST

/// Makes a table of each kind of geometry of a table that has several.
struct ForeignSplitter {
    let content: ForeignTable.Content
    let column: String
    let key: String
    let connection: StoreConnection

    /// - Parameter base: what the names of the new tables begin with.
    /// - Returns: the new tables.
    func split(_ kinds: [LayerGeometryType: Int], base: String) throws -> [String] {
        try sort()
        let list = try columns().joined(separator: ", ")
        // Rows without a geometry go with the most.
        let largest = kinds.max { $0.value < $1.value }?.key
        var names: [String] = []
        for kind in Self.order where kinds[kind] != nil {
            let name = try freeName("\(base)_\(kind.layerSuffix)")
            try connection.execute("CREATE TABLE \(quoted(name)) (\(try definitions()))")
            try connection.run(
                """
                INSERT INTO \(quoted(name)) (\(list)) SELECT \(list) FROM \(quoted(content.table)) WHERE \(quoted(key)) IN
                    (SELECT id FROM temp.fieldwork_kinds WHERE kind = ?) \(kind == largest ? "OR \(quoted(column)) IS NULL" : "")
                """
            ) { try $0.bind(kind.rawValue, at: 1) }
            try register(name)
            try declare(kind, of: name)
            names.append(name)
        }
        try removeTable()
        try connection.execute("DROP TABLE temp.fieldwork_kinds")
        return names
    }

    /// Says that a table has one kind of geometry.
    func declare(_ kind: LayerGeometryType, of table: String) throws {
        let type =
            switch kind {
            case .point: "POINT"
            case .multipoint: "MULTIPOINT"
            case .polyline: "MULTILINESTRING"
            default: "MULTIPOLYGON"
            }
        try connection.run("UPDATE gpkg_geometry_columns SET geometry_type_name = ? WHERE table_name = ?") {
            try $0.bind(type, at: 1)
            try $0.bind(table, at: 2)
        }
        // An extension of the standard is declared for each kind of curve.
        guard try connection.hasTable("gpkg_extensions") else { return }
        try connection.run(
            "DELETE FROM gpkg_extensions WHERE table_name = ? AND extension_name LIKE 'gpkg_geom_%'"
        ) { try $0.bind(table, at: 1) }
    }

    private static let order: [LayerGeometryType] = [.point, .multipoint, .polyline, .polygon]

    /// Notes the kind of each row.
    private func sort() throws {
        try connection.execute("CREATE TEMP TABLE fieldwork_kinds (id INTEGER PRIMARY KEY, kind TEXT)")
        try connection.run(
            "SELECT \(quoted(key)), \(quoted(column)) FROM \(quoted(content.table)) WHERE \(quoted(column)) IS NOT NULL",
            row: { row in
                guard let kind = GeometryBlob(row.blob(1))?.wellKnownType.flatMap(ForeignSurvey.kind) else { return }
                let id = row.integer(0)
                try connection.run("INSERT INTO temp.fieldwork_kinds VALUES (?, ?)") {
                    try $0.bind(id, at: 1)
                    try $0.bind(kind.rawValue, at: 2)
                }
            })
    }

    private func freeName(_ wanted: String) throws -> String {
        var (name, number) = (wanted, 1)
        while try connection.integer(
            "SELECT 1 FROM sqlite_master WHERE lower(name) = lower(?)", bind: { try $0.bind(name, at: 1) }) != nil
        {
            number += 1
            name = "\(wanted)_\(number)"
        }
        return name
    }

    private func columns() throws -> [String] {
        var names: [String] = []
        try connection.run(
            "SELECT name FROM pragma_table_info(?)", bind: { try $0.bind(content.table, at: 1) },
            row: { names.append(quoted($0.text(0))) })
        return names
    }

    /// The columns of the table, as they are made.
    private func definitions() throws -> String {
        var parts: [String] = []
        try connection.run(
            "SELECT name, type, \"notnull\", dflt_value FROM pragma_table_info(?)",
            bind: { try $0.bind(content.table, at: 1) },
            row: { row in
                let name = row.text(0)
                if name == key { return parts.append("\(quoted(name)) INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL") }
                let value = row.optionalText(3).map { " DEFAULT (\($0))" } ?? ""
                parts.append("\(quoted(name)) \(row.text(1))\(row.integer(2) != 0 ? " NOT NULL" : "")\(value)")
            })
        return parts.joined(separator: ", ")
    }

    private func register(_ name: String) throws {
        var copies = [
            """
            INSERT INTO gpkg_contents
                (table_name, data_type, identifier, description, last_change, min_x, min_y, max_x, max_y, srs_id)
            SELECT ?1, data_type, ?1, description, last_change, min_x, min_y, max_x, max_y, srs_id
            FROM gpkg_contents WHERE table_name = ?2
            """,
            """
            INSERT INTO gpkg_geometry_columns (table_name, column_name, geometry_type_name, srs_id, z, m)
            SELECT ?1, column_name, geometry_type_name, srs_id, z, m FROM gpkg_geometry_columns WHERE table_name = ?2
            """,
        ]
        if try connection.hasTable("gpkg_data_columns") {
            copies.append(
                """
                INSERT INTO gpkg_data_columns
                    (table_name, column_name, name, title, description, mime_type, constraint_name)
                SELECT ?1, column_name, name, title, description, mime_type, constraint_name
                FROM gpkg_data_columns WHERE table_name = ?2
                """)
        }
        for copy in copies {
            try connection.run(copy) {
                try $0.bind(name, at: 1)
                try $0.bind(content.table, at: 2)
            }
        }
    }

    private func removeTable() throws {
        connection.forgetStatements()
        try connection.execute("DROP TABLE IF EXISTS \(quoted("rtree_\(content.table)_\(column)"))")
        try connection.execute("DROP TABLE \(quoted(content.table))")
        let registers = [
            "gpkg_contents", "gpkg_geometry_columns", "gpkg_extensions", "gpkg_data_columns", "gpkg_ogr_contents",
        ]
        for register in registers where try connection.hasTable(register) {
            try connection.run("DELETE FROM \(register) WHERE table_name = ?") { try $0.bind(content.table, at: 1) }
        }
    }
}

extension LayerGeometryType {
    /// What the name of a layer of this kind ends in, where one file gives several.
    package var layerSuffix: String {
        switch self {
        case .point: "points"
        case .multipoint: "multipoints"
        case .polyline: "lines"
        case .polygon, .envelope: "polygons"
        }
    }
}
