import GRDBSQLite

/// Where a value of a session's row lies, in the bytes in which PostgreSQL sends it. Good until the next step.
package struct WireCell {
    /// nil for NULL.
    package var start: UnsafeRawPointer?
    package var count: Int

    package init(start: UnsafeRawPointer?, count: Int) {
        self.start = start
        self.count = count
    }
}

/// How a column's values are sent, of the forms that are read where they lie. Numbers have their highest byte first.
package enum WireForm: Sendable {
    case bigInteger, integer, smallInteger, double, real
    /// Microseconds since 2000.
    case moment
    /// UTF-8.
    case text
}

/// One value of a session's row, read where it lies: without a call to the session.
struct WireValue: StoredValue {
    let cell: WireCell
    let form: WireForm

    @inline(__always) var type: Int32 {
        guard cell.start != nil else { return SQLITE_NULL }
        return switch form {
        case .bigInteger, .integer, .smallInteger, .moment: SQLITE_INTEGER
        case .double, .real: SQLITE_FLOAT
        case .text: SQLITE_TEXT
        }
    }

    /// 0 for what is no number, or not as long as its form says.
    @inline(__always)
    private func big<Value: FixedWidthInteger>(_ type: Value.Type) -> Value {
        guard let start = cell.start, cell.count == MemoryLayout<Value>.size else { return 0 }
        return Value(bigEndian: start.loadUnaligned(as: Value.self))
    }

    @inline(__always) var integer: Int64 {
        switch form {
        case .bigInteger: big(Int64.self)
        case .integer: Int64(big(Int32.self))
        case .smallInteger: Int64(big(Int16.self))
        case .moment: WireDate.milliseconds(microseconds: big(Int64.self)) ?? 0
        case .double, .real: Int64(exactly: double.rounded(.towardZero)) ?? 0
        case .text: 0
        }
    }

    @inline(__always) var double: Double {
        switch form {
        case .double: Double(bitPattern: big(UInt64.self))
        case .real: Double(Float(bitPattern: big(UInt32.self)))
        default: Double(integer)
        }
    }

    @inline(__always) var textBytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: cell.start, count: cell.start == nil ? 0 : cell.count)
    }

    @inline(__always) var blob: UnsafeRawBufferPointer { textBytes }
}

/// Moments between PostgreSQL's microseconds since 2000 and the milliseconds since 1970 of the protocol.
package enum WireDate {
    package static let millisecondsTo2000: Int64 = 946_684_800_000

    /// nil for `infinity` and `-infinity`, which no client knows.
    @inline(__always)
    package static func milliseconds(microseconds: Int64) -> Int64? {
        guard microseconds != .max, microseconds != .min else { return nil }
        // Rounded down, so that moments before 1970 keep their order.
        let (quotient, remainder) = microseconds.quotientAndRemainder(dividingBy: 1_000)
        return (remainder < 0 ? quotient - 1 : quotient) + millisecondsTo2000
    }
}

extension StoredColumn.Kind {
    /// The form in which values of the column can be read where they lie; nil where the session has to make something of them.
    func wireForm(_ form: WireForm?) -> WireForm? {
        switch (self, form) {
        case (.integer, .bigInteger), (.integer, .integer), (.integer, .smallInteger), (.objectID, .bigInteger),
            (.objectID, .integer), (.objectID, .smallInteger), (.real, .double), (.real, .real), (.real, .bigInteger),
            (.real, .integer), (.real, .smallInteger), (.date, .moment):
            form
        case (.text, .text), (.guid, .text), (.globalID, .text), (.dateOnly, .text), (.timeOnly, .text),
            (.timestampOffset, .text):
            form
        default: nil
        }
    }
}
