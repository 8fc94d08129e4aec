import GRDBSQLite

/// The variance of a sample as an SQL function, by Welford's method: exact where a difference of sums of squares would
/// cancel. It holds three numbers a group.
enum VarianceFunction {
    static let name = "fieldwork_variance"

    private struct State {
        var count: Double
        var mean: Double
        /// The sum of squared distances from the mean.
        var spread: Double
    }

    static func register(on connection: StoreConnection) throws {
        let flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS
        let code = sqlite3_create_function_v2(
            connection.pointer, name, 1, flags, nil, nil,
            { context, _, values in
                guard let value = values?[0], [SQLITE_INTEGER, SQLITE_FLOAT].contains(sqlite3_value_type(value)),
                    let state = VarianceFunction.state(context, size: Int32(MemoryLayout<State>.size))
                else { return }
                let number = sqlite3_value_double(value)
                // The memory begins as zeros.
                state.pointee.count += 1
                let distance = number - state.pointee.mean
                state.pointee.mean += distance / state.pointee.count
                state.pointee.spread += distance * (number - state.pointee.mean)
            },
            { context in
                guard let state = VarianceFunction.state(context, size: 0), state.pointee.count > 1 else {
                    return sqlite3_result_null(context)
                }
                sqlite3_result_double(context, state.pointee.spread / (state.pointee.count - 1))
            }, nil)
        guard code == SQLITE_OK else { throw connection.error(code) }
    }

    private static func state(_ context: OpaquePointer?, size: Int32) -> UnsafeMutablePointer<State>? {
        sqlite3_aggregate_context(context, size)?.assumingMemoryBound(to: State.self)
    }
}
