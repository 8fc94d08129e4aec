import FieldworkStore

/// The steps of a search, each with the documents that it brings: all words as they are, then misspelt words as others, then
/// without kinds and directions of streets, then without one word or another.
struct SearchSteps {
    struct Step {
        var documents: [Int64]
        /// Whether differences of spelling are looked for.
        var corrects: Bool
    }

    let data: LocatorData
    let text: SearchText
    let prefix: Int?
    private var number = 0
    private var terms: [DocumentIndex.Term]?
    private var required: [Int]
    private var index: DocumentIndex { DocumentIndex(data: data) }

    init(data: LocatorData, text: SearchText, prefix: Int?) {
        self.data = data
        self.text = text
        self.prefix = prefix
        required = text.required
        // Numbers alone may be a postal code.
        if required.isEmpty { required = Array(text.tokens.indices) }
    }

    mutating func next() throws -> Step? {
        number += 1
        switch number {
        case 1: return Step(documents: try exact(), corrects: false)
        case 2: return Step(documents: try corrected(), corrects: true)
        case 3: return Step(documents: try withoutWeak(), corrects: true)
        case 4: return Step(documents: try allSpellings(), corrects: true)
        case 5: return Step(documents: try withoutOne(), corrects: true)
        default: return nil
        }
    }

    private func term(_ token: Int) -> DocumentIndex.Term {
        DocumentIndex.Term(words: [text.tokens[token].text], isPrefix: token == prefix)
    }

    private func exact() throws -> [Int64] {
        let terms = required.map(term)
        var ids = try index.documents(terms)
        guard ids.count >= Limits.documentsPerStep else { return ids }
        // Too many: numbers may be part of the name, or a postal code.
        for (token, word) in text.tokens.enumerated() where !required.contains(token) && word.startsWithDigit {
            ids = try index.documents(terms + [term(token)]) + ids
        }
        return ids
    }

    /// Words that no document has stand for others that are alike, or for two words.
    private mutating func corrected() throws -> [Int64] {
        var terms: [DocumentIndex.Term] = []
        var skipNext = false
        for (place, token) in required.enumerated() {
            if skipNext {
                skipNext = false
                continue
            }
            let word = text.tokens[token].text
            if try isKnown(token) {
                terms.append(term(token))
                continue
            }
            if place + 1 < required.count, required[place + 1] == token + 1 {
                let joined = word + text.tokens[token + 1].text
                if try data.documents(with: joined) > 0 {
                    terms.append(DocumentIndex.Term(words: [joined]))
                    skipNext = true
                    continue
                }
            }
            if let parts = try split(word) {
                terms += parts.map { DocumentIndex.Term(words: [$0]) }
                continue
            }
            let alike = try data.spellings(of: word, isPrefix: token == prefix)
            // A short word that nothing is like is left out: scoring looks at it again.
            if !alike.isEmpty, word.utf8.count > 2 { terms.append(DocumentIndex.Term(words: alike)) }
        }
        self.terms = terms
        return try index.documents(terms)
    }

    private func isKnown(_ token: Int) throws -> Bool {
        if token == prefix { return try index.has(term(token)) }
        return try data.documents(with: text.tokens[token].text) > 0
    }

    private func split(_ word: String) throws -> [String]? {
        guard word.utf8.count >= 5, word.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        for length in 2...(word.count - 2) {
            let (first, second) = (String(word.prefix(length)), String(word.dropFirst(length)))
            let canonical = Abbreviations.canonical(second)
            if try data.documents(with: first) > 0, try data.documents(with: canonical) > 0,
                try !index.documents([.init(words: [first]), .init(words: [canonical])], limit: 1).isEmpty
            {
                return [first, canonical]
            }
        }
        return nil
    }

    private func withoutWeak() throws -> [Int64] {
        let strong = (terms ?? []).filter { term in
            guard term.words.count == 1, let word = term.words.first else { return true }
            return !Abbreviations.streetTypes.contains(word) && !Abbreviations.directions.contains(word)
                && word.utf8.count > 1
        }
        return strong.count < (terms?.count ?? 0) ? try index.documents(strong) : []
    }

    /// A word may be misspelt as another that exists.
    private func allSpellings() throws -> [Int64] {
        var terms: [DocumentIndex.Term] = []
        for token in required {
            let word = text.tokens[token].text
            if word.utf8.count <= 2 || Abbreviations.streetTypes.contains(word) { continue }
            let alike = try data.spellings(of: word)
            terms.append(DocumentIndex.Term(words: Array(Set([word] + alike)).sorted()))
        }
        return try index.documents(terms)
    }

    /// Every way to leave out one word, the rarest of the rest first; at last the two rarest alone.
    private func withoutOne() throws -> [Int64] {
        let strong = (terms ?? []).filter { term in !term.words.allSatisfy(Abbreviations.streetTypes.contains) }
        guard strong.count > 1, strong.count <= 10 else { return [] }
        var ids: [Int64] = []
        for left in strong.indices {
            var rest = strong
            rest.remove(at: left)
            ids += try index.documents(rest, limit: Limits.documentsPerStep / 4)
        }
        if ids.isEmpty, strong.count > 2 {
            for term in strong { ids += try index.documents([term], limit: Limits.documentsPerStep / 10) }
        }
        return ids
    }
}
