import FieldworkREST

/// The types that a field can have.
public enum FieldType: Sendable {
    /// Whole numbers of 16, 32 and 64 bits.
    case int16, int32, int64
    /// Numbers with a fraction, of 32 and 64 bits.
    case float32, float64
    /// Text of limited length.
    case text
    /// A moment (`Foundation.Date`).
    case date
    /// A day, a time of day, a moment with its offset from UTC: ISO 8601 text.
    case dateOnly, timeOnly, timestampOffset
    /// The row's id in its table (`Int64`).
    case oid
    /// The feature's id everywhere, and a reference to such an id (`Foundation.UUID`).
    case globalID, guid
    /// Binary data.
    case blob
    /// Not editable.
    case geometry, raster, xml
}

extension FieldType {
    init(_ type: FieldworkREST.FieldType) {
        self =
            switch type {
            case .smallInteger: .int16
            case .integer: .int32
            case .bigInteger: .int64
            case .single: .float32
            case .double: .float64
            case .string: .text
            case .date: .date
            case .dateOnly: .dateOnly
            case .timeOnly: .timeOnly
            case .timestampOffset: .timestampOffset
            case .oid: .oid
            case .globalID: .globalID
            case .guid: .guid
            case .geometry: .geometry
            case .blob: .blob
            case .raster: .raster
            case .xml: .xml
            }
    }
}
