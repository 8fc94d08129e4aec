package import FieldworkGeometry

/// The grid that coordinates of an answer are counted on. Without one that the client asks for, it is so fine that nothing
/// that was measured is lost.
struct PBFGrid: Sendable {
    private let originX: Double
    private let originY: Double
    private let scale: Double
    private let isUpperLeft: Bool

    init(layout: AnswerLayout) {
        if let asked = layout.output.quantization {
            (originX, originY) = (asked.originX, asked.originY)
            (scale, isUpperLeft) = (asked.tolerance, asked.isUpperLeftOrigin)
        } else if layout.spatialReference?.isGeographic == true {
            (originX, originY, scale, isUpperLeft) = (-400, -400, 1e-9, true)
        } else {
            (originX, originY, scale, isUpperLeft) = (-20_037_700, -30_241_100, 0.0001, true)
        }
    }

    func column(_ x: Double) -> Int64 { QuantizationGrid.cell((x - originX) / scale) }

    func row(_ y: Double) -> Int64 { QuantizationGrid.cell((isUpperLeft ? originY - y : y - originY) / scale) }

    func height(_ value: Double) -> Int64 { QuantizationGrid.height(value) }

    func message(hasZ: Bool, hasM: Bool) -> [UInt8] {
        var scales: [UInt8] = []
        var origins: [UInt8] = []
        ProtobufBytes.double(scale, field: 1, to: &scales)
        ProtobufBytes.double(scale, field: 2, to: &scales)
        ProtobufBytes.double(originX, field: 1, to: &origins)
        ProtobufBytes.double(originY, field: 2, to: &origins)
        for field in [(hasM, UInt64(3)), (hasZ, 4)] where field.0 {
            ProtobufBytes.double(QuantizationGrid.heightScale, field: field.1, to: &scales)
            ProtobufBytes.double(QuantizationGrid.heightOrigin, field: field.1, to: &origins)
        }
        var bytes: [UInt8] = []
        if !isUpperLeft { ProtobufBytes.integer(1, field: 1, to: &bytes) }
        ProtobufBytes.delimited(scales, field: 2, to: &bytes)
        ProtobufBytes.delimited(origins, field: 3, to: &bytes)
        return bytes
    }
}

/// What stands before the features of a PBF answer, and the answers without features.
package enum PBFHead {
    static func bytes(_ layout: AnswerLayout, _ grid: PBFGrid, exceededTransferLimit: Bool) -> [UInt8] {
        var bytes: [UInt8] = []
        if !layout.isOfStatistics {
            ProtobufBytes.delimited(Array(layout.objectIDField.utf8), field: 1, to: &bytes)
            var uniqueID: [UInt8] = []
            ProtobufBytes.delimited(Array(layout.objectIDField.utf8), field: 1, to: &uniqueID)
            ProtobufBytes.bool(true, field: 2, to: &uniqueID)
            ProtobufBytes.delimited(uniqueID, field: 2, to: &bytes)
        }
        if let name = layout.globalIDField { ProtobufBytes.delimited(Array(name.utf8), field: 3, to: &bytes) }
        let type = number(of: layout.geometryType)
        if type > 0 { ProtobufBytes.integer(type, field: 7, to: &bytes) }
        if let reference = layout.spatialReference, layout.geometryType != nil {
            ProtobufBytes.delimited(message(reference), field: 8, to: &bytes)
        }
        ProtobufBytes.bool(exceededTransferLimit, field: 9, to: &bytes)
        ProtobufBytes.bool(layout.hasZ && layout.geometryType != nil, field: 10, to: &bytes)
        ProtobufBytes.bool(layout.hasM && layout.geometryType != nil, field: 11, to: &bytes)
        if layout.geometryType != nil {
            ProtobufBytes.delimited(grid.message(hasZ: layout.hasZ, hasM: layout.hasM), field: 12, to: &bytes)
        }
        for field in layout.fields { ProtobufBytes.delimited(message(field), field: 13, to: &bytes) }
        return bytes
    }

    /// `returnCountOnly`.
    package static func count(_ count: Int) -> [UInt8] {
        var result: [UInt8] = []
        ProtobufBytes.integer(UInt64(max(0, count)), field: 1, to: &result)
        return collection(result, field: 2)
    }

    /// `returnIdsOnly`.
    package static func objectIDs(_ ids: [Int64], layer: LayerDefinition) -> [UInt8] {
        var result: [UInt8] = []
        var packed: [UInt8] = []
        ProtobufBytes.delimited(Array(layer.objectIDField.utf8), field: 1, to: &result)
        for id in ids { ProtobufBytes.varint(UInt64(bitPattern: id), to: &packed) }
        ProtobufBytes.delimited(packed, field: 3, to: &result)
        return collection(result, field: 3)
    }

    /// `returnExtentOnly`.
    package static func extent(_ extent: Envelope?, count: Int) -> [UInt8] {
        var result: [UInt8] = []
        if let extent, !extent.isEmpty {
            var envelope: [UInt8] = []
            for (index, value) in [extent.xMin, extent.yMin, extent.xMax, extent.yMax].enumerated() {
                ProtobufBytes.double(value, field: UInt64(index + 1), to: &envelope)
            }
            if let reference = extent.spatialReference {
                ProtobufBytes.delimited(message(reference), field: 5, to: &envelope)
            }
            ProtobufBytes.delimited(envelope, field: 1, to: &result)
        }
        ProtobufBytes.integer(UInt64(max(0, count)), field: 2, to: &result)
        return collection(result, field: 4)
    }

    private static func collection(_ result: [UInt8], field: UInt64) -> [UInt8] {
        var query: [UInt8] = []
        ProtobufBytes.delimited(result, field: field, to: &query)
        var bytes: [UInt8] = []
        ProtobufBytes.delimited(query, field: 2, to: &bytes)
        return bytes
    }

    private static func message(_ reference: SpatialReference) -> [UInt8] {
        var bytes: [UInt8] = []
        if let wkid = reference.wkid?.rawValue {
            ProtobufBytes.integer(UInt64(wkid == 3_857 ? 102_100 : wkid), field: 1, to: &bytes)
            ProtobufBytes.integer(UInt64(reference.latestWKID ?? wkid), field: 2, to: &bytes)
        } else {
            ProtobufBytes.delimited(Array(reference.wkText.utf8), field: 5, to: &bytes)
        }
        return bytes
    }

    private static func message(_ field: FieldDefinition) -> [UInt8] {
        var bytes: [UInt8] = []
        ProtobufBytes.delimited(Array(field.name.utf8), field: 1, to: &bytes)
        let type = number(of: field.type)
        if type > 0 { ProtobufBytes.integer(type, field: 2, to: &bytes) }
        ProtobufBytes.delimited(Array(field.alias.utf8), field: 3, to: &bytes)
        ProtobufBytes.integer(16, field: 4, to: &bytes)
        if let domain = field.domain { ProtobufBytes.delimited(Array(domain.json.text.utf8), field: 5, to: &bytes) }
        return bytes
    }

    private static func number(of type: LayerGeometryType?) -> UInt64 {
        switch type {
        case .point: 0
        case .multipoint: 1
        case .polyline: 2
        case .polygon: 3
        case .envelope: 5
        case nil: 127
        }
    }

    private static func number(of type: FieldType) -> UInt64 {
        switch type {
        case .smallInteger: 0
        case .integer: 1
        case .single: 2
        case .double: 3
        case .string: 4
        case .date: 5
        case .oid: 6
        case .geometry: 7
        case .blob: 8
        case .raster: 9
        case .guid: 10
        case .globalID: 11
        case .xml: 12
        case .bigInteger: 13
        case .dateOnly: 14
        case .timeOnly: 15
        case .timestampOffset: 16
        }
    }
}
