/// Reads well-known binary with curves (circular strings, compound curves, curve polygons and their multi-geometries) as lines
/// and polygons: each arc becomes `GeometryLimits.curvePieces` straight pieces.
package struct WKBCurveReader {
    private struct Header {
        var type: UInt32
        var hasZ: Bool
        var hasM: Bool
        var isBigEndian: Bool
    }

    private struct Position {
        var x: Double
        var y: Double
        var z: Double
        var m: Double
    }

    private let bytes: UnsafeRawBufferPointer
    private var position: Int
    private var vertices = 0

    package init(bytes: UnsafeRawBufferPointer, from position: Int = 0) {
        self.bytes = bytes
        self.position = position
    }

    /// The geometry; nil when it is empty.
    package mutating func geometry(spatialReference: SpatialReference?) throws(GeometryError) -> Geometry? {
        let header = try header()
        var collector = GeometryCollector()
        switch header.type {
        case 2, 8, 9, 13, 5, 11:
            collector.begin(kind: .multiLineString, hasZ: header.hasZ, hasM: header.hasM)
        case 3, 10, 14, 6, 12:
            collector.begin(kind: .multiPolygon, hasZ: header.hasZ, hasM: header.hasM)
        default: throw WKBWalker.corrupted("Geometry type \(header.type) is no curve.")
        }
        try content(header, &collector)
        return try collector.geometry(spatialReference: spatialReference)
    }

    private mutating func content(_ header: Header, _ collector: inout GeometryCollector) throws(GeometryError) {
        switch header.type {
        case 2, 8, 9: add(try path(header, depth: 0), to: &collector)
        case 3:
            collector.beginPolygon()
            for _ in 0..<(try count(of: 4, header)) { add(try positions(header), to: &collector) }
        case 10:
            collector.beginPolygon()
            for _ in 0..<(try count(of: 9, header)) { add(try path(try self.header(), depth: 0), to: &collector) }
        case 5, 11, 6, 12:
            for _ in 0..<(try count(of: 9, header)) {
                let inner = try self.header()
                let isSurface = [3, 10].contains(inner.type)
                guard isSurface == [6, 12].contains(header.type), isSurface || [2, 8, 9].contains(inner.type) else {
                    throw WKBWalker.corrupted("A part is of a kind that the whole does not hold.")
                }
                try content(inner, &collector)
            }
        default: throw WKBWalker.corrupted("Geometry type \(header.type) is not supported.")
        }
    }

    private func add(_ path: [Position], to collector: inout GeometryCollector) {
        collector.beginPart(count: path.count)
        for position in path { collector.vertex(x: position.x, y: position.y, z: position.z, m: position.m) }
    }

    // MARK: Paths

    private mutating func path(_ header: Header, depth: Int) throws(GeometryError) -> [Position] {
        switch header.type {
        case 2: return try positions(header)
        case 8: return try straight(positions(header))
        // A compound curve holds no other one.
        case 9 where depth == 0:
            var whole: [Position] = []
            for _ in 0..<(try count(of: 9, header)) {
                let part = try path(try self.header(), depth: 1)
                // Each begins where the one before it ended.
                whole += whole.isEmpty ? part[...] : part.dropFirst()
            }
            return whole
        default: throw WKBWalker.corrupted("Geometry type \(header.type) is no path.")
        }
    }

    /// The arcs of a circular string as straight pieces.
    private mutating func straight(_ corners: [Position]) throws(GeometryError) -> [Position] {
        guard corners.count > 2 else { return corners }
        vertices += corners.count / 2 * GeometryLimits.curvePieces
        guard vertices <= GeometryLimits.verticesMax else {
            throw WKBWalker.corrupted("The geometry has too many vertices.")
        }
        var path = [corners[0]]
        for index in stride(from: 2, to: corners.count, by: 2) {
            let (start, middle, end) = (corners[index - 2], corners[index - 1], corners[index])
            let arc = CurvePoints.circular((start.x, start.y), through: (middle.x, middle.y), (end.x, end.y))
            for (step, place) in arc.enumerated() {
                let part = Double(step + 1) / Double(arc.count)
                path.append(
                    Position(
                        x: place.x, y: place.y, z: start.z + (end.z - start.z) * part,
                        m: start.m + (end.m - start.m) * part))
            }
        }
        return path
    }

    private mutating func positions(_ header: Header) throws(GeometryError) -> [Position] {
        let size = 16 + (header.hasZ ? 8 : 0) + (header.hasM ? 8 : 0)
        let count = try count(of: size, header)
        vertices += count
        guard vertices <= GeometryLimits.verticesMax else {
            throw WKBWalker.corrupted("The geometry has too many vertices.")
        }
        var positions: [Position] = []
        positions.reserveCapacity(count)
        for _ in 0..<count {
            positions.append(
                Position(
                    x: double(0, header), y: double(8, header), z: header.hasZ ? double(16, header) : .nan,
                    m: header.hasM ? double(header.hasZ ? 24 : 16, header) : .nan))
            position += size
        }
        return positions
    }

    // MARK: Numbers

    private mutating func header() throws(GeometryError) -> Header {
        guard position < bytes.count, bytes[position] <= 1 else { throw WKBWalker.corrupted("The binary ends early.") }
        let isBigEndian = bytes[position] == 0
        position += 1
        var code = try integer(isBigEndian)
        var (hasZ, hasM) = (code & 0x8000_0000 != 0, code & 0x4000_0000 != 0)
        if code & 0x2000_0000 != 0 { _ = try integer(isBigEndian) }
        code &= 0x1FFF_FFFF
        hasZ = hasZ || [1, 3].contains(code / 1_000)
        hasM = hasM || [2, 3].contains(code / 1_000)
        return Header(type: code % 1_000, hasZ: hasZ, hasM: hasM, isBigEndian: isBigEndian)
    }

    private mutating func integer(_ isBigEndian: Bool) throws(GeometryError) -> UInt32 {
        guard bytes.count - position >= 4 else { throw WKBWalker.corrupted("The binary ends early.") }
        let value = bytes.loadUnaligned(fromByteOffset: position, as: UInt32.self)
        position += 4
        return isBigEndian ? UInt32(bigEndian: value) : UInt32(littleEndian: value)
    }

    private mutating func count(of size: Int, _ header: Header) throws(GeometryError) -> Int {
        let count = Int(try integer(header.isBigEndian))
        guard count <= (bytes.count - position) / size else { throw WKBWalker.corrupted("A count exceeds the binary.") }
        return count
    }

    private func double(_ offset: Int, _ header: Header) -> Double {
        let bits = bytes.loadUnaligned(fromByteOffset: position + offset, as: UInt64.self)
        return Double(bitPattern: header.isBigEndian ? UInt64(bigEndian: bits) : UInt64(littleEndian: bits))
    }
}
