import Foundation

/// Functions about the codes of characters, GUIDs and addresses.
enum TextCodeFunctions {
    static let all: [Builtin] = [
        .many("FromCharCode", 1...Builtin.any) { machine, codes in
            try machine.text(
                String(decoding: try codes.map { UInt16(truncatingIfNeeded: try whole($0)) }, as: UTF16.self))
        },
        .many("FromCodePoint", 1...Builtin.any) { machine, codes in
            var text = ""
            for code in codes {
                guard let number = UInt32(exactly: try whole(code)), number < 0x110000 else {
                    throw ArcadeError.runtime("\(try Coercion.text(code, machine)) is not the code of a character.")
                }
                text.unicodeScalars.append(Unicode.Scalar(number) ?? "\u{FFFD}")
            }
            return try machine.text(text)
        },
        .two("ToCharCode", optional: true) { machine, value, index in
            guard let (units, place) = try unit(machine, value, index) else { return .null }
            return .number(Double(units[place]))
        },
        .two("ToCodePoint", optional: true) { machine, value, index in
            guard let (units, place) = try unit(machine, value, index) else { return .null }
            let first = UInt32(units[place])
            if (0xD800..<0xDC00).contains(first), place + 1 < units.count,
                (0xDC00..<0xE000).contains(UInt32(units[place + 1]))
            {
                return .number(Double(0x10000 + (first - 0xD800) << 10 + UInt32(units[place + 1]) - 0xDC00))
            }
            return .number(Double(first))
        },
        .one("ToHex") { machine, value in
            let number = try Coercion.number(value).rounded(.towardZero)
            guard let whole = Int64(exactly: number) else { return .text("NaN") }
            return .text((whole < 0 ? "-" : "") + String(whole.magnitude, radix: 16))
        },
        .many("Guid", 0...1) { machine, arguments in
            let (high, low) = (machine.randomNumber(), machine.randomNumber())
            // Version 4, the variant of RFC 9562.
            let first = String(high & ~0xF000 | 0x4000, radix: 16)
            let second = String(low & ~(0b11 << 62) | (0b10 << 62), radix: 16)
            let digits =
                String(repeating: "0", count: 16 - first.count) + first
                + String(repeating: "0", count: 16 - second.count) + second
            return try machine.text(try guid(digits, arguments.value(0), machine))
        },
        .two("StandardizeGuid") { machine, value, format in
            let text = try Coercion.text(value, machine)
            let digits = text.lowercased().filter(\.isHexDigit)
            guard digits.count == 32 else { return .text("") }
            return try machine.text(try guid(digits, format, machine))
        },
        .one("UrlEncode") { machine, value in
            guard case .dictionary(let dictionary) = value else {
                return try machine.text(encoded(try Coercion.text(value, machine)))
            }
            let parts = try zip(dictionary.keys, dictionary.values).map {
                encoded($0) + "=" + encoded(try Coercion.text($1, machine))
            }
            return try machine.text(parts.joined(separator: "&"))
        },
    ]

    private static func whole(_ value: Value) throws -> Int { try Arguments.whole(value, "The code of a character") }

    private static func unit(_ machine: Machine, _ value: Value, _ index: Value) throws -> ([UInt16], Int)? {
        let units = Array(try Coercion.text(value, machine).utf16)
        let place = index.isNull ? 0 : try Arguments.whole(index, "The index")
        return units.indices.contains(place) ? (units, place) : nil
    }

    private static func guid(_ digits: String, _ format: Value, _ machine: Machine) throws -> String {
        let all = Array(digits)
        let parts = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(all[$0]) }
        let hyphened = parts.joined(separator: "-")
        switch format.isNull ? "digits-hyphen-braces" : try Coercion.text(format, machine).lowercased() {
        case "digits": return digits
        case "digits-hyphen": return hyphened
        case "digits-hyphen-braces": return "{\(hyphened)}"
        case "digits-hyphen-parentheses": return "(\(hyphened))"
        case let other:
            throw ArcadeError.runtime(
                "“\(other)” is no form of a GUID: digits, digits-hyphen, digits-hyphen-braces or digits-hyphen-parentheses."
            )
        }
    }

    /// As `encodeURIComponent` does.
    private static func encoded(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: allowed) ?? ""
    }

    private static let allowed = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.!~*'()")
}
