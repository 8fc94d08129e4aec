import Foundation

/// A word or number of an address in the form in which it is compared: without accents, in lower case, abbreviations and
/// directions in their one spelling.
package struct TextToken: Sendable, Hashable {
    package var text: String
    /// Counts the commas and line ends before it.
    package var group: Int

    package init(text: String, group: Int = 0) {
        self.text = text
        self.group = group
    }

    /// Whether it may be a house number or a postal code.
    package var startsWithDigit: Bool { text.utf8.first.map { $0 >= 0x30 && $0 <= 0x39 } ?? false }

    /// `5th`, `2nd`: a word for the name of a street, no house number.
    var isOrdinal: Bool {
        guard startsWithDigit else { return false }
        let word = text.utf8.drop { $0 >= 0x30 && $0 <= 0x39 }
        return ["st", "nd", "rd", "th"].contains(String(Substring(word)))
    }
}

/// What a text says, cut into tokens.
package struct TokenizedText: Sendable {
    package var tokens: [TextToken] = []
    /// The places between tokens at which the text names a crossing: the number of tokens before.
    package var connectors: [Int] = []
    /// Whether the text ends within a word, so that the last token may go on.
    package var endsInWord = false

    /// The tokens in one line, as the index keeps them.
    package var key: String { tokens.map(\.text).joined(separator: " ") }

    package init(_ text: String) {
        var cutter = TokenCutter()
        cutter.read(text)
        self = cutter.result
    }

    fileprivate init(tokens: [TextToken], connectors: [Int], endsInWord: Bool) {
        self.tokens = tokens
        self.connectors = connectors
        self.endsInWord = endsInWord
    }

    /// The key of a name or a part of an address.
    package static func key(_ text: String) -> String { TokenizedText(text).key }
}

/// Cuts text into tokens, letter by letter.
private struct TokenCutter {
    private var tokens: [TextToken] = []
    private var connectors: [Int] = []
    private var word = String.UnicodeScalarView()
    private var group = 0
    private var previous: Unicode.Scalar = " "
    private var endsInWord = false

    var result: TokenizedText { TokenizedText(tokens: tokens, connectors: connectors, endsInWord: endsInWord) }

    mutating func read(_ text: String) {
        if text.utf8.allSatisfy({ $0 < 0x80 }) {
            for scalar in text.unicodeScalars { take(scalar) }
        } else {
            // A fraction would melt with the number before it when it is taken apart.
            var plain = text
            for (sign, words) in LetterTable.fractions where plain.contains(sign) {
                plain = plain.replacingOccurrences(of: sign, with: words)
            }
            for scalar in plain.decomposedStringWithCompatibilityMapping.unicodeScalars { take(scalar) }
        }
        endsInWord = !word.isEmpty
        finishWord()
    }

    private mutating func take(_ scalar: Unicode.Scalar) {
        defer { previous = scalar }
        switch scalar {
        case "a"..."z", "0"..."9": word.append(scalar)
        case "A"..."Z": word.append(Unicode.Scalar(UInt8(scalar.value) | 0x20))
        // An apostrophe joins: O'Farrell is one word.
        case "'", "`", "\u{2019}", "\u{2018}", "\u{02BC}", "\u{00B4}": break
        case "-", "\u{2013}", "/", "\u{2044}": joinNumbers(scalar == "-" || scalar == "\u{2013}" ? "-" : "/")
        case ",", ";", "\n", "\r":
            finishWord()
            group += 1
        case "&", "@", "|":
            finishWord()
            connect()
        case _ where scalar.value < 0x80: finishWord()
        default: takeForeign(scalar)
        }
    }

    /// Between digits the sign belongs to the number: 12-14, 1/2. Elsewhere it parts words.
    private mutating func joinNumbers(_ sign: Unicode.Scalar) {
        if let last = word.last, last.properties.numericType == .decimal, word.first?.isDigit == true {
            word.append(sign)
        } else {
            finishWord()
        }
    }

    private mutating func takeForeign(_ scalar: Unicode.Scalar) {
        if let plain = LetterTable.plain[scalar] {
            word.append(contentsOf: plain.unicodeScalars)
            return
        }
        let properties = scalar.properties
        switch properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format, .modifierLetter: break
        case .decimalNumber:
            let digit = properties.numericValue.flatMap { Unicode.Scalar(UInt8(0x30 + Int($0) % 10)) }
            if let digit { word.append(digit) }
        case .uppercaseLetter, .titlecaseLetter: word.append(contentsOf: properties.lowercaseMapping.unicodeScalars)
        case .otherLetter where LetterTable.standsAlone(scalar):
            // Text without spaces: each sign is a word.
            finishWord()
            word.append(scalar)
            finishWord()
        case .lowercaseLetter, .otherLetter, .spacingMark, .letterNumber, .otherNumber: word.append(scalar)
        default: finishWord()
        }
    }

    /// Signs that follow each other name one crossing.
    private mutating func connect() {
        if connectors.last != tokens.count { connectors.append(tokens.count) }
    }

    private mutating func finishWord() {
        guard !word.isEmpty else { return }
        while let last = word.last, last == "-" || last == "/" { word.removeLast() }
        let text = String(word)
        word = String.UnicodeScalarView()
        if Abbreviations.connectors.contains(text) {
            if !tokens.isEmpty { connect() }
            return
        }
        if !text.isEmpty { tokens.append(TextToken(text: Abbreviations.canonical(text), group: group)) }
    }
}

extension Unicode.Scalar {
    fileprivate var isDigit: Bool { value >= 0x30 && value <= 0x39 }
}

/// Letters that taking apart leaves as they are.
private enum LetterTable {
    static let plain: [Unicode.Scalar: String] = [
        "ß": "ss", "ẞ": "ss", "ø": "o", "Ø": "o", "ł": "l", "Ł": "l", "đ": "d", "Đ": "d", "ð": "d", "Ð": "d", "æ": "ae",
        "Æ": "ae", "œ": "oe", "Œ": "oe", "þ": "th", "Þ": "th", "ħ": "h", "Ħ": "h", "ı": "i", "ŋ": "n", "Ŋ": "n",
    ]

    static let fractions = [("½", " 1/2"), ("¼", " 1/4"), ("¾", " 3/4")]

    /// Han, Hiragana and Katakana.
    static func standsAlone(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x3040...0x30FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xF900...0xFAFF, 0x20000...0x3FFFF: true
        default: false
        }
    }
}
