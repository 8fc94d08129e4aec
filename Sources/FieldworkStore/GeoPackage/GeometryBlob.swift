/// Reads what queries and triggers need to know of a GeoPackage geometry without building it: its header, its box, the
/// coordinates of a point. Any bytes may come; what is malformed has no box.
struct GeometryBlob {
    struct Box: Equatable, Sendable {
        var xMin: Double
        var yMin: Double
        var xMax: Double
        var yMax: Double

        static let nothing = Box(xMin: .infinity, yMin: .infinity, xMax: -.infinity, yMax: -.infinity)

        var isNothing: Bool { !(xMin <= xMax && yMin <= yMax) }

        mutating func include(x: Double, y: Double) {
            // Comparisons with NaN are false: an empty point doesn't count.
            if x < xMin { xMin = x }
            if x > xMax { xMax = x }
            if y < yMin { yMin = y }
            if y > yMax { yMax = y }
        }

        mutating func include(_ other: Box) {
            include(x: other.xMin, y: other.yMin)
            include(x: other.xMax, y: other.yMax)
        }

        func intersects(_ other: Box) -> Bool {
            xMin <= other.xMax && xMax >= other.xMin && yMin <= other.yMax && yMax >= other.yMin
        }

        func contains(_ other: Box) -> Bool {
            xMin <= other.xMin && xMax >= other.xMax && yMin <= other.yMin && yMax >= other.yMax
        }
    }

    private let bytes: UnsafeRawBufferPointer
    /// Where the WKB starts.
    private let bodyOffset: Int
    private let envelopeKind: UInt8
    private let isLittleEndian: Bool
    let isMarkedEmpty: Bool
    let srsID: Int32

    /// The geometry itself.
    var body: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: bytes[bodyOffset...]) }

    /// nil when the bytes are not a GeoPackage geometry.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= 8, bytes[0] == 0x47, bytes[1] == 0x50 else { return nil }
        let flags = bytes[3]
        let envelopeKind = (flags >> 1) & 0x07
        let envelopeSize =
            switch envelopeKind {
            case 0: 0;
            case 1: 32;
            case 2, 3: 48;
            default: 64
            }
        guard envelopeKind <= 4 else { return nil }
        bodyOffset = 8 + envelopeSize
        guard bytes.count >= bodyOffset else { return nil }
        self.bytes = bytes
        self.envelopeKind = envelopeKind
        isLittleEndian = flags & 0x01 == 1
        isMarkedEmpty = flags & 0x10 != 0
        let id = bytes.loadUnaligned(fromByteOffset: 4, as: Int32.self)
        srsID = isLittleEndian ? Int32(littleEndian: id) : Int32(bigEndian: id)
    }

    /// The same geometry under another number of its reference system.
    func renumbered(_ srsID: Int32) -> [UInt8] {
        var copy = [UInt8](bytes)
        withUnsafeBytes(of: isLittleEndian ? srsID.littleEndian : srsID.bigEndian) { id in
            for (offset, byte) in id.enumerated() { copy[4 + offset] = byte }
        }
        return copy
    }

    /// The box of the geometry; nil for an empty one.
    var box: Box? {
        if isMarkedEmpty { return nil }
        let box: Box
        if envelopeKind != 0 {
            box = Box(
                xMin: double(at: 8, littleEndian: isLittleEndian), yMin: double(at: 24, littleEndian: isLittleEndian),
                xMax: double(at: 16, littleEndian: isLittleEndian), yMax: double(at: 32, littleEndian: isLittleEndian))
        } else if let point {
            box = Box(xMin: point.x, yMin: point.y, xMax: point.x, yMax: point.y)
        } else {
            guard let scanned = scanned() else { return nil }
            box = scanned.box
        }
        return box.isNothing ? nil : box
    }

    /// The kind of geometry in WKB's numbers (1 point … 7 collection), whatever its dimension.
    var wellKnownType: UInt32? {
        guard bytes.count >= bodyOffset + 5 else { return nil }
        return Self.baseType(integer(at: bodyOffset + 1, littleEndian: bytes[bodyOffset] == 1))
    }

    /// Whether the bytes are well formed and no x or y is NaN or infinite.
    var isFinite: Bool { scanned().map { $0.isFinite } ?? false }

    private struct Scan {
        var box = Box.nothing
        var isFinite = true
    }

    private func scanned() -> Scan? {
        var result = Scan()
        var offset = bodyOffset
        return scan(at: &offset, into: &result, depth: 0) ? result : nil
    }

    /// The coordinates of a point; nil for everything else.
    var point: (x: Double, y: Double)? {
        guard bytes.count >= bodyOffset + 21 else { return nil }
        let littleEndian = bytes[bodyOffset] == 1
        guard Self.baseType(integer(at: bodyOffset + 1, littleEndian: littleEndian)) == 1 else { return nil }
        return (
            double(at: bodyOffset + 5, littleEndian: littleEndian),
            double(at: bodyOffset + 13, littleEndian: littleEndian)
        )
    }

    private func integer(at offset: Int, littleEndian: Bool) -> UInt32 {
        let value = bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
        return littleEndian ? UInt32(littleEndian: value) : UInt32(bigEndian: value)
    }

    private func double(at offset: Int, littleEndian: Bool) -> Double {
        let value = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
        return Double(bitPattern: littleEndian ? UInt64(littleEndian: value) : UInt64(bigEndian: value))
    }

    /// 1 to 17 without the marks of Z and M, in ISO's and PostGIS's spelling.
    private static func baseType(_ type: UInt32) -> UInt32 { (type & 0x0FFF_FFFF) % 1_000 }

    private static func dimension(_ type: UInt32) -> Int {
        let thousands = (type & 0x0FFF_FFFF) / 1_000
        let hasZ = thousands == 1 || thousands == 3 || type & 0x8000_0000 != 0
        let hasM = thousands == 2 || thousands == 3 || type & 0x4000_0000 != 0
        return 2 + (hasZ ? 1 : 0) + (hasM ? 1 : 0)
    }

    /// Adds the vertices of the WKB geometry at `offset` to the result and moves behind it; false when it is malformed.
    private func scan(at offset: inout Int, into result: inout Scan, depth: Int) -> Bool {
        guard depth < 32, offset + 5 <= bytes.count else { return false }
        let littleEndian = bytes[offset] == 1
        let type = integer(at: offset + 1, littleEndian: littleEndian)
        offset += 5
        let stride = Self.dimension(type) * 8
        switch Self.baseType(type) {
        case 1: return scanVertices(1, stride, at: &offset, into: &result, littleEndian)
        case 2, 8: return scanSequence(stride, at: &offset, into: &result, littleEndian)
        case 3:
            guard let rings = count(at: &offset, littleEndian) else { return false }
            for _ in 0..<rings where !scanSequence(stride, at: &offset, into: &result, littleEndian) { return false }
            return true
        case 4...7, 9...12:
            guard let members = count(at: &offset, littleEndian) else { return false }
            for _ in 0..<members where !scan(at: &offset, into: &result, depth: depth + 1) { return false }
            return true
        default: return false
        }
    }

    private func count(at offset: inout Int, _ littleEndian: Bool) -> Int? {
        guard offset + 4 <= bytes.count else { return nil }
        let count = Int(integer(at: offset, littleEndian: littleEndian))
        offset += 4
        // Each member takes at least four bytes: a count beyond that is a lie, not a reason to loop.
        return count <= (bytes.count - offset) / 4 + 1 ? count : nil
    }

    private func scanSequence(_ stride: Int, at offset: inout Int, into result: inout Scan, _ littleEndian: Bool)
        -> Bool
    {
        guard let vertices = count(at: &offset, littleEndian) else { return false }
        return scanVertices(vertices, stride, at: &offset, into: &result, littleEndian)
    }

    private func scanVertices(
        _ vertices: Int, _ stride: Int, at offset: inout Int, into result: inout Scan, _ littleEndian: Bool
    ) -> Bool {
        guard vertices <= (bytes.count - offset) / stride else { return false }
        for _ in 0..<vertices {
            let x = double(at: offset, littleEndian: littleEndian)
            let y = double(at: offset + 8, littleEndian: littleEndian)
            result.box.include(x: x, y: y)
            if !(x - x == 0 && y - y == 0) { result.isFinite = false }
            offset += stride
        }
        return true
    }
}
