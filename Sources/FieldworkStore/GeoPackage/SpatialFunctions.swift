import GRDBSQLite

/// The SQL functions that GeoPackage's own triggers call. Every connection has them: without them no tool could write
/// into a table with an R-tree.
enum SpatialFunctions {
    static func register(on connection: StoreConnection) throws {
        try connection.addFunction("ST_IsEmpty") { context, _, values in
            guard let blob = SpatialFunctions.geometry(values) else { return sqlite3_result_null(context) }
            sqlite3_result_int(context, blob.box == nil ? 1 : 0)
        }
        try connection.addFunction("ST_MinX") { context, _, values in
            SpatialFunctions.result(context, SpatialFunctions.geometry(values)?.box?.xMin)
        }
        try connection.addFunction("ST_MaxX") { context, _, values in
            SpatialFunctions.result(context, SpatialFunctions.geometry(values)?.box?.xMax)
        }
        try connection.addFunction("ST_MinY") { context, _, values in
            SpatialFunctions.result(context, SpatialFunctions.geometry(values)?.box?.yMin)
        }
        try connection.addFunction("ST_MaxY") { context, _, values in
            SpatialFunctions.result(context, SpatialFunctions.geometry(values)?.box?.yMax)
        }
        try connection.addFunction("fieldwork_srs_id", arguments: 2) { context, _, values in
            guard let blob = SpatialFunctions.geometry(values), let id = values?[1] else {
                return sqlite3_result_null(context)
            }
            let bytes = blob.renumbered(Int32(truncatingIfNeeded: sqlite3_value_int64(id)))
            // SQLITE_TRANSIENT: SQLite copies the bytes.
            sqlite3_result_blob64(
                context, bytes, sqlite3_uint64(bytes.count), unsafeBitCast(-1, to: sqlite3_destructor_type.self))
        }
    }

    private static func result(_ context: OpaquePointer?, _ value: Double?) {
        if let value { sqlite3_result_double(context, value) } else { sqlite3_result_null(context) }
    }

    /// The first argument as a geometry; it stays valid while the function runs.
    static func geometry(_ values: UnsafeMutablePointer<OpaquePointer?>?) -> GeometryBlob? {
        guard let value = values?[0], sqlite3_value_type(value) == SQLITE_BLOB else { return nil }
        let start = sqlite3_value_blob(value)
        return GeometryBlob(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_value_bytes(value))))
    }
}

extension StoreConnection {
    typealias Function = @convention(c) (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Void

    /// Adds a deterministic function that triggers and views may call.
    func addFunction(_ name: String, arguments: Int32 = 1, _ function: Function) throws {
        let flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS
        let code = sqlite3_create_function_v2(pointer, name, arguments, flags, nil, function, nil, nil, nil)
        guard code == SQLITE_OK else { throw error(code) }
    }
}
