extension Lexer {
    /// A text from its first delimiter.
    mutating func text(delimiter: UInt8) -> Token.Kind {
        let start = at
        at += 1
        var text: [UInt8] = []
        while let first = byte() {
            switch first {
            case delimiter:
                at += 1
                return .text(String(decoding: text, as: UTF8.self))
            case UInt8(ascii: "\\"): escape(into: &text)
            case 0x0A, 0x0D:
                report(
                    "The text that begins here does not end in its line: add \(Character(Unicode.Scalar(delimiter))).",
                    at: start)
                return .text(String(decoding: text, as: UTF8.self))
            default:
                text.append(first)
                at += 1
            }
        }
        report("The text that begins here has no end: add \(Character(Unicode.Scalar(delimiter))).", at: start)
        return .text(String(decoding: text, as: UTF8.self))
    }

    /// What a backslash and the characters behind it stand for. A pair that means nothing stands for its second.
    mutating func escape(into text: inout [UInt8]) {
        at += 1
        guard let first = byte() else { return }
        switch first {
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"):
            if let scalar = unicodeEscape() {
                text.append(contentsOf: String(scalar).utf8)
                return
            }
            text.append(first)
        default:
            text.append(first)
        }
        at += 1
    }

    /// `uXXXX`, and a second one when the first is the beginning of a pair.
    private mutating func unicodeEscape() -> Unicode.Scalar? {
        func unit(_ offset: Int) -> UInt32? {
            guard offset + 5 <= bytes.count, bytes[offset] == UInt8(ascii: "u") else { return nil }
            let digits = bytes[offset + 1..<offset + 5]
            guard digits.allSatisfy({ $0 < 0x80 && Character(Unicode.Scalar($0)).isHexDigit }) else { return nil }
            return UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
        }
        guard let high = unit(at) else { return nil }
        if (0xD800..<0xDC00).contains(high), at + 5 < bytes.count, bytes[at + 5] == UInt8(ascii: "\\"),
            let low = unit(at + 6), (0xDC00..<0xE000).contains(low)
        {
            at += 11
            return Unicode.Scalar(0x10000 + (high - 0xD800) << 10 + (low - 0xDC00))
        }
        at += 5
        // Half of a pair is no character.
        return Unicode.Scalar(high) ?? "\u{FFFD}"
    }
}
