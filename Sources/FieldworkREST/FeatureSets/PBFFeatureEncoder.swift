import FieldworkGeometry

/// Writes an answer as the protocol's protocol buffer (rest-api §12.6). Lengths stand before the contents they measure,
/// so the answer is gathered and handed over at the end; the service's record count bounds it.
package struct PBFFeatureEncoder: FeatureEncoder {
    private typealias Wire = ProtocolBufferWriter

    package var bytes: [UInt8] = []
    private let layout: AnswerLayout
    private let pipeline: VertexPipeline
    private let transform: PBFTransform
    private let kinds: [FieldType]
    private var buffer = VertexBuffer()
    private var features: [UInt8] = []
    private var feature: [UInt8] = []
    private var coordinates: [UInt8] = []

    package init(layer: LayerDefinition, query: FeatureQuery) throws(ServiceError) {
        layout = try AnswerLayout(layer: layer, query: query)
        pipeline = VertexPipeline(layout: layout)
        transform = PBFTransform(
            quantization: query.output.quantization, isGeographic: layout.spatialReference?.isGeographic ?? false)
        kinds = layout.fields.map(\.type)
    }

    package mutating func begin() {}

    package mutating func beginFeature() { feature.removeAll(keepingCapacity: true) }

    /// A null is a value without content.
    package mutating func null(column: Int) { feature.append(contentsOf: [0x0A, 0]) }

    package mutating func integer(_ value: Int64, column: Int) {
        switch kinds[column] {
        case .oid: number(field: 5, UInt64(bitPattern: value))
        // sint32: zig-zag, so that small negative numbers stay short.
        case .smallInteger, .integer: number(field: 4, UInt64(bitPattern: value << 1 ^ value >> 63))
        case .date: number(field: 6, UInt64(bitPattern: value))
        case .single, .double: real(Double(value), column: column)
        default: number(field: 6, UInt64(bitPattern: value))
        }
    }

    private mutating func number(field: UInt8, _ value: UInt64) {
        feature.append(contentsOf: [0x0A, UInt8(1 + Wire.length(of: value)), field << 3])
        Wire.varint(value, to: &feature)
    }

    package mutating func real(_ value: Double, column: Int) {
        if kinds[column] == .single {
            feature.append(contentsOf: [0x0A, 5, 2 << 3 | 5])
            withUnsafeBytes(of: Float(value).bitPattern.littleEndian) { feature.append(contentsOf: $0) }
        } else {
            feature.append(contentsOf: [0x0A, 9, 3 << 3 | 1])
            withUnsafeBytes(of: value.bitPattern.littleEndian) { feature.append(contentsOf: $0) }
        }
    }

    package mutating func text(_ value: UnsafeRawBufferPointer, column: Int) {
        let count = UInt64(value.count)
        feature.append(0x0A)
        Wire.varint(1 + UInt64(Wire.length(of: count)) + count, to: &feature)
        feature.append(1 << 3 | 2)
        Wire.varint(count, to: &feature)
        feature.append(contentsOf: value)
    }

    package mutating func data(_ value: UnsafeRawBufferPointer, column: Int) {
        var encoded: [UInt8] = []
        Base64.append(value, to: &encoded)
        // The text without the quotes that JSON needs.
        encoded.withUnsafeBytes { text(UnsafeRawBufferPointer(rebasing: $0[1..<$0.count - 1]), column: column) }
    }

    package mutating func geometry(_ blob: UnsafeRawBufferPointer?) throws {
        guard let blob, try pipeline.fill(&buffer, from: blob) else { return }
        var lengths: [UInt8] = []
        coordinates.removeAll(keepingCapacity: true)
        if layout.geometryType == .point {
            vertex(0, previous: nil)
        } else {
            // The points of a multipoint are one part.
            let parts = layout.geometryType == .multipoint ? [0..<buffer.count] : buffer.starts.indices.map(buffer.part)
            for part in parts { Wire.varint(UInt64(path(part)), to: &lengths) }
        }
        var message: [UInt8] = []
        if !lengths.isEmpty { Wire.message(2, lengths, to: &message) }
        Wire.message(3, coordinates, to: &message)
        Wire.message(2, message, to: &feature)
    }

    /// Writes one part and gives the number of its vertices. In view mode steps that go nowhere are left out.
    private mutating func path(_ range: Range<Int>) -> Int {
        var previous: (column: Int64, row: Int64)?
        var count = 0
        for index in range {
            let cell = transform.cell(buffer.xs[index], buffer.ys[index])
            if transform.isViewMode, let previous, previous == cell { continue }
            vertex(index, previous: previous)
            previous = cell
            count += 1
        }
        return count
    }

    private mutating func vertex(_ index: Int, previous: (column: Int64, row: Int64)?) {
        let cell = transform.cell(buffer.xs[index], buffer.ys[index])
        Wire.zigzag(cell.column - (previous?.column ?? 0), to: &coordinates)
        Wire.zigzag(cell.row - (previous?.row ?? 0), to: &coordinates)
        if layout.hasZ {
            Wire.zigzag(PBFTransform.height(buffer.hasZ ? buffer.zs[index] : 0), to: &coordinates)
        }
        if layout.hasM {
            Wire.zigzag(PBFTransform.height(buffer.hasM ? buffer.ms[index] : 0), to: &coordinates)
        }
    }

    package mutating func endFeature() { Wire.message(15, feature, to: &features) }

    package mutating func end(exceededTransferLimit: Bool) {
        var head: [UInt8] = []
        Wire.string(1, layout.objectIDField, to: &head)
        var unique: [UInt8] = []
        Wire.string(1, layout.objectIDField, to: &unique)
        Wire.integer(2, 1, to: &unique)
        Wire.message(2, unique, to: &head)
        if let globalIDField = layout.globalIDField { Wire.string(3, globalIDField, to: &head) }
        if let type = layout.geometryType {
            let code = PBFCodes.code(of: type)
            if code > 0 { Wire.integer(7, code, to: &head) }
            if let reference = layout.spatialReference {
                Wire.message(8, PBFCodes.message(of: reference), to: &head)
            }
        } else {
            Wire.integer(7, 127, to: &head)
        }
        if exceededTransferLimit { Wire.integer(9, 1, to: &head) }
        if layout.geometryType != nil {
            if layout.hasZ { Wire.integer(10, 1, to: &head) }
            if layout.hasM { Wire.integer(11, 1, to: &head) }
            Wire.message(12, transform.message(hasZ: layout.hasZ, hasM: layout.hasM), to: &head)
        }
        for field in layout.fields { Wire.message(13, PBFCodes.message(of: field), to: &head) }

        // The answer: collection { queryResult { featureResult { head, features } } }.
        let resultCount = UInt64(head.count + features.count)
        let queryCount = 1 + UInt64(Wire.length(of: resultCount)) + resultCount
        bytes.reserveCapacity(Int(queryCount) + 16)
        Wire.tag(2, .bytes, to: &bytes)
        Wire.varint(queryCount, to: &bytes)
        Wire.tag(1, .bytes, to: &bytes)
        Wire.varint(resultCount, to: &bytes)
        bytes.append(contentsOf: head)
        bytes.append(contentsOf: features)
    }
}

/// The grid of an answer: the one that was asked for, else one fine enough for every stored coordinate.
struct PBFTransform: Sendable {
    let scale: Double
    let originX: Double
    let originY: Double
    let isUpperLeft: Bool
    let isViewMode: Bool

    init(quantization: Quantization?, isGeographic: Bool) {
        if let quantization {
            (scale, originX, originY) = (quantization.tolerance, quantization.originX, quantization.originY)
            (isUpperLeft, isViewMode) = (quantization.isUpperLeftOrigin, quantization.isViewMode)
        } else {
            (scale, originX, originY) = isGeographic ? (1e-9, -400, -400) : (1e-4, -20_037_700, -30_241_100)
            (isUpperLeft, isViewMode) = (true, false)
        }
    }

    func cell(_ x: Double, _ y: Double) -> (column: Int64, row: Int64) {
        (
            QuantizationGrid.cell((x - originX) / scale),
            QuantizationGrid.cell((isUpperLeft ? originY - y : y - originY) / scale)
        )
    }

    /// Heights and measures have a grid of their own: a tenth of a millimetre from -100,000.
    static let heightScale = 1e-4
    static let heightOrigin = -100_000.0

    static func height(_ value: Double) -> Int64 { QuantizationGrid.cell((value - heightOrigin) / heightScale) }

    func message(hasZ: Bool, hasM: Bool) -> [UInt8] {
        func numbers(_ x: Double, _ y: Double, _ other: Double) -> [UInt8] {
            var bytes: [UInt8] = []
            ProtocolBufferWriter.double(1, x, to: &bytes)
            ProtocolBufferWriter.double(2, y, to: &bytes)
            // The measure comes before the height here, other than in the coordinates.
            if hasM { ProtocolBufferWriter.double(3, other, to: &bytes) }
            if hasZ { ProtocolBufferWriter.double(4, other, to: &bytes) }
            return bytes
        }
        var bytes: [UInt8] = []
        if !isUpperLeft { ProtocolBufferWriter.integer(1, 1, to: &bytes) }
        ProtocolBufferWriter.message(2, numbers(scale, scale, Self.heightScale), to: &bytes)
        ProtocolBufferWriter.message(3, numbers(originX, originY, Self.heightOrigin), to: &bytes)
        return bytes
    }
}
