/// Why bytes are not a protocol buffer of the protocol.
package struct ProtocolBufferError: Error, Sendable, Hashable {
    package var message: String
}

/// Reads the wire format of protocol buffers, field by field, without copying.
package struct ProtocolBufferReader {
    private let bytes: UnsafeRawBufferPointer
    private var position = 0

    package init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    package enum Value {
        case varint(UInt64)
        case fixed64(UInt64)
        case fixed32(UInt32)
        case bytes(UnsafeRawBufferPointer)
    }

    package var isAtEnd: Bool { position >= bytes.count }

    /// The next field; nil at the end.
    package mutating func next() throws(ProtocolBufferError) -> (field: UInt64, value: Value)? {
        guard position < bytes.count else { return nil }
        let tag = try varint()
        switch tag & 7 {
        case 0: return (tag >> 3, .varint(try varint()))
        case 1: return (tag >> 3, .fixed64(UInt64(littleEndian: try load(UInt64.self))))
        case 2:
            let count = try varint()
            guard count <= UInt64(bytes.count - position) else { throw Self.early }
            defer { position += Int(count) }
            return (tag >> 3, .bytes(UnsafeRawBufferPointer(rebasing: bytes[position..<position + Int(count)])))
        case 5: return (tag >> 3, .fixed32(UInt32(littleEndian: try load(UInt32.self))))
        default: throw ProtocolBufferError(message: "The wire type \(tag & 7) is unknown.")
        }
    }

    static let early = ProtocolBufferError(message: "The message ends early.")

    package mutating func varint() throws(ProtocolBufferError) -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return value }
            shift += 7
            guard shift < 64 else { throw ProtocolBufferError(message: "A number is too long.") }
        }
        throw Self.early
    }

    package mutating func zigzag() throws(ProtocolBufferError) -> Int64 {
        let value = try varint()
        return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
    }

    private mutating func load<Number: FixedWidthInteger>(_ type: Number.Type) throws(ProtocolBufferError) -> Number {
        guard bytes.count - position >= MemoryLayout<Number>.size else { throw Self.early }
        defer { position += MemoryLayout<Number>.size }
        return bytes.loadUnaligned(fromByteOffset: position, as: type)
    }
}
