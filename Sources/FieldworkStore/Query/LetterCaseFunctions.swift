import FieldworkREST
import GRDBSQLite

/// `UPPER` and `LOWER` as SQL functions. A text of ASCII, as most are, is changed byte by byte.
enum LetterCaseFunctions {
    static func register(on connection: StoreConnection) throws {
        try connection.addFunction("fieldwork_upper", arguments: 1) { context, _, values in
            LetterCaseFunctions.change(.upper, values, context)
        }
        try connection.addFunction("fieldwork_lower", arguments: 1) { context, _, values in
            LetterCaseFunctions.change(.lower, values, context)
        }
    }

    private static func change(
        _ letterCase: LetterCase, _ values: UnsafeMutablePointer<OpaquePointer?>?, _ context: OpaquePointer?
    ) {
        guard let bytes = QueryFunctions.text(values, 0) else {
            let function: SQLFunction = letterCase == .upper ? .upper : .lower
            return ScalarFunctions.give(.function(function, ScalarFunctions.arguments(1, values)), to: context)
        }
        let isChanged = withUnsafeTemporaryAllocation(of: UInt8.self, capacity: max(bytes.count, 1)) { changed in
            for (index, byte) in bytes.enumerated() {
                guard byte < 0x80 else { return false }
                changed[index] = letterCase.ascii(byte)
            }
            changed.withMemoryRebound(to: CChar.self) {
                sqlite3_result_text(context, $0.baseAddress, Int32(bytes.count), StoreStatement.transient)
            }
            return true
        }
        if isChanged { return }
        var text = letterCase.of(String(decoding: bytes, as: UTF8.self))
        text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) {
                sqlite3_result_text(
                    context, $0.baseAddress ?? StoreStatement.emptyText, Int32($0.count), StoreStatement.transient)
            }
        }
    }
}
