/// Reads the wire format of protocol buffers from bytes, field by field, without copies.
struct ProtobufReader {
    enum Failure: Error { case malformed }

    private let bytes: UnsafeRawBufferPointer
    private(set) var position: Int
    private let end: Int

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
        position = 0
        end = bytes.count
    }

    var isAtEnd: Bool { position >= end }

    @inline(__always)
    mutating func varint() throws -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while position < end, shift < 64 {
            let byte = bytes[position]
            position += 1
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return value }
            shift += 7
        }
        throw Failure.malformed
    }

    @inline(__always)
    mutating func signedVarint() throws -> Int64 {
        let value = try varint()
        return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
    }

    /// The number and the wire type of the next field; nil at the end.
    @inline(__always)
    mutating func field() throws -> (number: Int, type: Int)? {
        guard position < end else { return nil }
        let tag = try varint()
        guard tag >> 3 <= 0x1FFF_FFFF else { throw Failure.malformed }
        return (Int(tag >> 3), Int(tag & 7))
    }

    /// The bytes of a field of wire type 2.
    mutating func block() throws -> UnsafeRawBufferPointer {
        let length = try varint()
        guard length <= UInt64(end - position) else { throw Failure.malformed }
        defer { position += Int(length) }
        return UnsafeRawBufferPointer(rebasing: bytes[position..<(position + Int(length))])
    }

    mutating func skip(_ type: Int) throws {
        switch type {
        case 0: _ = try varint()
        case 1: try advance(8)
        case 2: _ = try block()
        case 5: try advance(4)
        default: throw Failure.malformed
        }
    }

    private mutating func advance(_ count: Int) throws {
        guard end - position >= count else { throw Failure.malformed }
        position += count
    }
}
