/// Writes numbers in as few bytes as they need: seven bits a byte, the lowest first (LEB128). Signed ones have their sign in the
/// lowest bit, so that small negative numbers are short as well.
struct PackedWriter {
    private(set) var bytes: [UInt8] = []

    mutating func append(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(rest & 0x7F) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    mutating func append(signed value: Int64) { append(UInt64(bitPattern: value << 1 ^ value >> 63)) }

    mutating func append(text: String) {
        append(UInt64(text.utf8.count))
        bytes.append(contentsOf: text.utf8)
    }
}

/// Reads what `PackedWriter` wrote. What is cut off or malformed ends the reading.
struct PackedReader {
    private let bytes: UnsafeRawBufferPointer
    private var position = 0

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    var isAtEnd: Bool { position >= bytes.count }

    mutating func number() -> UInt64? {
        var (value, shift): (UInt64, UInt64) = (0, 0)
        while position < bytes.count, shift < 64 {
            let byte = bytes[position]
            position += 1
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return value }
            shift += 7
        }
        return nil
    }

    mutating func signed() -> Int64? {
        number().map { Int64(bitPattern: $0 >> 1) ^ -Int64(bitPattern: $0 & 1) }
    }

    mutating func text() -> String? {
        guard let count = number(), count <= UInt64(bytes.count - position) else { return nil }
        defer { position += Int(count) }
        return String(decoding: bytes[position..<(position + Int(count))], as: UTF8.self)
    }
}

/// Coordinates as whole numbers: degrees times ten million, about a centimetre.
enum PackedDegrees {
    static let unitsPerDegree = 1e7

    static func units(_ degrees: Double) -> Int64 { Int64((max(-360, min(360, degrees)) * unitsPerDegree).rounded()) }
    static func degrees(_ units: Int64) -> Double { Double(units) / unitsPerDegree }
}

/// A walk over places, each told by its difference to the one before.
struct PackedPath {
    private var x: Int64 = 0
    private var y: Int64 = 0

    mutating func append(_ x: Double, _ y: Double, to writer: inout PackedWriter) {
        let (newX, newY) = (PackedDegrees.units(x), PackedDegrees.units(y))
        writer.append(signed: newX &- self.x)
        writer.append(signed: newY &- self.y)
        (self.x, self.y) = (newX, newY)
    }

    mutating func next(_ reader: inout PackedReader) -> (x: Double, y: Double)? {
        guard let dx = reader.signed(), let dy = reader.signed() else { return nil }
        (x, y) = (x &+ dx, y &+ dy)
        return (PackedDegrees.degrees(x), PackedDegrees.degrees(y))
    }

    /// Rings of an area.
    static func bytes(of rings: [[Double]]) -> [UInt8] {
        var (writer, path) = (PackedWriter(), PackedPath())
        for ring in rings {
            writer.append(UInt64(ring.count / 2))
            for index in stride(from: 0, to: ring.count - 1, by: 2) {
                path.append(ring[index], ring[index + 1], to: &writer)
            }
        }
        return writer.bytes
    }

    static func rings(_ bytes: UnsafeRawBufferPointer) -> [[Double]] {
        var (reader, path, rings) = (PackedReader(bytes), PackedPath(), [[Double]]())
        while !reader.isAtEnd, let count = reader.number() {
            var ring: [Double] = []
            for _ in 0..<min(count, UInt64(bytes.count)) {
                guard let place = path.next(&reader) else { return rings }
                ring += [place.x, place.y]
            }
            rings.append(ring)
        }
        return rings
    }
}
