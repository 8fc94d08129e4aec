package import Foundation

/// The written form of a UUID in the protocol: upper case in braces, as the vendor's servers give it. Read and written byte by byte,
/// since each row of a table has one.
package enum GUID {
    /// The bytes of an id before which there is a dash.
    private static func followsDash(_ index: Int) -> Bool { index == 4 || index == 6 || index == 8 || index == 10 }

    package static func normalForm(_ id: UUID) -> String {
        withUnsafeBytes(of: id.uuid) { bytes in
            String(unsafeUninitializedCapacity: 38) { text in
                text[0] = UInt8(ascii: "{")
                var place = 1
                for index in 0..<16 {
                    if followsDash(index) {
                        text[place] = UInt8(ascii: "-")
                        place += 1
                    }
                    text[place] = digit(bytes[index] >> 4)
                    text[place + 1] = digit(bytes[index] & 0x0F)
                    place += 2
                }
                text[place] = UInt8(ascii: "}")
                return place + 1
            }
        }
    }

    /// Reads a UUID with or without braces, in any case.
    package static func parse(_ text: String) -> UUID? {
        var text = text
        return text.withUTF8 { parse(bytes: UnsafeRawBufferPointer($0)) }
    }

    /// The same from UTF-8.
    package static func parse(bytes: UnsafeRawBufferPointer) -> UUID? {
        let isBraced = bytes.count == 38 && bytes[0] == UInt8(ascii: "{") && bytes[37] == UInt8(ascii: "}")
        guard isBraced || bytes.count == 36 else { return nil }
        var place = isBraced ? 1 : 0
        var id: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        let isRead = withUnsafeMutableBytes(of: &id) { result in
            // What is no digit sets a bit above those of a digit, looked at once.
            var seen: UInt8 = 0
            for index in 0..<16 {
                if followsDash(index) {
                    guard bytes[place] == UInt8(ascii: "-") else { return false }
                    place += 1
                }
                let (high, low) = (values[Int(bytes[place])], values[Int(bytes[place + 1])])
                seen |= high | low
                result[index] = high << 4 | low & 0x0F
                place += 2
            }
            return seen & 0xF0 == 0
        }
        return isRead ? UUID(uuid: id) : nil
    }

    /// Whether a text has the form of `normalForm`.
    package static func isNormalForm(_ text: String) -> Bool {
        guard text.utf8.count == 38 else { return false }
        var text = text
        return text.withUTF8 { bytes in
            for index in 0..<38 {
                let byte = bytes[index]
                let fits =
                    switch index {
                    case 0: byte == UInt8(ascii: "{")
                    case 37: byte == UInt8(ascii: "}")
                    case 9, 14, 19, 24: byte == UInt8(ascii: "-")
                    default: byte < UInt8(ascii: "a") && value(byte) != nil
                    }
                if !fits { return false }
            }
            return true
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
    }

    /// What each byte is worth as a hexadecimal digit; 0xFF for those that are none.
    private static let values: InlineArray<256, UInt8> = InlineArray { value(UInt8($0)) ?? 0xFF }

    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
