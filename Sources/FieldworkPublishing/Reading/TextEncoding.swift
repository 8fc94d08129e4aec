package import Foundation

/// How the characters of a table are written as bytes.
package enum TextEncoding: String, CaseIterable, Sendable {
    case utf8 = "utf-8"
    case windows1252 = "windows-1252"
    case latin1 = "latin1"
    case utf16LittleEndian = "utf-16le"
    case utf16BigEndian = "utf-16be"

    /// What a file says of itself by its first bytes; nil where it says nothing.
    package static func marked(by start: Data) -> TextEncoding? {
        let bytes = Array(start.prefix(4))
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { return .utf8 }
        if bytes.starts(with: [0xFF, 0xFE]) { return .utf16LittleEndian }
        if bytes.starts(with: [0xFE, 0xFF]) { return .utf16BigEndian }
        guard bytes.count == 4 else { return nil }
        // Spreadsheets leave the mark out at times; a table begins with a letter or a quote.
        if bytes[0] != 0, bytes[1] == 0, bytes[3] == 0 { return .utf16LittleEndian }
        if bytes[0] == 0, bytes[1] != 0, bytes[2] == 0 { return .utf16BigEndian }
        return nil
    }

    /// The characters that windows-1252 has where Latin-1 has control characters.
    private static let windowsCharacters: [UInt16] = [
        0x20AC, 0x81, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8D,
        0x017D, 0x8F, 0x90, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A,
        0x0153, 0x9D, 0x017E, 0x0178,
    ]

    fileprivate func scalar(_ byte: UInt8) -> UInt16 {
        guard self == .windows1252, (0x80...0x9F).contains(byte) else { return UInt16(byte) }
        return Self.windowsCharacters[Int(byte - 0x80)]
    }
}

/// Makes UTF-8 of a text in another encoding, piece by piece.
package struct TextTranscoder {
    package let encoding: TextEncoding
    /// The first byte of a unit whose second one comes with the next piece.
    private var half: UInt8?
    /// The first unit of a pair.
    private var lead: UInt16?

    package init(_ encoding: TextEncoding) { self.encoding = encoding }

    package mutating func utf8(_ piece: Data) -> Data {
        switch encoding {
        case .utf8: return piece
        case .windows1252, .latin1:
            var result = Data(capacity: piece.count + piece.count / 8)
            for byte in piece {
                if byte < 0x80 { result.append(byte) } else { Self.append(UInt32(encoding.scalar(byte)), to: &result) }
            }
            return result
        case .utf16LittleEndian, .utf16BigEndian:
            var result = Data(capacity: piece.count)
            for byte in piece {
                guard let first = half else {
                    half = byte
                    continue
                }
                half = nil
                let (high, low) = encoding == .utf16BigEndian ? (first, byte) : (byte, first)
                take(UInt16(high) << 8 | UInt16(low), &result)
            }
            return result
        }
    }

    private mutating func take(_ unit: UInt16, _ result: inout Data) {
        switch unit {
        case 0xD800...0xDBFF: lead = unit
        case 0xDC00...0xDFFF:
            guard let first = lead else { return Self.append(0xFFFD, to: &result) }
            lead = nil
            Self.append(0x10000 + (UInt32(first) - 0xD800) << 10 + (UInt32(unit) - 0xDC00), to: &result)
        default: Self.append(UInt32(unit), to: &result)
        }
    }

    private static func append(_ scalar: UInt32, to result: inout Data) {
        let character = Unicode.Scalar(scalar) ?? "\u{FFFD}"
        result.append(contentsOf: UTF8.encode(character) ?? UTF8.encodedReplacementCharacter)
    }
}
