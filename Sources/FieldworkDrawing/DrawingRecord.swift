/// A feature on its way from the encoder, which the store drives, to the painter: which class it is of, what varies, its
/// vertices in pixels of the image and its labels. Records stand one after the other in the encoder's bytes.
struct DrawingRecord: Sendable {
    enum Kind: UInt8 {
        case points, lines, areas
        /// Points of a heat map, with a weight and without a symbol.
        case heat
    }

    struct Label: Sendable, Hashable {
        /// Which of the layer's label classes.
        var number: Int
        var text: String
    }

    var kind = Kind.points
    var symbol = 0
    var variables = VisualVariables.Result()
    /// Times that each point of a heat map counts.
    var weight: Float = 1
    var labels: [Label] = []
    /// x to the right and y downwards, part by part.
    var xs: [Float] = []
    var ys: [Float] = []
    /// The first vertex of each part.
    var starts: [Int] = []

    func part(_ index: Int) -> Range<Int> { starts[index]..<(index + 1 < starts.count ? starts[index + 1] : xs.count) }

    mutating func clear() {
        labels.removeAll(keepingCapacity: true)
        xs.removeAll(keepingCapacity: true)
        ys.removeAll(keepingCapacity: true)
        starts.removeAll(keepingCapacity: true)
    }

    // MARK: Bytes

    func append(to bytes: inout [UInt8]) {
        bytes.append(kind.rawValue)
        if kind == .heat { Self.append(weight, to: &bytes) }
        Self.append(UInt32(truncatingIfNeeded: symbol), to: &bytes)
        bytes.append(variables.isEmpty ? 0 : 1)
        if !variables.isEmpty {
            Self.append(variables.size ?? .nan, to: &bytes)
            Self.append(variables.opacity ?? .nan, to: &bytes)
            Self.append(variables.rotation ?? .nan, to: &bytes)
            bytes.append(variables.color == nil ? 0 : 1)
            let color = variables.color ?? .zero
            bytes += [color.x, color.y, color.z, color.w]
        }
        bytes.append(UInt8(truncatingIfNeeded: labels.count))
        for label in labels {
            bytes.append(UInt8(truncatingIfNeeded: label.number))
            let text = Array(label.text.utf8)
            Self.append(UInt32(truncatingIfNeeded: text.count), to: &bytes)
            bytes += text
        }
        Self.append(UInt32(truncatingIfNeeded: starts.count), to: &bytes)
        for start in starts { Self.append(UInt32(truncatingIfNeeded: start), to: &bytes) }
        Self.append(UInt32(truncatingIfNeeded: xs.count), to: &bytes)
        for index in xs.indices {
            Self.append(xs[index], to: &bytes)
            Self.append(ys[index], to: &bytes)
        }
    }

    @inline(__always)
    private static func append<Value: BitwiseCopyable>(_ value: Value, to bytes: inout [UInt8]) {
        withUnsafeBytes(of: value) { bytes.append(contentsOf: $0) }
    }
}

/// Reads the records of one piece of bytes, into one record whose arrays keep their memory.
struct DrawingRecordReader {
    private let bytes: UnsafeRawBufferPointer
    private var place = 0
    /// Whether there are more features than the records tell.
    private(set) var isCut = false

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    /// - Returns: false at the end.
    mutating func read(_ record: inout DrawingRecord) throws(DrawingError) -> Bool {
        guard place < bytes.count else { return false }
        if bytes[place] == DrawingEncoder.cutMark {
            isCut = true
            place = bytes.count
            return false
        }
        record.clear()
        guard let kind = DrawingRecord.Kind(rawValue: try next()) else { throw .record }
        record.kind = kind
        if kind == .heat { record.weight = try next() }
        record.symbol = Int(try next() as UInt32)
        record.variables = VisualVariables.Result()
        if try next() as UInt8 == 1 { record.variables = try variables() }
        for _ in 0..<Int(try next() as UInt8) {
            let number = Int(try next() as UInt8)
            let count = Int(try next() as UInt32)
            guard count <= bytes.count - place else { throw .record }
            let text = String(decoding: bytes[place..<place + count], as: UTF8.self)
            place += count
            record.labels.append(DrawingRecord.Label(number: number, text: text))
        }
        for _ in 0..<Int(try next() as UInt32) { record.starts.append(Int(try next() as UInt32)) }
        for _ in 0..<Int(try next() as UInt32) {
            record.xs.append(try next())
            record.ys.append(try next())
        }
        return true
    }

    private mutating func variables() throws(DrawingError) -> VisualVariables.Result {
        var result = VisualVariables.Result()
        func known(_ number: Float) -> Float? { number.isNaN ? nil : number }
        result.size = known(try next())
        result.opacity = known(try next())
        result.rotation = known(try next())
        let hasColor = try next() as UInt8 == 1
        let color = SIMD4<UInt8>(try next(), try next(), try next(), try next())
        if hasColor { result.color = color }
        return result
    }

    @inline(__always)
    private mutating func next<Value: BitwiseCopyable>() throws(DrawingError) -> Value {
        let size = MemoryLayout<Value>.size
        guard size <= bytes.count - place else { throw .record }
        defer { place += size }
        return bytes.loadUnaligned(fromByteOffset: place, as: Value.self)
    }
}
