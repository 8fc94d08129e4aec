import FieldworkREST

/// Updates of features of a layer in a database that are written by one statement for many: those that set the same columns. Features
/// are written in no order, so that nothing is taken that one row may keep another from.
final class PendingUpdates {
    private struct Row {
        var values: [AttributeValue]
        var geometry: [UInt8]?
        var objectID: Int64
    }

    private let rules: RowRules
    private let connection: StoreConnection
    private let facts: TableFacts
    private var columns: [String] = []
    private var setsGeometry = false
    private var rows: [Row] = []

    /// Rows of one statement, the most first: few texts of statements, which are kept.
    private static let sizes = [100, 10, 1]

    init(_ rules: RowRules, _ facts: TableFacts, on connection: StoreConnection) {
        self.rules = rules
        self.connection = connection
        self.facts = facts
    }

    /// - Returns: false for an update that has to be written by itself.
    func add(
        _ assignments: [RowRules.Assignment], _ geometry: [UInt8]?, setsGeometry: Bool, objectID: Int64
    ) throws -> Bool {
        var columns = assignments.map { rules.layer.columns[$0.column].name }
        if setsGeometry, let column = rules.layer.geometryColumn { columns.append(column) }
        guard columns.allSatisfy({ facts.types[$0] != nil && !facts.guarded.contains($0) }) else {
            try write()
            return false
        }
        if columns != self.columns { try write() }
        (self.columns, self.setsGeometry) = (columns, setsGeometry)
        rows.append(Row(values: assignments.map(\.value), geometry: geometry, objectID: objectID))
        if rows.count == Self.sizes[0] { try write() }
        return true
    }

    /// Writes what is waiting. Throws `SavepointsNeeded` when the database refuses a row.
    func write() throws {
        var rest = rows[...]
        rows = []
        for size in Self.sizes {
            while rest.count >= size {
                try write(rest.prefix(size))
                rest = rest.dropFirst(size)
            }
        }
    }

    private func write(_ rows: ArraySlice<Row>) throws {
        let sets = columns.enumerated().map { "\(quoted($0.element)) = v.c\($0.offset)" }.joined(separator: ", ")
        let names = columns.indices.map { "c\($0)" }.joined(separator: ", ")
        // The types of the first row are those of all.
        let first = columns.map { "CAST(? AS \(facts.types[$0] ?? "text"))" } + ["CAST(? AS bigint)"]
        let others = "(\(first.map { _ in "?" }.joined(separator: ", ")))"
        let values = ["(\(first.joined(separator: ", ")))"] + Array(repeating: others, count: rows.count - 1)
        let statement = try connection.cached(
            """
            UPDATE \(rules.table) AS t SET \(sets) FROM (VALUES \(values.joined(separator: ", "))) AS v (\(names), id)
            WHERE t.\(rules.key) = v.id
            """)
        defer { statement.finish() }
        var place = 1
        for row in rows {
            for value in row.values {
                try statement.bind(value, at: place)
                place += 1
            }
            if setsGeometry {
                if let geometry = row.geometry {
                    try geometry.withUnsafeBytes { try statement.bind(blob: $0, at: place) }
                } else {
                    try statement.bindNull(at: place)
                }
                place += 1
            }
            try statement.bind(row.objectID, at: place)
            place += 1
        }
        guard case .done = try statement.execute() else { throw SavepointsNeeded() }
    }
}
