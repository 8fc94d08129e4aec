/// What a search asks for: the protocol's grammar of `q`, read into a tree.
package indirect enum SearchQuery: Sendable, Hashable {
    case everything
    case and([SearchQuery])
    case or([SearchQuery])
    case not(SearchQuery)
    /// One word; at its end `*` may stand for any letters.
    case word(SearchField?, String, isPrefix: Bool)
    /// Words that follow each other.
    case phrase(SearchField?, String)
    /// nil: without a bound.
    case range(SearchField, String?, String?)
    /// A field that items here do not have.
    case unknownField(String)
}

/// A field that a search names.
package enum SearchField: String, Sendable, Hashable {
    case id, owner, title, type, tags, snippet, description, access, group, created, modified, name, size
    case typeKeywords = "typekeywords"
    case organisation = "orgid"
    case views = "numviews"

    init?(word: String) {
        switch word.lowercased() {
        case "uploaded": self = .created
        case "views": self = .views
        case "tag": self = .tags
        case "accountid": self = .organisation
        case let word:
            guard let field = SearchField(rawValue: word) else { return nil }
            self = field
        }
    }
}

/// Reads `q`. Nothing that a person may type is an error but what is too long or too deep: a bracket or a quotation mark without
/// its partner ends with the text.
struct SearchParser {
    private enum Token: Hashable {
        case word(String)
        case quoted(String)
        case range(String?, String?)
        case colon, open, close, not, and, or
    }

    private var tokens: ArraySlice<Token>
    private var terms = 0

    static func parse(_ text: String) throws(PortalError) -> SearchQuery {
        guard text.count <= Limits.searchLength else {
            throw PortalError(.overLimit, "A search has at most \(Limits.searchLength) characters.")
        }
        var parser = SearchParser(tokens: tokens(text)[...])
        var parts: [SearchQuery] = []
        while !parser.tokens.isEmpty {
            if let part = try parser.alternatives(nil, depth: 0) { parts.append(part) }
            // A bracket too many closes nothing.
            if parser.tokens.first == .close { parser.tokens.removeFirst() }
        }
        return combined(parts, SearchQuery.and) ?? .everything
    }

    private static func combined(_ parts: [SearchQuery], _ join: ([SearchQuery]) -> SearchQuery) -> SearchQuery? {
        parts.count > 1 ? join(parts) : parts.first
    }

    private mutating func alternatives(_ field: SearchField?, depth: Int) throws(PortalError) -> SearchQuery? {
        guard depth <= Limits.searchDepth else {
            throw PortalError(.overLimit, "A search has at most \(Limits.searchDepth) brackets within each other.")
        }
        var parts: [SearchQuery] = []
        while let next = tokens.first, next != .close {
            if next == .or || next == .and {
                tokens.removeFirst()
                continue
            }
            if let part = try conjunction(field, depth: depth) { parts.append(part) }
        }
        return Self.combined(parts, SearchQuery.or)
    }

    private mutating func conjunction(_ field: SearchField?, depth: Int) throws(PortalError) -> SearchQuery? {
        var parts: [SearchQuery] = []
        while let next = tokens.first, next != .close, next != .or {
            if next == .and {
                tokens.removeFirst()
                continue
            }
            if let part = try negation(field, depth: depth) { parts.append(part) }
        }
        return Self.combined(parts, SearchQuery.and)
    }

    private mutating func negation(_ field: SearchField?, depth: Int) throws(PortalError) -> SearchQuery? {
        var isNegated = false
        while tokens.first == .not {
            tokens.removeFirst()
            isNegated.toggle()
        }
        guard let part = try primary(field, depth: depth) else { return nil }
        return isNegated ? .not(part) : part
    }

    private mutating func primary(_ field: SearchField?, depth: Int) throws(PortalError) -> SearchQuery? {
        guard let token = tokens.popFirst() else { return nil }
        terms += 1
        guard terms <= Limits.searchTerms else {
            throw PortalError(.overLimit, "A search has at most \(Limits.searchTerms) terms.")
        }
        switch token {
        case .open:
            let inner = try alternatives(field, depth: depth + 1)
            if tokens.first == .close { tokens.removeFirst() }
            return inner
        case .word(let word) where tokens.first == .colon:
            tokens.removeFirst()
            if word == "*" { return try skipped(.everything, depth: depth) }
            guard let named = SearchField(word: word) else { return try skipped(.unknownField(word), depth: depth) }
            return try primary(named, depth: depth)
        case .word(let word): return Self.word(word, field)
        case .quoted(let text): return .phrase(field, text)
        case .range(let lower, let upper): return field.map { .range($0, lower, upper) }
        case .colon, .close, .not, .and, .or: return nil
        }
    }

    /// Reads a value that nothing is compared with.
    private mutating func skipped(_ query: SearchQuery, depth: Int) throws(PortalError) -> SearchQuery {
        _ = try primary(nil, depth: depth)
        return query
    }

    private static func word(_ word: String, _ field: SearchField?) -> SearchQuery {
        if word == "*" { return .everything }
        let isPrefix = word.last == "*"
        return .word(field, isPrefix ? String(word.dropLast()) : word, isPrefix: isPrefix)
    }

    // MARK: Tokens

    private static func tokens(_ text: String) -> [Token] {
        var tokens: [Token] = []
        var rest = Substring(text)
        while let character = rest.first {
            switch character {
            case "(":
                rest.removeFirst()
                tokens.append(.open)
            case ")":
                rest.removeFirst()
                tokens.append(.close)
            case ":":
                rest.removeFirst()
                tokens.append(.colon)
            case "\"":
                rest.removeFirst()
                tokens.append(.quoted(taken(&rest) { $0 == "\"" }))
                if !rest.isEmpty { rest.removeFirst() }
            case "[", "{":
                rest.removeFirst()
                let inner = taken(&rest) { $0 == "]" || $0 == "}" }
                if !rest.isEmpty { rest.removeFirst() }
                tokens.append(range(inner))
            case "-", "!":
                rest.removeFirst()
                if rest.first.map({ !$0.isWhitespace }) == true { tokens.append(.not) }
            case "+", "]", "}": rest.removeFirst()
            case _ where character.isWhitespace: rest.removeFirst()
            case "&" where rest.hasPrefix("&&"):
                rest.removeFirst(2)
                tokens.append(.and)
            case "|" where rest.hasPrefix("||"):
                rest.removeFirst(2)
                tokens.append(.or)
            default: tokens.append(keyword(taken(&rest) { $0.isWhitespace || "():\"[]{}".contains($0) }))
            }
        }
        return tokens
    }

    private static func keyword(_ word: String) -> Token {
        switch word {
        case "AND": return .and
        case "OR": return .or
        case "NOT": return .not
        default:
            // Weights and distances of the full grammar say nothing here.
            let plain = word.prefix { $0 != "^" && $0 != "~" }
            return .word(String(plain))
        }
    }

    /// The characters up to one that ends them; after a backslash each stands for itself.
    private static func taken(_ rest: inout Substring, until isEnd: (Character) -> Bool) -> String {
        var text = ""
        while let character = rest.first, !isEnd(character) {
            rest.removeFirst()
            if character == "\\", let next = rest.popFirst() {
                text.append(next)
            } else {
                text.append(character)
            }
        }
        return text
    }

    /// `a TO b`, with `*` for no bound.
    private static func range(_ text: String) -> Token {
        let words = text.split(whereSeparator: \.isWhitespace).map(String.init)
        let middle = words.firstIndex { $0.uppercased() == "TO" } ?? words.endIndex
        func bound(_ word: String?) -> String? { word == "*" ? nil : word }
        return .range(bound(words[..<middle].last), bound(words[middle...].dropFirst().first))
    }
}
