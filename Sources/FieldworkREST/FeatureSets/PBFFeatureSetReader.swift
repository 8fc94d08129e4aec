import FieldworkGeometry

/// Reads an answer in protocol buffers. Any bytes give a result or an error, in time and memory
/// proportional to them.
package enum PBFFeatureSetReader {
    package static func read(_ bytes: [UInt8]) throws(ProtocolBufferError) -> FeatureSet {
        var result: Result<FeatureSet, ProtocolBufferError> = .failure(ProtocolBufferReader.early)
        bytes.withUnsafeBytes { buffer in
            result = Result { () throws(ProtocolBufferError) in try collection(buffer) }
        }
        return try result.get()
    }

    private static func collection(_ bytes: UnsafeRawBufferPointer) throws(ProtocolBufferError) -> FeatureSet {
        var reader = ProtocolBufferReader(bytes)
        while let (field, value) = try reader.next() {
            guard field == 2, case .bytes(let query) = value else { continue }
            var inner = ProtocolBufferReader(query)
            while let (field, value) = try inner.next() {
                if field == 1, case .bytes(let result) = value {
                    var features = PBFFeatureResult()
                    return try features.read(result)
                }
            }
        }
        throw ProtocolBufferError(message: "The answer holds no features.")
    }
}

/// Reads the feature result: the head first, then the features, whatever their order on the wire.
private struct PBFFeatureResult {
    private var set = FeatureSet()
    private var scale = (x: 1.0, y: 1.0, z: 1.0, m: 1.0)
    private var translate = (x: 0.0, y: 0.0, z: 0.0, m: 0.0)
    private var isUpperLeft = true
    private var geometryCode: UInt64 = 0
    /// The names of the fields, which all features have in common.
    private var names = AttributeValues.Names([])
    private var isTable: Bool { geometryCode == 127 }

    mutating func read(_ bytes: UnsafeRawBufferPointer) throws(ProtocolBufferError) -> FeatureSet {
        var head = ProtocolBufferReader(bytes)
        var features: [UnsafeRawBufferPointer] = []
        while let (field, value) = try head.next() {
            switch (field, value) {
            case (1, .bytes(let text)): set.objectIDField = Self.text(text)
            case (3, .bytes(let text)): set.globalIDField = Self.text(text).isEmpty ? nil : Self.text(text)
            case (7, .varint(let code)): geometryCode = code
            case (8, .bytes(let message)): set.spatialReference = try Self.reference(message)
            case (9, .varint(let flag)): set.exceededTransferLimit = flag != 0
            case (10, .varint(let flag)): set.hasZ = flag != 0
            case (11, .varint(let flag)): set.hasM = flag != 0
            case (12, .bytes(let message)): try transform(message)
            case (13, .bytes(let message)): set.fields.append(try Self.field(message))
            case (15, .bytes(let message)): features.append(message)
            default: break
            }
        }
        set.geometryType = PBFCodes.geometryTypes[geometryCode]
        names = AttributeValues.Names(set.fields.map(\.name))
        for message in features { set.features.append(try feature(message)) }
        return set
    }

    private static func text(_ bytes: UnsafeRawBufferPointer) -> String { String(decoding: bytes, as: UTF8.self) }

    private static func reference(
        _ bytes: UnsafeRawBufferPointer
    ) throws(ProtocolBufferError) -> SpatialReference? {
        var reader = ProtocolBufferReader(bytes)
        var object = JSONObject()
        while let (field, value) = try reader.next() {
            switch (field, value) {
            case (1, .varint(let number)): object["wkid"] = .integer(Int64(truncatingIfNeeded: number))
            case (2, .varint(let number)): object["latestWkid"] = .integer(Int64(truncatingIfNeeded: number))
            case (5, .bytes(let bytes)): object["wkt"] = .string(text(bytes))
            default: break
            }
        }
        return try? GeoServicesJSON.spatialReference(from: .object(object))
    }

    private static func field(_ bytes: UnsafeRawBufferPointer) throws(ProtocolBufferError) -> FieldDefinition {
        var reader = ProtocolBufferReader(bytes)
        // The first type has the number 0, which the wire leaves out.
        var field = FieldDefinition(name: "", type: .smallInteger)
        while let (number, value) = try reader.next() {
            switch (number, value) {
            case (1, .bytes(let bytes)): field.name = text(bytes)
            case (2, .varint(let code)):
                guard code < UInt64(PBFCodes.fieldTypes.count) else { continue }
                field.type = PBFCodes.fieldTypes[Int(code)]
            case (3, .bytes(let bytes)): field.alias = text(bytes)
            case (5, .bytes(let bytes)):
                field.domain = (try? JSONParser.parse(bytes)).flatMap { try? DomainDefinition(json: $0) }
            default: break
            }
        }
        if field.alias.isEmpty { field.alias = field.name }
        return field
    }

    private mutating func transform(_ bytes: UnsafeRawBufferPointer) throws(ProtocolBufferError) {
        var reader = ProtocolBufferReader(bytes)
        while let (field, value) = try reader.next() {
            switch (field, value) {
            case (1, .varint(let code)): isUpperLeft = code == 0
            case (2, .bytes(let message)): try Self.numbers(message, &scale)
            case (3, .bytes(let message)): try Self.numbers(message, &translate)
            default: break
            }
        }
    }

    private static func numbers(
        _ bytes: UnsafeRawBufferPointer, _ numbers: inout (x: Double, y: Double, z: Double, m: Double)
    ) throws(ProtocolBufferError) {
        var reader = ProtocolBufferReader(bytes)
        while let (field, value) = try reader.next() {
            guard case .fixed64(let bits) = value else { continue }
            switch field {
            case 1: numbers.x = Double(bitPattern: bits)
            case 2: numbers.y = Double(bitPattern: bits)
            case 3: numbers.m = Double(bitPattern: bits)
            case 4: numbers.z = Double(bitPattern: bits)
            default: break
            }
        }
    }

    private func feature(_ bytes: UnsafeRawBufferPointer) throws(ProtocolBufferError) -> FeatureSet.Feature {
        var reader = ProtocolBufferReader(bytes)
        var feature = FeatureSet.Feature(attributes: [:], geometry: nil)
        var values: [AttributeValue?] = []
        while let (field, value) = try reader.next() {
            switch (field, value) {
            case (1, .bytes(let message)):
                if values.count < set.fields.count { values.append(try Self.value(message)) }
            case (2, .bytes(let message)) where !isTable: feature.geometry = try geometry(message)
            default: break
            }
        }
        feature.attributes =
            names.all.count == set.fields.count
            ? AttributeValues(names: names, values: values)
            : AttributeValues(
                Dictionary(zip(set.fields, values).compactMap { field, value in value.map { (field.name, $0) } }) {
                    _, last in last
                })
        return feature
    }

    private static func value(_ bytes: UnsafeRawBufferPointer) throws(ProtocolBufferError) -> AttributeValue {
        var reader = ProtocolBufferReader(bytes)
        while let (field, value) = try reader.next() {
            switch (field, value) {
            case (1, .bytes(let bytes)): return .text(text(bytes))
            case (2, .fixed32(let bits)): return .real(Double(Float(bitPattern: bits)))
            case (3, .fixed64(let bits)): return .real(Double(bitPattern: bits))
            case (4, .varint(let bits)), (8, .varint(let bits)):
                return .integer(Int64(bitPattern: bits >> 1) ^ -Int64(bitPattern: bits & 1))
            case (5, .varint(let bits)), (6, .varint(let bits)), (7, .varint(let bits)):
                return .integer(Int64(bitPattern: bits))
            case (9, .varint(let bits)): return .integer(bits == 0 ? 0 : 1)
            case (10, _): return .null
            default: break
            }
        }
        return .null
    }

    // MARK: Geometry

    private func geometry(_ bytes: UnsafeRawBufferPointer) throws(ProtocolBufferError) -> Geometry? {
        var reader = ProtocolBufferReader(bytes)
        var lengths: [UInt64] = []
        var vertices = Vertices(hasZ: set.hasZ, hasM: set.hasM, partStarts: [])
        var coordinates: UnsafeRawBufferPointer?
        while let (field, value) = try reader.next() {
            switch (field, value) {
            case (2, .bytes(let packed)):
                var numbers = ProtocolBufferReader(packed)
                while !numbers.isAtEnd { lengths.append(try numbers.varint()) }
            case (2, .varint(let length)): lengths.append(length)
            case (3, .bytes(let packed)): coordinates = packed
            default: break
            }
        }
        guard let coordinates, !coordinates.isEmpty else { return nil }
        var numbers = ProtocolBufferReader(coordinates)
        for length in lengths.isEmpty ? [1] : lengths {
            // Each vertex takes two bytes at least.
            guard length <= UInt64(coordinates.count) else { throw ProtocolBufferReader.early }
            vertices.partStarts.append(vertices.count)
            try path(Int(length), &numbers, &vertices)
        }
        return shape(vertices)
    }

    private func path(
        _ count: Int, _ numbers: inout ProtocolBufferReader, _ vertices: inout Vertices
    ) throws(ProtocolBufferError) {
        var (column, row) = (Int64(0), Int64(0))
        for _ in 0..<count {
            column &+= try numbers.zigzag()
            row &+= try numbers.zigzag()
            let z = set.hasZ ? Double(try numbers.zigzag()) * scale.z + translate.z : nil
            let m = set.hasM ? measure(try numbers.zigzag()) : nil
            let y = Double(row) * scale.y
            vertices.append(
                x: Double(column) * scale.x + translate.x, y: isUpperLeft ? translate.y - y : translate.y + y, z: z,
                m: m)
        }
    }

    /// Services write the first cell for a vertex without a measure.
    private func measure(_ cell: Int64) -> Double { cell == 0 ? .nan : Double(cell) * scale.m + translate.m }

    private func shape(_ vertices: Vertices) -> Geometry? {
        let reference = set.spatialReference
        guard vertices.count > 0 else { return nil }
        switch set.geometryType {
        case .point?:
            return Point(
                x: vertices.x(0), y: vertices.y(0), z: vertices.z(0), m: vertices.m(0), spatialReference: reference)
        case .multipoint?:
            return Multipoint(
                vertices: Vertices(coordinates: vertices.coordinates, hasZ: vertices.hasZ, hasM: vertices.hasM),
                spatialReference: reference)
        case .polyline?: return Polyline(vertices: vertices, spatialReference: reference)
        case .polygon?: return Polygon(vertices: vertices.withOpenRings, spatialReference: reference)
        case .envelope?, nil: return nil
        }
    }
}
