/// The kinds of geometry in well-known binary.
package enum WKBKind: UInt32, Sendable {
    case point = 1
    case lineString = 2
    case polygon = 3
    case multiPoint = 4
    case multiLineString = 5
    case multiPolygon = 6
    case geometryCollection = 7

    /// Whether a multi-geometry or collection may hold a part of another kind.
    @usableFromInline
    func admits(_ part: WKBKind) -> Bool {
        switch self {
        case .multiPoint: part == .point
        case .multiLineString: part == .lineString
        case .multiPolygon: part == .polygon
        case .geometryCollection: true
        case .point, .lineString, .polygon: false
        }
    }
}

/// Receives the content of a well-known binary in its order. `kind` is that of the whole; each path, ring or lone point
/// is a part.
package protocol WKBVisitor {
    mutating func begin(kind: WKBKind, hasZ: Bool, hasM: Bool)
    /// A polygon of a multipolygon, or the polygon itself: its first part is the shell, the others are holes.
    mutating func beginPolygon()
    mutating func beginPart(count: Int)
    mutating func vertex(x: Double, y: Double, z: Double, m: Double)
}

/// Walks well-known binary (ISO and the extended form with its flags and number) without making objects.
package struct WKBWalker {
    @usableFromInline let bytes: UnsafeRawBufferPointer
    @usableFromInline var position: Int
    @usableFromInline var vertices = 0
    @usableFromInline var parts = 0

    @inlinable
    package init(bytes: UnsafeRawBufferPointer, from position: Int = 0) {
        self.bytes = bytes
        self.position = position
    }

    @usableFromInline
    static func corrupted(_ details: String) -> GeometryError { .corruptedGeometry(details: details) }

    /// Walks one geometry; what stands behind it is left alone.
    @inlinable
    package mutating func walk<Visitor: WKBVisitor>(_ visitor: inout Visitor) throws(GeometryError) {
        let header = try header()
        visitor.begin(kind: header.kind, hasZ: header.hasZ, hasM: header.hasM)
        try content(header, depth: 0, &visitor)
    }

    @usableFromInline
    struct Header {
        @usableFromInline var kind: WKBKind
        @usableFromInline var hasZ: Bool
        @usableFromInline var hasM: Bool
        @usableFromInline var isBigEndian: Bool

        @usableFromInline
        init(kind: WKBKind, hasZ: Bool, hasM: Bool, isBigEndian: Bool) {
            self.kind = kind
            self.hasZ = hasZ
            self.hasM = hasM
            self.isBigEndian = isBigEndian
        }

        /// Bytes a vertex.
        @inlinable var size: Int { 16 + (hasZ ? 8 : 0) + (hasM ? 8 : 0) }
    }

    @usableFromInline
    mutating func header() throws(GeometryError) -> Header {
        guard position < bytes.count else { throw Self.corrupted("The binary ends early.") }
        let order = bytes[position]
        guard order <= 1 else { throw Self.corrupted("Byte order \(order) is unknown.") }
        position += 1
        let isBigEndian = order == 0
        var code = try integer(isBigEndian)
        var hasZ = code & 0x8000_0000 != 0
        var hasM = code & 0x4000_0000 != 0
        if code & 0x2000_0000 != 0 { _ = try integer(isBigEndian) }
        code &= 0x1FFF_FFFF
        switch code / 1_000 {
        case 0: break
        case 1: hasZ = true
        case 2: hasM = true
        case 3: (hasZ, hasM) = (true, true)
        default: throw Self.corrupted("Geometry type \(code) is unknown.")
        }
        guard let kind = WKBKind(rawValue: code % 1_000) else {
            throw Self.corrupted("Geometry type \(code) is not supported.")
        }
        return Header(kind: kind, hasZ: hasZ, hasM: hasM, isBigEndian: isBigEndian)
    }

    @inlinable
    mutating func integer(_ isBigEndian: Bool) throws(GeometryError) -> UInt32 {
        guard bytes.count - position >= 4 else { throw Self.corrupted("The binary ends early.") }
        let value = bytes.loadUnaligned(fromByteOffset: position, as: UInt32.self)
        position += 4
        return isBigEndian ? UInt32(bigEndian: value) : UInt32(littleEndian: value)
    }

    /// A count of things that take at least `size` bytes each: no more than the bytes that are left can hold.
    @inlinable
    mutating func count(of size: Int, _ isBigEndian: Bool) throws(GeometryError) -> Int {
        let count = Int(try integer(isBigEndian))
        guard count <= (bytes.count - position) / size else { throw Self.corrupted("A count exceeds the binary.") }
        return count
    }

    @inlinable
    mutating func content<Visitor: WKBVisitor>(
        _ header: Header, depth: Int, _ visitor: inout Visitor
    ) throws(GeometryError) {
        guard depth <= GeometryLimits.nestingMax else { throw Self.corrupted("Collections are nested too deeply.") }
        switch header.kind {
        case .point:
            visitor.beginPart(count: 1)
            try path(1, header, &visitor)
        case .lineString:
            let count = try count(of: header.size, header.isBigEndian)
            visitor.beginPart(count: count)
            try path(count, header, &visitor)
        case .polygon:
            visitor.beginPolygon()
            for _ in 0..<(try count(of: 4, header.isBigEndian)) {
                let count = try count(of: header.size, header.isBigEndian)
                visitor.beginPart(count: count)
                try path(count, header, &visitor)
            }
        case .multiPoint, .multiLineString, .multiPolygon, .geometryCollection:
            for _ in 0..<(try count(of: 5, header.isBigEndian)) {
                let inner = try self.header()
                guard inner.hasZ == header.hasZ, inner.hasM == header.hasM else {
                    throw Self.corrupted("A part has other dimensions than the whole.")
                }
                guard header.kind.admits(inner.kind) else {
                    throw Self.corrupted("A part is of a kind that the whole does not hold.")
                }
                try content(inner, depth: depth + 1, &visitor)
            }
        }
    }

    @inlinable
    mutating func path<Visitor: WKBVisitor>(
        _ count: Int, _ header: Header, _ visitor: inout Visitor
    ) throws(GeometryError) {
        guard bytes.count - position >= count * header.size else { throw Self.corrupted("The binary ends early.") }
        vertices += count
        parts += 1
        guard parts <= GeometryLimits.partsMax || header.kind == .point else {
            throw Self.corrupted("The geometry has too many parts.")
        }
        guard vertices <= GeometryLimits.verticesMax else {
            throw Self.corrupted("The geometry has too many vertices.")
        }
        for _ in 0..<count {
            let x = double(position, header.isBigEndian)
            let y = double(position + 8, header.isBigEndian)
            let z = header.hasZ ? double(position + 16, header.isBigEndian) : .nan
            let m = header.hasM ? double(position + (header.hasZ ? 24 : 16), header.isBigEndian) : .nan
            visitor.vertex(x: x, y: y, z: z, m: m)
            position += header.size
        }
    }

    @inlinable
    func double(_ offset: Int, _ isBigEndian: Bool) -> Double {
        let bits = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
        return Double(bitPattern: isBigEndian ? UInt64(bigEndian: bits) : UInt64(littleEndian: bits))
    }
}

/// Gathers what a walker finds into a geometry.
package struct GeometryCollector: WKBVisitor {
    private var kind = WKBKind.point
    private var vertices = Vertices()
    private var starts: [Int] = []
    private var ringStarts: [(start: Int, isShell: Bool)] = []
    private var nextIsShell = false

    package init() {}

    package mutating func begin(kind: WKBKind, hasZ: Bool, hasM: Bool) {
        self.kind = kind
        vertices = Vertices(hasZ: hasZ, hasM: hasM)
    }

    package mutating func beginPolygon() { nextIsShell = true }

    package mutating func beginPart(count: Int) {
        if starts.last == vertices.count { starts.removeLast() }
        starts.append(vertices.count)
        ringStarts.append((vertices.count, nextIsShell))
        nextIsShell = false
        vertices.coordinates.reserveCapacity(vertices.coordinates.count + count * vertices.stride)
    }

    package mutating func vertex(x: Double, y: Double, z: Double, m: Double) {
        vertices.append(x: x, y: y, z: z, m: m)
    }

    /// The geometry; nil when it is empty.
    package consuming func geometry(spatialReference: SpatialReference?) throws(GeometryError) -> Geometry? {
        guard vertices.count > 0 else { return nil }
        if starts.last == vertices.count { starts.removeLast() }
        switch kind {
        case .point:
            guard !vertices.x(0).isNaN, !vertices.y(0).isNaN else { return nil }
            return vertices.point(0, spatialReference: spatialReference)
        case .multiPoint:
            vertices.partStarts = [0]
            let points = vertices.withoutEmptyPoints
            return points.count == 0 ? nil : Multipoint(vertices: points, spatialReference: spatialReference)
        case .lineString, .multiLineString:
            vertices.partStarts = starts
            return Polyline(vertices: vertices, spatialReference: spatialReference)
        case .polygon, .multiPolygon:
            return Polygon(vertices: RingWinding.wound(vertices, rings: ringStarts), spatialReference: spatialReference)
        case .geometryCollection:
            throw .corruptedGeometry(details: "A geometry collection is not a feature's geometry.")
        }
    }
}

extension Vertices {
    /// Without the positions that are not numbers: so well-known binary writes an empty point of a multipoint.
    fileprivate var withoutEmptyPoints: Vertices {
        guard (0..<count).contains(where: { x($0).isNaN || y($0).isNaN }) else { return self }
        var kept = Vertices(hasZ: hasZ, hasM: hasM)
        for index in 0..<count where !x(index).isNaN && !y(index).isNaN {
            kept.append(x: x(index), y: y(index), z: z(index), m: m(index))
        }
        return kept
    }
}
