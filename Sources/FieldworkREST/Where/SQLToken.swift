/// A word of the protocol's SQL, with the place where it starts.
struct SQLToken: Sendable, Hashable {
    enum Kind: Sendable, Hashable {
        /// A bare word: a keyword, a function or a field.
        case word(String)
        /// A name in double quotes: always a field.
        case quotedName(String)
        case string(String)
        case integer(Int64)
        case real(Double)
        /// `=`, `<>`, `<`, `<=`, `>`, `>=`, `+`, `-`, `*`, `/`, `||`, `(`, `)`, `,`.
        case symbol(String)
        case end
    }

    var kind: Kind
    /// Characters before it, counted from 1 as people count.
    var position: Int

    /// How a message names it.
    var description: String {
        switch kind {
        case .word(let text): "'\(text)'"
        case .quotedName(let text): "\"\(text)\""
        case .string(let text): "the text '\(text.prefix(40))'"
        case .integer(let value): "\(value)"
        case .real(let value): "\(value)"
        case .symbol(let text): "'\(text)'"
        case .end: "the end"
        }
    }
}

/// Why text is not an expression, and where.
package struct SQLParseError: Error, Sendable, Hashable {
    package var message: String
    /// The character at which it was noticed, counted from 1.
    package var position: Int

    package var description: String { "\(message) (at character \(position))" }
}

/// Cuts the protocol's SQL into words. Semicolons, comments and whatever else begins no word are refused here, so that
/// nothing of them gets any further.
struct SQLLexer {
    static func tokens(of text: String) throws(SQLParseError) -> [SQLToken] {
        guard text.utf8.count <= Limits.whereBytes else {
            throw SQLParseError(message: "The expression is longer than \(Limits.whereBytes) bytes", position: 1)
        }
        var lexer = SQLLexer(characters: Array(text.unicodeScalars))
        var tokens: [SQLToken] = []
        while let token = try lexer.next() { tokens.append(token) }
        tokens.append(SQLToken(kind: .end, position: lexer.characters.count + 1))
        return tokens
    }

    private let characters: [Unicode.Scalar]
    private var index = 0

    private init(characters: [Unicode.Scalar]) { self.characters = characters }

    private func error(_ message: String, at place: Int) -> SQLParseError {
        SQLParseError(message: message, position: place + 1)
    }

    private func peek(_ offset: Int = 0) -> Unicode.Scalar? {
        index + offset < characters.count ? characters[index + offset] : nil
    }

    private mutating func next() throws(SQLParseError) -> SQLToken? {
        while let scalar = peek(), scalar.properties.isWhitespace { index += 1 }
        guard let scalar = peek() else { return nil }
        let start = index
        let kind: SQLToken.Kind
        switch scalar {
        case "'": kind = .string(try quoted("'"))
        case "\"": kind = .quotedName(try quoted("\""))
        case "0"..."9": kind = try number()
        case "." where peek(1).map { ("0"..."9").contains($0) } == true: kind = try number()
        case _ where scalar == "_" || scalar.properties.isAlphabetic: kind = word()
        default: kind = .symbol(try symbol())
        }
        return SQLToken(kind: kind, position: start + 1)
    }

    private mutating func word() -> SQLToken.Kind {
        let start = index
        while let scalar = peek(),
            scalar == "_" || scalar == "." || scalar == "$" || scalar == "#" || ("0"..."9").contains(scalar)
                || scalar.properties.isAlphabetic
        { index += 1 }
        return .word(text(start..<index))
    }

    private func text(_ range: Range<Int>) -> String {
        var text = String.UnicodeScalarView()
        text.append(contentsOf: characters[range])
        return String(text)
    }

    /// Text between quotes; two of them stand for one.
    private mutating func quoted(_ quote: Unicode.Scalar) throws(SQLParseError) -> String {
        let start = index
        var text = String.UnicodeScalarView()
        index += 1
        while let scalar = peek() {
            index += 1
            if scalar != quote {
                text.append(scalar)
            } else if peek() == quote {
                text.append(quote)
                index += 1
            } else {
                return String(text)
            }
        }
        throw error("A quote is not closed", at: start)
    }

    private mutating func number() throws(SQLParseError) -> SQLToken.Kind {
        let start = index
        var isReal = false
        func digits(_ lexer: inout SQLLexer) {
            while let scalar = lexer.peek(), ("0"..."9").contains(scalar) { lexer.index += 1 }
        }
        digits(&self)
        if peek() == "." {
            isReal = true
            index += 1
            digits(&self)
        }
        if peek() == "e" || peek() == "E" {
            let sign = peek(1) == "+" || peek(1) == "-" ? 1 : 0
            if let digit = peek(1 + sign), ("0"..."9").contains(digit) {
                isReal = true
                index += 1 + sign
                digits(&self)
            }
        }
        let text = text(start..<index)
        if !isReal, let value = Int64(text) { return .integer(value) }
        guard let value = Double(text.hasPrefix(".") ? "0\(text)" : text), value.isFinite else {
            throw error("\(text.prefix(40)) is not a number", at: start)
        }
        return .real(value)
    }

    private mutating func symbol() throws(SQLParseError) -> String {
        let start = index
        guard let scalar = peek() else { throw error("The expression ends early", at: start) }
        let pair = text(index..<min(index + 2, characters.count))
        switch pair {
        case "<>", "<=", ">=", "||":
            index += 2
            return pair
        case "!=":
            index += 2
            return "<>"
        case "--", "/*": throw error("Comments are not allowed", at: start)
        default: break
        }
        switch scalar {
        case "=", "<", ">", "+", "-", "*", "/", "(", ")", ",":
            index += 1
            return String(Character(scalar))
        case ";": throw error("Only one expression is allowed", at: start)
        default: throw error("'\(Character(scalar))' is not part of an expression", at: start)
        }
    }
}
