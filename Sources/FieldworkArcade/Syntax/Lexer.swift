/// Cuts the text of a script into tokens. What is no token is reported, and skipped.
struct Lexer {
    let bytes: [UInt8]
    private(set) var problems: [ArcadeError] = []
    var at = 0
    private var sawLineBreak = false
    private var templateDepth = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// All tokens, with one that says the end.
    mutating func tokens() -> [Token] {
        var tokens: [Token] = []
        while true {
            let token = next()
            tokens.append(token)
            if case .end = token.kind { return tokens }
        }
    }

    mutating func report(_ message: String, at offset: Int) {
        guard problems.count < ArcadeLimits.problemsMax else { return }
        problems.append(ArcadeError(.syntax, message, at: offset))
    }

    func byte(_ ahead: Int = 0) -> UInt8? {
        at + ahead < bytes.count ? bytes[at + ahead] : nil
    }

    private mutating func next() -> Token {
        while true {
            skipSpace()
            let start = at
            let followsLineBreak = sawLineBreak
            sawLineBreak = false
            guard let first = byte() else { return Token(kind: .end, start: start, end: start, followsLineBreak: true) }
            if let kind = kind(beginningWith: first) {
                return Token(kind: kind, start: start, end: at, followsLineBreak: followsLineBreak)
            }
            sawLineBreak = followsLineBreak
        }
    }

    private mutating func kind(beginningWith first: UInt8) -> Token.Kind? {
        switch first {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): return number()
        case UInt8(ascii: ".") where byte(1).map(Self.isDigit) == true: return number()
        case UInt8(ascii: "'"), UInt8(ascii: "\""): return text(delimiter: first)
        case UInt8(ascii: "`"): return template()
        default: break
        }
        if let word = word() { return word }
        for (bytes, sign) in Sign.byLength where self.bytes[at...].starts(with: bytes) {
            at += bytes.count
            return .sign(sign)
        }
        let start = at
        let character = scalar()
        report("The character \(character.map { "“\($0)”" } ?? "here") can't stand in a script.", at: start)
        return nil
    }

    // MARK: Space

    private mutating func skipSpace() {
        while let first = byte() {
            switch first {
            case 0x0A, 0x0D:
                sawLineBreak = true
                at += 1
            case 0x20, 0x09, 0x0B, 0x0C: at += 1
            case 0xC2 where byte(1) == 0xA0: at += 2
            case 0xEF where byte(1) == 0xBB && byte(2) == 0xBF: at += 3
            case 0xE2 where byte(1) == 0x80 && (byte(2) == 0xA8 || byte(2) == 0xA9 || byte(2) == 0x8B):
                sawLineBreak = sawLineBreak || byte(2) != 0x8B
                at += 3
            case UInt8(ascii: "/") where byte(1) == UInt8(ascii: "/"):
                while let byte = byte(), byte != 0x0A, byte != 0x0D { at += 1 }
            case UInt8(ascii: "/") where byte(1) == UInt8(ascii: "*"): skipComment()
            default: return
            }
        }
    }

    private mutating func skipComment() {
        let start = at
        at += 2
        while let first = byte() {
            if first == UInt8(ascii: "*"), byte(1) == UInt8(ascii: "/") {
                at += 2
                return
            }
            if first == 0x0A { sawLineBreak = true }
            at += 1
        }
        report("The comment that begins here has no end: add */.", at: start)
    }

    // MARK: Words and numbers

    static func isDigit(_ byte: UInt8) -> Bool { byte >= 0x30 && byte <= 0x39 }

    private static func isWordByte(_ byte: UInt8) -> Bool {
        isDigit(byte) || (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7A || byte == UInt8(ascii: "_")
            || byte == UInt8(ascii: "$")
    }

    /// One character that is not ASCII, or any other.
    mutating func scalar() -> Unicode.Scalar? {
        var decoder = UTF8()
        var rest = bytes[at...].makeIterator()
        guard case .scalarValue(let scalar) = decoder.decode(&rest) else {
            at += 1
            return nil
        }
        at += UTF8.width(scalar)
        return scalar
    }

    private mutating func word() -> Token.Kind? {
        let start = at
        while let first = byte() {
            if Self.isWordByte(first) {
                at += 1
            } else if first >= 0x80 {
                let before = at
                guard let scalar = scalar(), scalar.properties.isAlphabetic else {
                    at = before
                    break
                }
            } else {
                break
            }
        }
        guard at > start else { return nil }
        let name = String(decoding: bytes[start..<at], as: UTF8.self)
        return Keyword(rawValue: name.lowercased()).map(Token.Kind.keyword) ?? .name(name)
    }

    private mutating func number() -> Token.Kind {
        let start = at
        if byte() == UInt8(ascii: "0"), byte(1).map({ $0 | 0x20 }) == UInt8(ascii: "x") {
            at += 2
            while let digit = byte(), Self.isWordByte(digit) { at += 1 }
            let digits = String(decoding: bytes[start + 2..<at], as: UTF8.self)
            guard let value = UInt64(digits, radix: 16) else {
                report("“0x\(digits)” is not a number.", at: start)
                return .number(0)
            }
            return .number(Double(value))
        }
        while let digit = byte(), Self.isDigit(digit) { at += 1 }
        if byte() == UInt8(ascii: ".") {
            at += 1
            while let digit = byte(), Self.isDigit(digit) { at += 1 }
        }
        if byte().map({ $0 | 0x20 }) == UInt8(ascii: "e") {
            let sign = byte(1) == UInt8(ascii: "+") || byte(1) == UInt8(ascii: "-") ? 1 : 0
            if byte(1 + sign).map(Self.isDigit) == true {
                at += 1 + sign
                while let digit = byte(), Self.isDigit(digit) { at += 1 }
            }
        }
        let end = at
        while let next = byte(), Self.isWordByte(next) { at += 1 }
        var text = String(decoding: bytes[start..<end], as: UTF8.self)
        if at > end {
            report("A name can't begin with a digit.", at: start)
            return .number(0)
        }
        if text.hasPrefix(".") { text = "0" + text }
        if text.hasSuffix(".") { text += "0" }
        return .number(Double(text) ?? .nan)
    }

    // MARK: Templates

    /// A template from its first back tick.
    private mutating func template() -> Token.Kind {
        let start = at
        at += 1
        var (pieces, text): ([Token.TemplatePiece], [UInt8]) = ([], [])
        func flushed() -> [Token.TemplatePiece] { text.isEmpty ? [] : [.text(String(decoding: text, as: UTF8.self))] }
        while let first = byte() {
            switch first {
            case UInt8(ascii: "`"):
                at += 1
                return .template(pieces + flushed())
            case UInt8(ascii: "\\"): escape(into: &text)
            case UInt8(ascii: "$") where byte(1) == UInt8(ascii: "{"):
                pieces += flushed()
                text = []
                pieces.append(.tokens(tokensInTemplate()))
            default:
                text.append(first)
                at += 1
            }
        }
        report("The template that begins here has no end: add a back tick.", at: start)
        return .template(pieces + flushed())
    }

    /// The tokens between `${` and its `}`.
    private mutating func tokensInTemplate() -> [Token] {
        let start = at
        at += 2
        guard templateDepth < ArcadeLimits.nestingMax else {
            report("Templates are nested too deep.", at: start)
            at = bytes.count
            return []
        }
        templateDepth += 1
        defer { templateDepth -= 1 }
        var (tokens, depth): ([Token], Int) = ([], 0)
        while true {
            var token = next()
            if case .end = token.kind {
                report("The expression that begins here has no end: add }.", at: start)
                tokens.append(token)
                return tokens
            }
            if token.isSign(.openBrace) { depth += 1 }
            if token.isSign(.closeBrace) {
                if depth == 0 {
                    token.kind = .end
                    tokens.append(token)
                    return tokens
                }
                depth -= 1
            }
            tokens.append(token)
        }
    }
}
