import FieldworkGeometry

/// The numbers by which the protocol buffer names types, and the small messages of an answer's head.
enum PBFCodes {
    static let fieldTypes: [FieldType] = [
        .smallInteger, .integer, .single, .double, .string, .date, .oid, .geometry, .blob, .raster, .guid, .globalID,
        .xml, .bigInteger, .dateOnly, .timeOnly, .timestampOffset,
    ]
    static let geometryTypes: [UInt64: LayerGeometryType] = [
        0: .point, 1: .multipoint, 2: .polyline, 3: .polygon, 5: .envelope,
    ]

    static func code(of type: LayerGeometryType) -> UInt64 { geometryTypes.first { $0.value == type }?.key ?? 127 }

    static func message(of reference: SpatialReference) -> [UInt8] {
        var bytes: [UInt8] = []
        if let wkid = reference.wkid?.rawValue {
            ProtocolBufferWriter.integer(1, UInt64(wkid == 3_857 ? 102_100 : wkid), to: &bytes)
            ProtocolBufferWriter.integer(2, UInt64(reference.latestWKID ?? wkid), to: &bytes)
        } else {
            ProtocolBufferWriter.string(5, reference.wkText, to: &bytes)
        }
        return bytes
    }

    static func message(of field: FieldDefinition) -> [UInt8] {
        var bytes: [UInt8] = []
        ProtocolBufferWriter.string(1, field.name, to: &bytes)
        ProtocolBufferWriter.integer(2, UInt64(fieldTypes.firstIndex(of: field.type) ?? 4), to: &bytes)
        ProtocolBufferWriter.string(3, field.alias, to: &bytes)
        ProtocolBufferWriter.integer(4, 16, to: &bytes)
        if let domain = field.domain { ProtocolBufferWriter.string(5, domain.json.text, to: &bytes) }
        return bytes
    }
}
