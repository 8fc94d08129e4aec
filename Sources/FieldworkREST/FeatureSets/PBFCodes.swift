/// The types that the protocol buffer's numbers stand for.
enum PBFCodes {
    static let fieldTypes: [FieldType] = [
        .smallInteger, .integer, .single, .double, .string, .date, .oid, .geometry, .blob, .raster, .guid, .globalID,
        .xml, .bigInteger, .dateOnly, .timeOnly, .timestampOffset,
    ]
    static let geometryTypes: [UInt64: LayerGeometryType] = [
        0: .point, 1: .multipoint, 2: .polyline, 3: .polygon, 5: .envelope,
    ]
}
