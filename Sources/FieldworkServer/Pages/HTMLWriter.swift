/// Writes a page. Mark-up is literal text of the program (`StaticString`); everything else is escaped: there is no way
/// to put a value into a page unescaped.
struct HTMLWriter {
    private(set) var bytes: [UInt8] = []

    mutating func markup(_ literal: StaticString) {
        literal.withUTF8Buffer { bytes.append(contentsOf: $0) }
    }

    /// A value, as the text of an element or inside the quotes of an attribute.
    mutating func text(_ value: String) {
        for byte in value.utf8 {
            switch byte {
            case 0x26: bytes.append(contentsOf: "&amp;".utf8)
            case 0x3C: bytes.append(contentsOf: "&lt;".utf8)
            case 0x3E: bytes.append(contentsOf: "&gt;".utf8)
            case 0x22: bytes.append(contentsOf: "&quot;".utf8)
            case 0x27: bytes.append(contentsOf: "&#39;".utf8)
            default: bytes.append(byte)
            }
        }
    }

    mutating func element(_ open: StaticString, _ value: String, _ close: StaticString) {
        markup(open)
        text(value)
        markup(close)
    }

    /// A link to a path of this server, given by its segments.
    mutating func link(to segments: [String], _ value: String) {
        markup("<a href=\"")
        path(segments)
        markup("\">")
        text(value)
        markup("</a>")
    }

    /// The address of a path of this server, for an attribute.
    mutating func path(_ segments: [String]) {
        for segment in segments {
            bytes.append(0x2F)
            for byte in segment.utf8 { percentEncoded(byte) }
        }
    }

    /// What follows the path of an address, for an attribute.
    mutating func query(_ fields: [(name: StaticString, value: String)]) {
        for (index, field) in fields.enumerated() {
            markup(index == 0 ? "?" : "&amp;")
            markup(field.name)
            markup("=")
            for byte in field.value.utf8 { percentEncoded(byte) }
        }
    }

    private mutating func percentEncoded(_ byte: UInt8) {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: bytes.append(byte)
        default:
            let digits = Array("0123456789ABCDEF".utf8)
            bytes.append(contentsOf: [0x25, digits[Int(byte >> 4)], digits[Int(byte & 0xF)]])
        }
    }
}
