import FieldworkGeometry

/// Writes an answer as `FeatureCollectionPBuffer`. Lengths stand before what they measure, so the answer
/// is held until its end; it is bounded by the query's limit.
package struct PBFFeatureEncoder: FeatureEncoder {
    package var bytes: [UInt8] = []
    private let layout: AnswerLayout
    private let values: [PBFValueKind]
    private let grid: PBFGrid
    private let keepsPoints: Bool
    private let roundsTo: Double?
    private var buffer = VertexBuffer()
    /// The features so far, the one being written, and its coordinates.
    private var features: [UInt8] = []
    private var feature: [UInt8] = []
    private var coordinates: [UInt8] = []
    private var message: [UInt8] = []

    package init(layer: LayerDefinition, query: FeatureQuery) throws(ServiceError) {
        self.init(layout: try AnswerLayout(layer: layer, query: query))
    }

    package init(statistics: StatisticsQuery) { self.init(layout: AnswerLayout(statistics: statistics)) }

    private init(layout: AnswerLayout) {
        self.layout = layout
        values = layout.fields.map { PBFValueKind($0.type) }
        grid = PBFGrid(layout: layout)
        keepsPoints = layout.keepsPoints
        roundsTo = layout.output.precision.map { decimals in
            (0..<min(max(decimals, 0), 15)).reduce(1.0) { power, _ in power * 10 }
        }
    }

    package mutating func begin() {}

    package mutating func beginFeature() { feature.removeAll(keepingCapacity: true) }

    /// A value that is not there is a message without content.
    package mutating func null(column: Int) {
        BytePlace.append(to: &feature, most: 2) { $0.put(0x0A, 0x00) }
    }

    package mutating func integer(_ value: Int64, column: Int) {
        switch values[column] {
        case .unsigned: varint(UInt64(bitPattern: value), field: 5)
        case .signed: varint(ProtobufBytes.zigZag(value), field: 4)
        case .wide: varint(ProtobufBytes.zigZag(value), field: 8)
        case .date: varint(UInt64(bitPattern: value), field: 6)
        case .single, .double, .text: real(Double(value), column: column)
        }
    }

    package mutating func real(_ value: Double, column: Int) {
        if values[column] == .single {
            BytePlace.append(to: &feature, most: 7) { place in
                place.put(0x0A, 0x05)
                place.put(0x15)
                place.put(word: Float(value).bitPattern)
            }
        } else {
            BytePlace.append(to: &feature, most: 11) { place in
                place.put(0x0A, 0x09)
                place.put(0x19)
                place.put(word: value.bitPattern)
            }
        }
    }

    package mutating func text(_ value: UnsafeRawBufferPointer, column: Int) {
        let length = UInt64(value.count)
        BytePlace.append(to: &feature, most: 2 + 2 * BytePlace.longestVarint + value.count) { place in
            place.put(0x0A)
            place.put(varint: length + UInt64(1 + ProtobufBytes.varintLength(length)))
            place.put(tag: 0x0A, bytes: value)
        }
    }

    /// The protocol has no value of bytes: they are written as base64, as in JSON.
    package mutating func data(_ value: UnsafeRawBufferPointer, column: Int) {
        message.removeAll(keepingCapacity: true)
        Base64.append(value, to: &message)
        let quoted = message
        quoted.withUnsafeBytes { text(UnsafeRawBufferPointer(rebasing: $0[1..<($0.count - 1)]), column: column) }
    }

    package mutating func geometry(_ blob: UnsafeRawBufferPointer?) throws {
        guard let blob else { return }
        if keepsPoints, let place = VertexBuffer.plainPoint(blob) { return writePoint(place.x, place.y) }
        guard try buffer.read(blob), buffer.prepare(for: layout, shellsClockwise: true, roundsTo: roundsTo)
        else {
            return
        }
        if !layout.hidesGeometry { writeGeometry() }
        if buffer.centroid != nil || buffer.envelope != nil { writeSummary() }
    }

    /// `geometry` is the member 2 of a feature.
    private mutating func writeGeometry() {
        message.removeAll(keepingCapacity: true)
        coordinates.removeAll(keepingCapacity: true)
        if layout.geometryType == .point {
            writeVertices(0..<1)
        } else {
            writeParts()
        }
        ProtobufBytes.delimited(coordinates, field: 3, to: &message)
        ProtobufBytes.delimited(message, field: 2, to: &feature)
    }

    package mutating func endFeature() {
        let feature = feature
        BytePlace.append(to: &features, most: 1 + BytePlace.longestVarint + feature.count) { place in
            feature.withUnsafeBytes { place.put(tag: 0x7A, bytes: $0) }
        }
    }

    /// The answer's member 2 is the query's result; its member 1 the features, head first.
    package mutating func end(exceededTransferLimit: Bool) {
        let head = PBFHead.bytes(layout, grid, exceededTransferLimit: exceededTransferLimit)
        let features = features
        self.features = []
        let result = UInt64(head.count + features.count)
        let query = 1 + UInt64(ProtobufBytes.varintLength(result)) + result
        BytePlace.append(to: &bytes, most: 2 + 2 * BytePlace.longestVarint + head.count + features.count) { place in
            place.put(0x12)
            place.put(varint: query)
            place.put(0x0A)
            place.put(varint: result)
            place.put(bytes: head)
            place.put(bytes: features)
        }
    }

    private mutating func varint(_ value: UInt64, field: UInt8) {
        BytePlace.append(to: &feature, most: 3 + BytePlace.longestVarint) { place in
            place.put(0x0A, UInt8(1 + ProtobufBytes.varintLength(value)))
            place.put(field << 3)
            place.put(varint: value)
        }
    }

    // MARK: Geometry

    /// `centroid` is the member 4 of a feature, a geometry of one place; `envelope` the member 6, of plain numbers.
    private mutating func writeSummary() {
        if let centroid = buffer.centroid {
            message.removeAll(keepingCapacity: true)
            coordinates.removeAll(keepingCapacity: true)
            ProtobufBytes.varint(ProtobufBytes.zigZag(grid.column(centroid.x)), to: &coordinates)
            ProtobufBytes.varint(ProtobufBytes.zigZag(grid.row(centroid.y)), to: &coordinates)
            ProtobufBytes.delimited(coordinates, field: 3, to: &message)
            ProtobufBytes.delimited(message, field: 4, to: &feature)
        }
        if let envelope = buffer.envelope {
            message.removeAll(keepingCapacity: true)
            for (index, side) in [envelope.xMin, envelope.yMin, envelope.xMax, envelope.yMax].enumerated() {
                ProtobufBytes.double(side, field: UInt64(index + 1), to: &message)
            }
            ProtobufBytes.delimited(message, field: 6, to: &feature)
        }
    }

    /// A geometry of one place: the member 2 of the feature, in it the coordinates as member 3, each a varint.
    private mutating func writePoint(_ x: Double, _ y: Double) {
        let column = ProtobufBytes.zigZag(grid.column(x))
        let row = ProtobufBytes.zigZag(grid.row(y))
        // Two varints are at most 20 bytes: both lengths take one byte.
        let length = UInt8(ProtobufBytes.varintLength(column) + ProtobufBytes.varintLength(row))
        BytePlace.append(to: &feature, most: 4 + 2 * BytePlace.longestVarint) { place in
            place.put(0x12, length + 2)
            place.put(0x1A, length)
            place.put(varint: column)
            place.put(varint: row)
        }
    }

    private mutating func writeParts() {
        var lengths: [UInt8] = []
        if layout.geometryType == .multipoint {
            ProtobufBytes.varint(UInt64(buffer.count), to: &lengths)
            writeVertices(0..<buffer.count)
        } else {
            for index in buffer.starts.indices {
                let part = buffer.part(index)
                ProtobufBytes.varint(UInt64(part.count), to: &lengths)
                writeVertices(part)
            }
        }
        ProtobufBytes.delimited(lengths, field: 2, to: &message)
    }

    /// Cells of the grid: x and y of the first vertex of a part, then steps; z and m always whole.
    private mutating func writeVertices(_ range: Range<Int>) {
        var previous: (column: Int64, row: Int64) = (0, 0)
        for index in range {
            let cell = (column: grid.column(buffer.xs[index]), row: grid.row(buffer.ys[index]))
            ProtobufBytes.varint(ProtobufBytes.zigZag(cell.column &- previous.column), to: &coordinates)
            ProtobufBytes.varint(ProtobufBytes.zigZag(cell.row &- previous.row), to: &coordinates)
            previous = cell
            if layout.hasZ { writeHeight(buffer.hasZ ? buffer.zs[index] : 0) }
            // Without a measure the cell is the first.
            if layout.hasM { writeHeight(buffer.hasM ? buffer.ms[index] : .nan) }
        }
    }

    private mutating func writeHeight(_ value: Double) {
        ProtobufBytes.varint(ProtobufBytes.zigZag(grid.height(value)), to: &coordinates)
    }
}

/// Which member of `Value` carries the values of a field.
enum PBFValueKind: Sendable, Hashable {
    case unsigned, signed, wide, date, single, double, text

    init(_ type: FieldType) {
        switch type {
        case .oid: self = .unsigned
        case .smallInteger, .integer: self = .signed
        case .bigInteger: self = .wide
        case .date: self = .date
        case .single: self = .single
        case .double: self = .double
        default: self = .text
        }
    }
}
