import FieldworkREST

/// What a `LIKE` pattern demands of a text, for an index that looks for parts of texts. The index may find too much, never too little:
/// the condition itself is asked of all that it finds.
struct TextPattern: Hashable, Sendable {
    enum Part: Hashable, Sendable {
        case literal(Unicode.Scalar)
        /// `_`
        case one
        /// `%`
        case any
    }

    let parts: [Part]
    /// Whether the text is compared as it is, not by `UPPER` or `LOWER`.
    let isPlain: Bool

    /// Longer patterns are left to the condition.
    private static let longest = 1_000

    /// nil for a pattern whose meaning is not sure: then no index is asked.
    init?(_ pattern: String, escape: Character?, isPlain: Bool) {
        var mark: Unicode.Scalar?
        if let escape {
            guard escape.unicodeScalars.count == 1, let only = escape.unicodeScalars.first, only != "%", only != "_"
            else {
                return nil
            }
            mark = only
        }
        var parts: [Part] = []
        var isEscaped = false
        for scalar in pattern.unicodeScalars {
            // SQLite reads a pattern up to its first U+0000.
            guard scalar.value != 0, parts.count < Self.longest else { return nil }
            if isEscaped {
                parts.append(.literal(scalar))
                isEscaped = false
            } else if scalar == mark {
                isEscaped = true
            } else {
                parts.append(scalar == "%" ? .any : scalar == "_" ? .one : .literal(scalar))
            }
        }
        guard !isEscaped else { return nil }
        self.parts = parts
        self.isPlain = isPlain
    }

    /// The stretches of characters without a wildcard between them, and without characters that an index does not fold as the
    /// condition compares them.
    func runs(dependable: (Unicode.Scalar) -> Bool) -> [[Unicode.Scalar]] {
        var runs: [[Unicode.Scalar]] = []
        var run: [Unicode.Scalar] = []
        for part in parts {
            if case .literal(let scalar) = part, dependable(scalar) {
                run.append(scalar)
            } else {
                runs.append(run)
                run = []
            }
        }
        return (runs + [run]).filter { $0.count >= Self.gram }
    }

    /// The length of the pieces by which both databases find texts.
    static let gram = 3
}

/// The characters beyond ASCII that `UPPER` or `LOWER` make ASCII of. An index holds texts with these letters in place of them, and so
/// finds them by either.
enum FoldedLetters {
    static let pairs: [(from: Unicode.Scalar, to: Unicode.Scalar)] = [
        ("\u{131}", "i"), ("\u{130}", "i"), ("\u{17F}", "s"), ("\u{212A}", "k"),
    ]

    static func fold(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        if scalar.isASCII { return Unicode.Scalar(LetterCase.lower.ascii(UInt8(scalar.value))) }
        return pairs.first { $0.from == scalar }?.to ?? scalar
    }

    /// Characters that are another one in some case, and those that they are then.
    static let cased: Set<Unicode.Scalar> = {
        var cased: Set<Unicode.Scalar> = []
        for mapping in [LetterCase.upper.mapping, LetterCase.lower.mapping] {
            cased.formUnion(mapping.keys)
            cased.formUnion(mapping.values)
        }
        return cased
    }()
}
