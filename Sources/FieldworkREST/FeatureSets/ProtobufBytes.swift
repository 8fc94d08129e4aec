/// Writes protocol buffers by hand: the few forms that the protocol's answers need.
package enum ProtobufBytes {
    package enum WireType: UInt64 {
        case varint = 0
        case fixed64 = 1
        case lengthDelimited = 2
        case fixed32 = 5
    }

    @inline(__always)
    package static func varint(_ value: UInt64, to bytes: inout [UInt8]) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    /// Small magnitudes of either sign become small numbers.
    @inlinable @inline(__always)
    package static func zigZag(_ value: Int64) -> UInt64 { UInt64(bitPattern: value << 1 ^ value >> 63) }

    /// How many bytes a varint takes.
    @inlinable @inline(__always)
    package static func varintLength(_ value: UInt64) -> Int { max(1, (70 - value.leadingZeroBitCount) / 7) }

    @inline(__always)
    package static func tag(_ field: UInt64, _ type: WireType, to bytes: inout [UInt8]) {
        varint(field << 3 | type.rawValue, to: &bytes)
    }

    package static func integer(_ value: UInt64, field: UInt64, to bytes: inout [UInt8]) {
        tag(field, .varint, to: &bytes)
        varint(value, to: &bytes)
    }

    package static func bool(_ value: Bool, field: UInt64, to bytes: inout [UInt8]) {
        if value { integer(1, field: field, to: &bytes) }
    }

    package static func double(_ value: Double, field: UInt64, to bytes: inout [UInt8]) {
        tag(field, .fixed64, to: &bytes)
        withUnsafeBytes(of: value.bitPattern.littleEndian) { bytes.append(contentsOf: $0) }
    }

    package static func float(_ value: Float, field: UInt64, to bytes: inout [UInt8]) {
        tag(field, .fixed32, to: &bytes)
        withUnsafeBytes(of: value.bitPattern.littleEndian) { bytes.append(contentsOf: $0) }
    }

    /// Text, a message or a packed list.
    package static func delimited(_ content: some Collection<UInt8>, field: UInt64, to bytes: inout [UInt8]) {
        tag(field, .lengthDelimited, to: &bytes)
        varint(UInt64(content.count), to: &bytes)
        bytes.append(contentsOf: content)
    }

    /// The same of bytes that lie in one piece: other modules get the general form unspecialised.
    package static func delimited(_ content: [UInt8], field: UInt64, to bytes: inout [UInt8]) {
        content.withUnsafeBufferPointer { delimited($0, field: field, to: &bytes) }
    }

    /// The same of text.
    package static func delimited(_ text: String, field: UInt64, to bytes: inout [UInt8]) {
        var text = text
        text.withUTF8 { delimited($0, field: field, to: &bytes) }
    }

    private static func delimited(_ content: UnsafeBufferPointer<UInt8>, field: UInt64, to bytes: inout [UInt8]) {
        tag(field, .lengthDelimited, to: &bytes)
        varint(UInt64(content.count), to: &bytes)
        bytes.append(contentsOf: content)
    }
}
