import GRDBSQLite

/// Aggregates that SQLite lacks.
enum AggregateFunctions {
    /// The running moments of Welford's method: exact also where the values are large and close to each other.
    private struct Moments {
        var count: Int64
        var mean: Double
        var squares: Double
    }

    static func register(on connection: SQLiteConnection) throws {
        let code = sqlite3_create_function_v2(
            connection.pointer, "fieldwork_variance", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, nil, nil,
            { context, _, values in
                guard let value = values?[0], sqlite3_value_type(value) != SQLITE_NULL,
                    let memory = sqlite3_aggregate_context(context, Int32(MemoryLayout<Moments>.size))
                else { return }
                // SQLite gives zeroed memory at the first call.
                let moments = memory.assumingMemoryBound(to: Moments.self)
                let number = sqlite3_value_double(value)
                moments.pointee.count += 1
                let step = number - moments.pointee.mean
                moments.pointee.mean += step / Double(moments.pointee.count)
                moments.pointee.squares += step * (number - moments.pointee.mean)
            },
            { context in
                // Of a sample; of one value there is none.
                guard let memory = sqlite3_aggregate_context(context, 0) else { return sqlite3_result_null(context) }
                let moments = memory.assumingMemoryBound(to: Moments.self).pointee
                guard moments.count > 1 else { return sqlite3_result_null(context) }
                sqlite3_result_double(context, max(0, moments.squares) / Double(moments.count - 1))
            }, nil)
        guard code == SQLITE_OK else { throw SQLiteConnection.error(of: connection.pointer, code: code) }
    }
}
