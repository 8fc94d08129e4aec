/// Upper and lower case by Unicode's simple mappings: a character becomes one character, whatever stands beside it and whatever the
/// language. So both stores and the evaluator give the same answer, and a text keeps its length: ß has no single capital and stays,
/// Σ becomes σ also at the end of a word, İ becomes i. Characters are those of Unicode 14, which PostgreSQL's libraries know as well.
package enum LetterCase: Sendable {
    case lower, upper

    /// The text in this case.
    package func of(_ text: String) -> String {
        if text.utf8.allSatisfy({ $0 < 0x80 }) {
            return String(decoding: text.utf8.map(ascii), as: UTF8.self)
        }
        let mapping = mapping
        var changed = String.UnicodeScalarView()
        changed.reserveCapacity(text.utf8.count)
        for scalar in text.unicodeScalars {
            changed.append(
                scalar.value < 0x80 ? Unicode.Scalar(ascii(UInt8(scalar.value))) : mapping[scalar] ?? scalar)
        }
        return String(changed)
    }

    /// An ASCII character in this case; any other byte as it is.
    @inline(__always)
    package func ascii(_ byte: UInt8) -> UInt8 {
        switch self {
        case .lower: byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte
        case .upper: byte >= 0x61 && byte <= 0x7A ? byte & ~0x20 : byte
        }
    }

    /// The characters beyond ASCII that are others in this case.
    package var mapping: [Unicode.Scalar: Unicode.Scalar] { self == .lower ? Self.lowerCase : Self.upperCase }

    /// The characters whose capitals are several characters by Unicode's full mappings: a database that has those only must not be asked
    /// for them.
    package static let withoutOneCapital = scalars.filter { $0.properties.uppercaseMapping.unicodeScalars.count > 1 }

    private static let lowerCase = table { scalar in
        // İ is an i with a dot, of which the letter has one anyway.
        one(scalar.properties.lowercaseMapping) ?? scalar.properties.lowercaseMapping.unicodeScalars.first
    }

    private static let upperCase = table { scalar in
        // A letter with an iota beneath has one capital where the iota stands beside it, as at the begin of a title.
        one(scalar.properties.uppercaseMapping) ?? one(scalar.properties.titlecaseMapping)
    }

    private static func one(_ text: String) -> Unicode.Scalar? {
        text.unicodeScalars.count == 1 ? text.unicodeScalars.first : nil
    }

    private static func table(_ change: (Unicode.Scalar) -> Unicode.Scalar?) -> [Unicode.Scalar: Unicode.Scalar] {
        var table: [Unicode.Scalar: Unicode.Scalar] = [:]
        for scalar in scalars {
            guard let changed = change(scalar), changed != scalar, isKnown(changed) else { continue }
            table[scalar] = changed
        }
        return table
    }

    private static let scalars = (UInt32(0x80)...0x1_E943).compactMap(Unicode.Scalar.init).filter { scalar in
        (scalar.properties.changesWhenUppercased || scalar.properties.changesWhenLowercased) && isKnown(scalar)
    }

    /// Whether a character is one of Unicode 14. A letter of it may have got its capital later.
    private static func isKnown(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.age.map { $0.major <= 14 } ?? false
    }
}
