import CSQLite
import Foundation

struct FloorError: Error {
    var message: String
}

/// The order of the rows in a file, which decides how many pages an extent touches.
enum RowOrder: String, CaseIterable {
    /// As they came.
    case random = "trees"
    /// Along a Hilbert curve, as `fieldwork publish` writes points whose ids it gives itself.
    case curve = "trees_along_curve"
}

/// What SQLite alone can do in one thread, without HTTP: the R-tree join and the JSON text made by
/// `json_group_array`, with the file mapped into memory. The rows are there in both orders; coordinates are plain columns.
final class Floor {
    private var database: OpaquePointer?
    private var boxQueries: [RowOrder: OpaquePointer] = [:]
    private var rowQuery: OpaquePointer?
    /// Statements of other questions, by their SQL.
    private var questions: [String: OpaquePointer] = [:]

    init(path: String) throws {
        guard sqlite3_open(path, &database) == SQLITE_OK else { throw FloorError(message: "can't open \(path)") }
        try execute(
            "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA cache_size=-64000; PRAGMA mmap_size=2147418112")
    }

    deinit {
        for query in boxQueries.values { sqlite3_finalize(query) }
        sqlite3_finalize(rowQuery)
        for question in questions.values { sqlite3_finalize(question) }
        sqlite3_close(database)
    }

    func execute(_ sql: String) throws {
        guard sqlite3_exec(database, sql, nil, nil, nil) == SQLITE_OK else {
            throw FloorError(message: String(cString: sqlite3_errmsg(database)))
        }
    }

    func load(count: Int) throws {
        for order in RowOrder.allCases {
            try createTable(order.rawValue)
            try execute("BEGIN")
            let inserter = try Inserter(database: database, table: order.rawValue)
            try TreeData.forEach(count, in: order) { try inserter.insert($0) }
            try execute("COMMIT")
        }
    }

    private func createTable(_ name: String) throws {
        try execute(
            """
            CREATE TABLE \(name)(fid INTEGER PRIMARY KEY AUTOINCREMENT, x REAL, y REAL, species TEXT, name TEXT,
              condition TEXT, diameter REAL, height INTEGER, address TEXT, planted_year INTEGER, inspections INTEGER);
            CREATE VIRTUAL TABLE \(name)_rtree USING rtree(id, minx, maxx, miny, maxy);
            """)
    }

    /// One extent as one JSON text; returns its bytes.
    func extent(_ box: Box, _ order: RowOrder) throws -> Int {
        var boxQuery = boxQueries[order]
        if boxQuery == nil {
            let table = order.rawValue
            let sql = """
                SELECT json_group_array(json_object('attributes', json_object('fid', t.fid, 'species', species,
                  'name', name, 'condition', condition, 'diameter', diameter, 'height', height, 'address', address,
                  'planted_year', planted_year, 'inspections', inspections), 'geometry', json_object('x', x, 'y', y)))
                FROM \(table)_rtree r JOIN \(table) t ON t.fid = r.id
                WHERE r.maxx >= ?1 AND r.minx <= ?2 AND r.maxy >= ?3 AND r.miny <= ?4
                """
            guard sqlite3_prepare_v2(database, sql, -1, &boxQuery, nil) == SQLITE_OK else {
                throw FloorError(message: String(cString: sqlite3_errmsg(database)))
            }
            boxQueries[order] = boxQuery
        }
        sqlite3_bind_double(boxQuery, 1, box.minX)
        sqlite3_bind_double(boxQuery, 2, box.maxX)
        sqlite3_bind_double(boxQuery, 3, box.minY)
        sqlite3_bind_double(boxQuery, 4, box.maxY)
        defer { sqlite3_reset(boxQuery) }
        guard sqlite3_step(boxQuery) == SQLITE_ROW else { throw FloorError(message: "the floor's query failed") }
        return Int(sqlite3_column_bytes(boxQuery, 0))
    }

    /// One question with one row for an answer, as text; returns its bytes. `?1` to `?4` are a box, where it has them.
    func answer(to sql: String, in box: Box) throws -> Int {
        var question = questions[sql]
        if question == nil {
            guard sqlite3_prepare_v2(database, sql, -1, &question, nil) == SQLITE_OK else {
                throw FloorError(message: String(cString: sqlite3_errmsg(database)))
            }
            questions[sql] = question
        }
        for (index, side) in [box.minX, box.maxX, box.minY, box.maxY].enumerated()
        where index < sqlite3_bind_parameter_count(question) {
            sqlite3_bind_double(question, Int32(index + 1), side)
        }
        defer { sqlite3_reset(question) }
        guard sqlite3_step(question) == SQLITE_ROW else { throw FloorError(message: "the floor's query failed") }
        return Int(sqlite3_column_bytes(question, 0))
    }

    /// One extent as rows whose every value is read into a value of Swift; returns their count.
    func rows(_ box: Box) throws -> Int {
        if rowQuery == nil {
            let sql = """
                SELECT t.fid, species, name, condition, diameter, height, address, planted_year, inspections, x, y
                FROM trees_rtree r JOIN trees t ON t.fid = r.id
                WHERE r.maxx >= ?1 AND r.minx <= ?2 AND r.maxy >= ?3 AND r.miny <= ?4
                  AND x BETWEEN ?1 AND ?2 AND y BETWEEN ?3 AND ?4
                """
            guard sqlite3_prepare_v2(database, sql, -1, &rowQuery, nil) == SQLITE_OK else {
                throw FloorError(message: String(cString: sqlite3_errmsg(database)))
            }
        }
        for (index, side) in [box.minX, box.maxX, box.minY, box.maxY].enumerated() {
            sqlite3_bind_double(rowQuery, Int32(index + 1), side)
        }
        defer { sqlite3_reset(rowQuery) }
        var rows: [Row] = []
        while sqlite3_step(rowQuery) == SQLITE_ROW { rows.append(Row(rowQuery)) }
        return rows.count
    }

    /// Adds features to the loaded ones in one durable transaction: rows and R-tree, nothing else.
    func add(_ trees: [Tree]) throws {
        try execute("BEGIN IMMEDIATE")
        let inserter = try Inserter(database: database, table: "trees")
        for tree in trees { try inserter.insert(tree) }
        try execute("COMMIT")
    }
}

/// All values of a row, as an app would hold them.
private struct Row {
    var id: Int64
    var place: (x: Double, y: Double)
    var texts: (species: String, name: String, condition: String, address: String)
    var diameter: Double
    var integers: (height: Int64, plantedYear: Int64, inspections: Int64)

    init(_ statement: OpaquePointer?) {
        func text(_ column: Int32) -> String {
            sqlite3_column_text(statement, column).map { String(cString: $0) } ?? ""
        }
        func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(statement, column) }
        func real(_ column: Int32) -> Double { sqlite3_column_double(statement, column) }
        id = integer(0)
        place = (real(9), real(10))
        texts = (text(1), text(2), text(3), text(6))
        diameter = real(4)
        integers = (integer(5), integer(7), integer(8))
    }
}

/// Prepared statements that insert a tree and its entry in the R-tree.
private final class Inserter {
    private var row: OpaquePointer?
    private var entry: OpaquePointer?
    private let database: OpaquePointer?
    // SQLite copies the text before the call returns.
    private let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

    init(database: OpaquePointer?, table: String) throws {
        self.database = database
        let rowSQL = "INSERT INTO \(table) VALUES(NULL,?,?,?,?,?,?,?,?,?,?)"
        let entrySQL = "INSERT INTO \(table)_rtree VALUES(?,?,?,?,?)"
        guard sqlite3_prepare_v2(database, rowSQL, -1, &row, nil) == SQLITE_OK,
            sqlite3_prepare_v2(database, entrySQL, -1, &entry, nil) == SQLITE_OK
        else { throw FloorError(message: String(cString: sqlite3_errmsg(database))) }
    }

    deinit {
        sqlite3_finalize(row)
        sqlite3_finalize(entry)
    }

    func insert(_ tree: Tree) throws {
        sqlite3_bind_double(row, 1, tree.x)
        sqlite3_bind_double(row, 2, tree.y)
        sqlite3_bind_text(row, 3, tree.species, -1, transient)
        sqlite3_bind_text(row, 4, tree.name, -1, transient)
        sqlite3_bind_text(row, 5, tree.condition, -1, transient)
        sqlite3_bind_double(row, 6, tree.diameter)
        sqlite3_bind_int64(row, 7, Int64(tree.height))
        sqlite3_bind_text(row, 8, tree.address, -1, transient)
        sqlite3_bind_int64(row, 9, Int64(tree.plantedYear))
        sqlite3_bind_int64(row, 10, Int64(tree.inspections))
        guard sqlite3_step(row) == SQLITE_DONE else { throw FloorError(message: "insert failed") }
        sqlite3_reset(row)
        sqlite3_bind_int64(entry, 1, sqlite3_last_insert_rowid(database))
        sqlite3_bind_double(entry, 2, tree.x)
        sqlite3_bind_double(entry, 3, tree.x)
        sqlite3_bind_double(entry, 4, tree.y)
        sqlite3_bind_double(entry, 5, tree.y)
        guard sqlite3_step(entry) == SQLITE_DONE else { throw FloorError(message: "R-tree insert failed") }
        sqlite3_reset(entry)
    }
}
