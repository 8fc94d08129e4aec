/// How well a text fits a document, word by word. The order of the words does not matter.
struct Alignment {
    /// What differences cost, of a hundred.
    private enum Cost {
        static let edit = 12.0
        static let editInZone = 8.0
        static let prefix = 3.0
        static let missingType = 4.0
        static let otherType = 8.0
        static let missingDirection = 4.0
        static let otherDirection = 10.0
        static let missingWord = 8.0
        static let unusedWord = 15.0
        static let unusedNumber = 6.0
    }

    /// Of a hundred, before a house number is looked for.
    var score: Double
    /// Tokens of the text that the document does not have.
    var unused: [Int]
    /// The spelling of the name that fits best.
    var name: Int
    /// Where the name stands in the text.
    var nameTokens: [Int]

    /// - Parameters:
    ///   - names: the spellings of the name, each as its words.
    ///   - zone: the words of what stands behind the name.
    ///   - prefix: the token that may go on.
    init(_ tokens: [TextToken], names: [[String]], zone: Set<String>, prefix: Int?, corrects: Bool) {
        var best: Alignment?
        for (index, name) in names.enumerated() {
            let one = Alignment(tokens, index, name, zone, prefix, corrects)
            if one.score > best?.score ?? -.infinity { best = one }
        }
        self = best ?? Alignment(score: 0, unused: Array(tokens.indices), name: 0, nameTokens: [])
    }

    private init(score: Double, unused: [Int], name: Int, nameTokens: [Int]) {
        self.score = score
        self.unused = unused
        self.name = name
        self.nameTokens = nameTokens
    }

    private init(
        _ tokens: [TextToken], _ index: Int, _ words: [String], _ zone: Set<String>, _ prefix: Int?, _ corrects: Bool
    ) {
        var matching = Matching(tokens: tokens, words: words, prefix: prefix)
        var cost = matching.exact()
        if corrects { cost += matching.misspelt(Cost.edit) }
        cost += matching.inZone(zone, corrects ? Cost.editInZone : nil)
        cost += Self.missing(&matching)
        score = 100 - cost
        unused = matching.unused
        name = index
        nameTokens = matching.nameTokens
    }

    /// What words of the name that the text lacks cost, and words of the text that stand for others.
    private static func missing(_ matching: inout Matching) -> Double {
        var cost = 0.0
        for word in matching.openWords {
            if Abbreviations.streetTypes.contains(word) {
                cost += matching.takeUnused(of: Abbreviations.streetTypes) ? Cost.otherType : Cost.missingType
            } else if Abbreviations.directions.contains(word) {
                cost += matching.takeUnused(of: Abbreviations.directions) ? Cost.otherDirection : Cost.missingDirection
            } else {
                cost += Cost.missingWord
            }
        }
        return cost
    }

    /// What the words cost that are of no use in the end.
    static func cost(ofUnused unused: [Int], in tokens: [TextToken]) -> Double {
        unused.reduce(0) { sum, index in
            let token = tokens[index]
            let isWeak =
                token.startsWithDigit || Abbreviations.streetTypes.contains(token.text)
                || Abbreviations.directions.contains(token.text) || Abbreviations.unitMarkers.contains(token.text)
                || token.text.utf8.count == 1
            return sum + (isWeak ? Cost.unusedNumber : Cost.unusedWord)
        }
    }

    fileprivate static let prefixCost = Cost.prefix
}

/// The state of an alignment: which tokens and which words are still open.
private struct Matching {
    let tokens: [TextToken]
    let words: [String]
    let prefix: Int?
    private var isUsed: [Bool]
    private var isMatched: [Bool]
    private(set) var nameTokens: [Int] = []

    init(tokens: [TextToken], words: [String], prefix: Int?) {
        self.tokens = tokens
        self.words = words
        self.prefix = prefix
        isUsed = Array(repeating: false, count: tokens.count)
        isMatched = Array(repeating: false, count: words.count)
    }

    var unused: [Int] { isUsed.indices.filter { !isUsed[$0] } }
    var openWords: [String] { words.indices.filter { !isMatched[$0] }.map { words[$0] } }

    private mutating func match(_ token: Int, _ word: Int) {
        isUsed[token] = true
        isMatched[word] = true
        nameTokens.append(token)
    }

    /// Words that are equal, and the last one as the beginning of a word.
    mutating func exact() -> Double {
        for token in tokens.indices {
            if let word = words.indices.first(where: { !isMatched[$0] && words[$0] == tokens[token].text }) {
                match(token, word)
            }
        }
        guard let prefix, !isUsed[prefix],
            let word = words.indices.first(where: { !isMatched[$0] && words[$0].hasPrefix(tokens[prefix].text) })
        else { return 0 }
        match(prefix, word)
        return Alignment.prefixCost
    }

    mutating func misspelt(_ costOfEdit: Double) -> Double {
        var cost = 0.0
        for token in tokens.indices where !isUsed[token] {
            var best: (word: Int, edits: Int)?
            for word in words.indices where !isMatched[word] {
                guard let edits = EditDistance.between(tokens[token].text, words[word]), edits < best?.edits ?? .max
                else {
                    continue
                }
                best = (word, edits)
            }
            if let best {
                match(token, best.word)
                cost += costOfEdit * Double(best.edits)
            }
        }
        return cost + joined(costOfEdit)
    }

    /// A blank too much or too few.
    private mutating func joined(_ costOfEdit: Double) -> Double {
        var cost = 0.0
        for token in tokens.indices.dropLast() where !isUsed[token] && !isUsed[token + 1] {
            let together = tokens[token].text + tokens[token + 1].text
            guard let word = words.indices.first(where: { !isMatched[$0] && words[$0] == together }) else { continue }
            match(token, word)
            isUsed[token + 1] = true
            cost += costOfEdit
        }
        for word in words.indices.dropLast() where !isMatched[word] && !isMatched[word + 1] {
            let together = words[word] + words[word + 1]
            guard let token = tokens.indices.first(where: { !isUsed[$0] && tokens[$0].text == together }) else {
                continue
            }
            match(token, word)
            isMatched[word + 1] = true
            cost += costOfEdit
        }
        return cost
    }

    /// Words of the town, the state and so on; each may be said more than once.
    mutating func inZone(_ zone: Set<String>, _ costOfEdit: Double?) -> Double {
        var cost = 0.0
        for token in tokens.indices where !isUsed[token] {
            let text = tokens[token].text
            if zone.contains(text) {
                isUsed[token] = true
            } else if token == prefix, zone.contains(where: { $0.hasPrefix(text) }) {
                isUsed[token] = true
                cost += Alignment.prefixCost
            } else if let costOfEdit, !tokens[token].startsWithDigit, text.utf8.count > 2,
                let edits = zone.lazy.compactMap({ EditDistance.between(text, $0) }).min()
            {
                isUsed[token] = true
                cost += costOfEdit * Double(edits)
            }
        }
        return cost
    }

    /// Takes an open token that is one of some words.
    mutating func takeUnused(of words: Set<String>) -> Bool {
        guard let token = tokens.indices.first(where: { !isUsed[$0] && words.contains(tokens[$0].text) }) else {
            return false
        }
        isUsed[token] = true
        return true
    }
}
