/// What it costs to look for a text in another: the product of their lengths, within one comparison, where no database can be stopped.
/// The texts of the request itself are limited by the parser; here those of fields count as well.
extension SQLExpression {
    /// Throws when the search could take too long.
    static func checkSearch(
        of needle: SQLExpression, in text: SQLExpression, _ layer: LayerDefinition
    ) throws(ServiceError) {
        let product = needle.characters(in: layer) * text.characters(in: layer)
        guard product <= Double(Limits.whereSearchProduct) else {
            throw .invalidQuery(
                "A text of up to \(Int(needle.characters(in: layer))) characters can't be looked for in one of up to \(Int(text.characters(in: layer))). Look for a shorter one."
            )
        }
    }

    /// Characters of all texts in it: so many may the text that it gives have at most.
    private func characters(in layer: LayerDefinition) -> Double {
        switch self {
        case .literal(.string(let text)): return Double(text.utf8.count)
        case .literal, .current: return Self.plainCharacters
        case .field(let name):
            guard let field = layer.field(named: name), field.type == .string else { return Self.plainCharacters }
            let length = field.length > 0 ? field.length : Limits.whereTextCharacters
            return Double(min(length, Limits.whereTextCharacters))
        case .not(let value), .negate(let value), .isNull(let value, _), .extract(_, let value), .cast(let value, _):
            return value.characters(in: layer)
        case .binary(_, let left, let right), .like(let left, let right, _, _):
            return left.characters(in: layer) + right.characters(in: layer)
        case .inList(let value, _, _), .between(let value, _, _, _): return value.characters(in: layer)
        case .caseWhen(_, let branches, let otherwise):
            return branches.reduce(otherwise?.characters(in: layer) ?? 0) {
                max($0, $1.result.characters(in: layer))
            }
        case .function(_, let arguments): return arguments.reduce(0) { $0 + $1.characters(in: layer) }
        }
    }

    /// Of a number, a date or an id.
    private static let plainCharacters = 40.0
}

extension SQLFunction {
    /// Whether it looks for one of its texts in the other.
    var searches: Bool { [.trimBoth, .trimLeading, .trimTrailing, .position].contains(self) }
}
