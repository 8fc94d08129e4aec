import FieldworkREST
import Foundation
import GRDBSQLite

/// Reads columns of a row: to an encoder without making values, or as values.
extension StoredColumn.Kind {
    /// Hands the column to an encoder. What another program stored against the field's type is given as what it is;
    /// a date that can't be read is null.
    @inline(__always)
    func encode<Encoder: FeatureEncoder>(_ value: some StoredValue, _ index: Int, to encoder: inout Encoder) {
        let type = value.type
        if type == SQLITE_NULL { return encoder.null(column: index) }
        switch self {
        case .date:
            if type == SQLITE_INTEGER { return encoder.integer(value.integer, column: index) }
            guard type == SQLITE_TEXT, let milliseconds = DateText.milliseconds(value.textBytes) else {
                return encoder.null(column: index)
            }
            encoder.integer(milliseconds, column: index)
        case .real:
            if type == SQLITE_FLOAT || type == SQLITE_INTEGER {
                encoder.real(value.double, column: index)
            } else {
                encoder.null(column: index)
            }
        case .integer, .objectID:
            switch type {
            case SQLITE_INTEGER: encoder.integer(value.integer, column: index)
            case SQLITE_FLOAT: encoder.real(value.double, column: index)
            default: encoder.null(column: index)
            }
        case .data:
            encoder.data(type == SQLITE_TEXT ? value.textBytes : value.blob, column: index)
        case .geometry: encoder.null(column: index)
        case .text, .guid, .globalID, .dateOnly, .timeOnly, .timestampOffset:
            // Numbers become their digits, as SQLite writes them.
            encoder.text(value.textBytes, column: index)
        }
    }

    @inline(__always)
    func value(_ row: StoreStatement, _ index: Int) -> AttributeValue {
        if let session = row.session { return value(SessionValue(statement: session, column: index)) }
        return value(row.value(index))
    }

    @inline(__always)
    func value(_ value: some StoredValue) -> AttributeValue {
        let type = value.type
        if type == SQLITE_NULL { return .null }
        switch self {
        case .date:
            if type == SQLITE_INTEGER { return .integer(value.integer) }
            return DateText.milliseconds(value.textBytes).map(AttributeValue.integer) ?? .null
        case .real: return type == SQLITE_FLOAT || type == SQLITE_INTEGER ? .real(value.double) : .null
        case .integer, .objectID:
            switch type {
            case SQLITE_INTEGER: return .integer(value.integer)
            case SQLITE_FLOAT: return .real(value.double)
            default: return .null
            }
        case .data: return .data(Data(type == SQLITE_TEXT ? value.textBytes : value.blob))
        case .geometry: return .null
        case .text, .guid, .globalID, .dateOnly, .timeOnly, .timestampOffset:
            return .text(String(decoding: value.textBytes, as: UTF8.self))
        }
    }
}

extension StoredColumn {
    func value(_ row: StoreStatement, _ index: Int) -> AttributeValue { kind.value(row, index) }
}
