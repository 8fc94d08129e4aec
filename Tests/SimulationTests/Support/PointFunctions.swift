import GRDBSQLite

/// What the triggers of a GeoPackage's spatial index ask of the program that edits the file, for points.
enum PointFunctions {
    /// A point as GeoPackage binary: little-endian, without a box.
    static func blob(x: Double, y: Double, srsID: Int32) -> [UInt8] {
        var bytes: [UInt8] = [0x47, 0x50, 0, 1]
        bytes += withUnsafeBytes(of: srsID.littleEndian, Array.init)
        bytes += [1, 1, 0, 0, 0]
        for value in [x, y] { bytes += withUnsafeBytes(of: value.bitPattern.littleEndian, Array.init) }
        return bytes
    }

    static func register(on connection: OpaquePointer?) {
        add("ST_MinX", on: connection) { context, _, values in PointFunctions.answer(context, values, coordinate: 0) }
        add("ST_MaxX", on: connection) { context, _, values in PointFunctions.answer(context, values, coordinate: 0) }
        add("ST_MinY", on: connection) { context, _, values in PointFunctions.answer(context, values, coordinate: 1) }
        add("ST_MaxY", on: connection) { context, _, values in PointFunctions.answer(context, values, coordinate: 1) }
        add("ST_IsEmpty", on: connection) { context, _, values in
            sqlite3_result_int(context, PointFunctions.coordinates(values) == nil ? 1 : 0)
        }
    }

    private typealias Function =
        @convention(c) (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Void

    private static func add(_ name: String, on connection: OpaquePointer?, _ function: Function) {
        sqlite3_create_function_v2(
            connection, name, 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, nil, function, nil, nil, nil)
    }

    private static func answer(
        _ context: OpaquePointer?, _ values: UnsafeMutablePointer<OpaquePointer?>?, coordinate: Int
    ) {
        guard let found = coordinates(values) else { return sqlite3_result_null(context) }
        sqlite3_result_double(context, coordinate == 0 ? found.x : found.y)
    }

    /// nil for what is no point or an empty one.
    private static func coordinates(_ values: UnsafeMutablePointer<OpaquePointer?>?) -> (x: Double, y: Double)? {
        guard let value = values?[0], let start = sqlite3_value_blob(value) else { return nil }
        let bytes = UnsafeRawBufferPointer(start: start, count: Int(sqlite3_value_bytes(value)))
        guard bytes.count > 8 else { return nil }
        // The box before the geometry, by the flags of the standard.
        let boxBytes = [0, 32, 48, 48, 64]
        let kind = Int(bytes[3] >> 1 & 7)
        guard kind < boxBytes.count, bytes.count >= 8 + boxBytes[kind] + 21 else { return nil }
        let geometry = 8 + boxBytes[kind]
        let isLittle = bytes[geometry] == 1
        func number(_ offset: Int) -> Double {
            let bits = bytes.loadUnaligned(fromByteOffset: geometry + offset, as: UInt64.self)
            return Double(bitPattern: isLittle ? UInt64(littleEndian: bits) : UInt64(bigEndian: bits))
        }
        let (x, y) = (number(5), number(13))
        return x.isNaN ? nil : (x, y)
    }
}
