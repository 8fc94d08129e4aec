import CPostgres
import FieldworkStore

/// PostgreSQL's numbers of the types that Fieldwork reads and writes in binary (`pg_type.dat`); they never change. All
/// others are written as text.
enum PostgresType {
    static let boolean: Oid = 16
    static let bytes: Oid = 17
    static let name: Oid = 19
    static let bigInteger: Oid = 20
    static let smallInteger: Oid = 21
    static let integer: Oid = 23
    static let text: Oid = 25
    static let objectID: Oid = 26
    static let json: Oid = 114
    /// Two doubles. Only places of geometries are asked for in this form.
    static let point: Oid = 600
    static let real: Oid = 700
    static let double: Oid = 701
    static let unknown: Oid = 705
    static let paddedText: Oid = 1_042
    static let varyingText: Oid = 1_043
    static let date: Oid = 1_082
    static let time: Oid = 1_083
    static let timestamp: Oid = 1_114
    static let timestampWithZone: Oid = 1_184
    static let numeric: Oid = 1_700
    static let uuid: Oid = 2_950
    static let jsonb: Oid = 3_802
    static let bigIntegers: Oid = 1_016
    static let doubles: Oid = 1_022
    static let texts: Oid = 1_009
    static let uuids: Oid = 2_951
    static let byteStrings: Oid = 1_001

    /// Of those that are read where they lie.
    static func form(of type: Oid) -> WireForm? {
        switch type {
        case bigInteger: .bigInteger
        case integer: .integer
        case smallInteger: .smallInteger
        case double: .double
        case real: .real
        case timestamp, timestampWithZone: .moment
        default: isText(type) ? .text : nil
        }
    }

    static func isText(_ type: Oid) -> Bool {
        switch type {
        case text, varyingText, paddedText, name, unknown, json: true
        default: false
        }
    }
}

/// Dates between PostgreSQL's microseconds and days since 2000 and the milliseconds since 1970 of the protocol.
enum PostgresDate {
    static let daysTo2000: Int64 = 10_957

    /// nil for a moment that PostgreSQL can't say.
    static func microseconds(milliseconds: Int64) -> Int64? {
        let (since2000, underflow) = milliseconds.subtractingReportingOverflow(WireDate.millisecondsTo2000)
        let (result, overflow) = since2000.multipliedReportingOverflow(by: 1_000)
        return underflow || overflow ? nil : result
    }
}
