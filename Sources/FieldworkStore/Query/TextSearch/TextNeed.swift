import FieldworkREST

/// What the texts of every feature must have that meets a condition, so that an index may leave out all others beforehand. `LIKE` within
/// `NOT`, `CASE` or a comparison demands nothing: such a condition may be true of features that are not like the pattern.
indirect enum TextNeed: Sendable {
    /// A column, known by its bit in the change log, has a text like a pattern.
    case like(slot: Int, TextPattern)
    case all([TextNeed])
    case any([TextNeed])

    private static let deepest = 16
    private static let mostPatterns = 64

    /// nil where a condition demands nothing of texts that an index could find.
    init?(_ condition: SQLExpression, of layer: StoredLayer) {
        guard let need = Self.need(condition, layer, Self.deepest), need.patterns <= Self.mostPatterns else {
            return nil
        }
        self = need
    }

    private var patterns: Int {
        switch self {
        case .like: 1
        case .all(let needs), .any(let needs): needs.reduce(0) { $0 + $1.patterns }
        }
    }

    private static func need(_ expression: SQLExpression, _ layer: StoredLayer, _ levels: Int) -> TextNeed? {
        guard levels > 0 else { return nil }
        switch expression {
        case .binary(.and, _, _):
            let chain = SQLChain(.and, expression)
            guard chain.decided == nil else { return nil }
            let needs = chain.terms.compactMap { need($0, layer, levels - 1) }
            return needs.isEmpty ? nil : .all(needs)
        case .binary(.or, _, _):
            let chain = SQLChain(.or, expression)
            guard chain.decided == nil, chain.terms.count <= mostPatterns else { return nil }
            var needs: [TextNeed] = []
            for term in chain.terms {
                guard let need = need(term, layer, levels - 1) else { return nil }
                needs.append(need)
            }
            return .any(needs)
        case .like(let value, let pattern, let escape, false):
            guard let (slot, isPlain) = column(value, layer), let text = text(pattern),
                let pattern = TextPattern(text, escape: escape, isPlain: isPlain)
            else { return nil }
            return .like(slot: slot, pattern)
        default: return nil
        }
    }

    /// A column of text, as it is or in one case.
    private static func column(_ value: SQLExpression, _ layer: StoredLayer) -> (slot: Int, isPlain: Bool)? {
        switch value {
        case .field(let name):
            guard let index = layer.index(of: name), layer.columns[index].kind == .text, layer.columns[index].isStored
            else { return nil }
            return (layer.slots[index], true)
        case .function(.upper, let operands), .function(.lower, let operands):
            guard let only = operands.first, operands.count == 1, case .field = only else { return nil }
            return column(only, layer).map { ($0.slot, false) }
        default: return nil
        }
    }

    /// A pattern that is known before any row is read.
    private static func text(_ pattern: SQLExpression) -> String? {
        switch pattern {
        case .literal(.string(let text)): return text
        case .function(let function, let operands) where function == .upper || function == .lower:
            guard let only = operands.first, operands.count == 1, case .literal(.string(let text)) = only else {
                return nil
            }
            return (function == .upper ? LetterCase.upper : .lower).of(text)
        default: return nil
        }
    }

    /// What is left of the demands where an index finds only some of them.
    func compactMap<Result>(
        like: (Int, TextPattern) -> Result?, all: ([Result]) -> Result, any: ([Result]) -> Result
    ) -> Result? {
        switch self {
        case .like(let slot, let pattern): return like(slot, pattern)
        case .all(let needs):
            let found = needs.compactMap { $0.compactMap(like: like, all: all, any: any) }
            return found.isEmpty ? nil : all(found)
        case .any(let needs):
            let found = needs.compactMap { $0.compactMap(like: like, all: all, any: any) }
            return found.count == needs.count ? any(found) : nil
        }
    }
}
