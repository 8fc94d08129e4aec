/// Well-known text (ISO form): `POINT Z (1 2 3)`, `MULTIPOLYGON (((…)))`, `LINESTRING EMPTY`.
package enum WellKnownText {
    /// Reads one geometry; nil when it is empty. Collections of mixed kinds are not a feature's geometry.
    package static func geometry(
        from text: String, spatialReference: SpatialReference? = nil
    ) throws(GeometryError) -> Geometry? {
        var reader = WellKnownTextReader(bytes: Array(text.utf8))
        return try read(try reader.binary(), spatialReference)
    }

    private static func read(
        _ bytes: [UInt8], _ spatialReference: SpatialReference?
    ) throws(GeometryError) -> Geometry? {
        let result = bytes.withUnsafeBytes { buffer in
            Result { () throws(GeometryError) in
                try WellKnownBinary.geometry(from: buffer, spatialReference: spatialReference)
            }
        }
        return try result.get()
    }

    /// A geometry as text. An envelope is written as its polygon.
    package static func text(of geometry: Geometry) -> String {
        let vertices = geometry.vertices
        let marks = (vertices.hasZ ? "Z" : "") + (vertices.hasM ? "M" : "")
        func tagged(_ kind: String, _ body: String?) -> String {
            kind + (marks.isEmpty ? "" : " " + marks) + " " + (body.map { "(\($0))" } ?? "EMPTY")
        }
        func list(_ indices: some Sequence<Int>) -> String {
            indices.map { position(vertices, $0) }.joined(separator: ", ")
        }
        switch geometry {
        case is Point: return tagged("POINT", geometry.isEmpty ? nil : list([0]))
        case is Multipoint:
            let points = (0..<vertices.count).map { "(\(position(vertices, $0)))" }
            return tagged("MULTIPOINT", points.isEmpty ? nil : points.joined(separator: ", "))
        case is Polyline:
            if geometry.isEmpty { return tagged("LINESTRING", nil) }
            let parts = vertices.parts.map { list($0) }
            return parts.count == 1
                ? tagged("LINESTRING", parts[0])
                : tagged("MULTILINESTRING", parts.map { "(\($0))" }.joined(separator: ", "))
        case let polygon as Polygon:
            if geometry.isEmpty { return tagged("POLYGON", nil) }
            let polygons = RingWinding.polygons(of: polygon).map { rings in
                rings.enumerated().map { number, ring in "(\(list(closed(vertices, ring, isShell: number == 0))))" }
                    .joined(separator: ", ")
            }
            return polygons.count == 1
                ? tagged("POLYGON", polygons[0])
                : tagged("MULTIPOLYGON", polygons.map { "(\($0))" }.joined(separator: ", "))
        default: return geometry.isEmpty ? "POLYGON EMPTY" : text(of: geometry.extent.toPolygon())
        }
    }

    /// A ring's vertex numbers, closed, shells counter-clockwise as the standard winds them.
    private static func closed(_ vertices: Vertices, _ ring: Range<Int>, isShell: Bool) -> [Int] {
        let rest = Array(ring.dropFirst())
        let isReversed = (RingWinding.signedArea(vertices, ring) > 0) != isShell
        return [ring.lowerBound] + (isReversed ? rest.reversed() : rest) + [ring.lowerBound]
    }

    private static func position(_ vertices: Vertices, _ index: Int) -> String {
        let stride = vertices.stride
        return vertices.coordinates[index * stride..<(index + 1) * stride].map { number in
            // Whole numbers without a fraction, as every other writer of this text does.
            Int64(exactly: number).flatMap { abs($0) < 1 << 53 ? String($0) : nil } ?? number.description
        }.joined(separator: " ")
    }
}

/// Reads well-known text into well-known binary, so that one reader knows the rules of both.
private struct WellKnownTextReader {
    private let bytes: [UInt8]
    private var position = 0
    private var output: [UInt8] = []
    /// Numbers a position; known from the mark of the kind or from the first position.
    private var size = 0
    private var hasZ = false
    private var hasM = false

    init(bytes: [UInt8]) { self.bytes = bytes }

    mutating func binary() throws(GeometryError) -> [UInt8] {
        try geometry()
        skipSpace()
        guard position == bytes.count else { throw failure("Text stands behind the geometry.") }
        return output
    }

    private func failure(_ text: String) -> GeometryError {
        .corruptedGeometry(details: "\(text) (at byte \(position) of the text)")
    }

    private mutating func skipSpace() {
        while position < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[position]) { position += 1 }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        skipSpace()
        guard position < bytes.count, bytes[position] == byte else { return false }
        position += 1
        return true
    }

    private mutating func word() -> String {
        skipSpace()
        let start = position
        while position < bytes.count, (0x41...0x5A).contains(bytes[position] & 0xDF) { position += 1 }
        return String(decoding: bytes[start..<position], as: UTF8.self).uppercased()
    }

    private mutating func takeEmpty() -> Bool {
        let start = position
        if word() == "EMPTY" { return true }
        position = start
        return false
    }

    private mutating func geometry() throws(GeometryError) {
        var name = word()
        var marks = ""
        for suffix in ["ZM", "Z", "M"] where name.hasSuffix(suffix) {
            marks = suffix
            name.removeLast(suffix.count)
            break
        }
        let kinds: [String: WKBKind] = [
            "POINT": .point, "LINESTRING": .lineString, "LINEARRING": .lineString, "POLYGON": .polygon,
            "MULTIPOINT": .multiPoint, "MULTILINESTRING": .multiLineString, "MULTIPOLYGON": .multiPolygon,
        ]
        guard let kind = kinds[name] else { throw failure("\(name.prefix(40)) is not a kind of geometry.") }
        if marks.isEmpty {
            let start = position
            marks = word()
            if !["Z", "M", "ZM"].contains(marks) {
                position = start
                marks = ""
            }
        }
        hasZ = marks.contains("Z")
        hasM = marks.contains("M")
        size = marks.isEmpty ? 0 : 2 + marks.count
        if size == 0 { guessSize() }
        try body(kind)
    }

    /// Without a mark, a third number of the first position is a height and a fourth a measure.
    private mutating func guessSize() {
        let end = bytes[position...].firstIndex { $0 == 0x2C || $0 == 0x29 } ?? bytes.count
        let numbers = bytes[position..<end].split { [0x20, 0x09, 0x0A, 0x0D, 0x28].contains($0) }
        size = min(4, max(2, numbers.count))
        hasZ = size > 2
        hasM = size > 3
    }

    private mutating func header(_ kind: WKBKind) {
        output.append(1)
        integer(kind.rawValue + (hasZ ? 1_000 : 0) + (hasM ? 2_000 : 0))
    }

    private mutating func integer(_ value: UInt32) {
        withUnsafeBytes(of: value.littleEndian) { output.append(contentsOf: $0) }
    }

    private mutating func body(_ kind: WKBKind) throws(GeometryError) {
        header(kind)
        switch kind {
        case .point:
            if takeEmpty() {
                for _ in 0..<size { double(.nan) }
            } else {
                try expect(0x28)
                try numbers()
                try expect(0x29)
            }
        case .lineString: try list { (reader: inout Self) throws(GeometryError) in try reader.numbers() }
        case .polygon:
            try list { (reader: inout Self) throws(GeometryError) in
                try reader.list { (reader: inout Self) throws(GeometryError) in try reader.numbers() }
            }
        case .multiPoint: try list { (reader: inout Self) throws(GeometryError) in try reader.pointOfMany() }
        case .multiLineString: try list { (reader: inout Self) throws(GeometryError) in try reader.body(.lineString) }
        default: try list { (reader: inout Self) throws(GeometryError) in try reader.body(.polygon) }
        }
    }

    /// A point of a multipoint stands in brackets of its own or without.
    private mutating func pointOfMany() throws(GeometryError) {
        skipSpace()
        let isBare = position < bytes.count && bytes[position] != 0x28 && bytes[position] & 0xDF != 0x45
        guard isBare else { return try body(.point) }
        header(.point)
        try numbers()
    }

    private mutating func expect(_ byte: UInt8) throws(GeometryError) {
        guard take(byte) else { throw failure("\(Character(Unicode.Scalar(byte))) is missing.") }
    }

    private mutating func list(_ element: (inout Self) throws(GeometryError) -> Void) throws(GeometryError) {
        let start = output.count
        integer(0)
        if takeEmpty() { return }
        try expect(0x28)
        var count: UInt32 = 0
        repeat {
            try element(&self)
            count += 1
        } while take(0x2C)
        try expect(0x29)
        withUnsafeBytes(of: count.littleEndian) { bytes in
            for (offset, byte) in bytes.enumerated() { output[start + offset] = byte }
        }
    }

    private mutating func numbers() throws(GeometryError) {
        for _ in 0..<size {
            skipSpace()
            let start = position
            while position < bytes.count, ![0x20, 0x09, 0x0A, 0x0D, 0x2C, 0x29].contains(bytes[position]) {
                position += 1
            }
            guard let value = Double(String(decoding: bytes[start..<position], as: UTF8.self)) else {
                throw failure("A number is missing.")
            }
            double(value)
        }
    }

    private mutating func double(_ value: Double) {
        withUnsafeBytes(of: value.bitPattern.littleEndian) { output.append(contentsOf: $0) }
    }
}
