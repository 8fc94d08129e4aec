import FieldworkGeometry
import FieldworkREST

/// Indexes that a layer would gain by, from what its definition says is asked of it: no query is watched.
struct IndexProposals {
    struct Proposal: Equatable {
        var field: String
        var isText: Bool
        var reason: String

        var option: String { isText ? "--text \(field)" : "--add \(field)" }
    }

    let layer: LayerDefinition
    let count: Int
    /// The first field of each index, and the fields of text indexes, in small letters.
    let indexed: Set<String>
    let texts: Set<String>

    /// A walk through fewer features is as fast as an index.
    static let fewest = 10_000

    func all() -> [Proposal] {
        guard count >= Self.fewest else { return [] }
        var proposals: [Proposal] = []
        if let shown = layer.displayField.flatMap({ layer.field(named: $0) }), shown.type == .string,
            !texts.contains(shown.name.lowercased())
        {
            proposals.append(
                Proposal(field: shown.name, isText: true, reason: "the display field, by which people search"))
        }
        for text in LayerDefinition.conditionMembers.compactMap({ layer.unknownMembers[$0]?.stringValue }) {
            guard let condition = try? SQLParser.parse(where: text) else { continue }
            for name in Self.compared(condition, levels: 16) {
                guard let field = layer.field(named: name), !indexed.contains(field.name.lowercased()),
                    !proposals.contains(where: { $0.field == field.name && !$0.isText })
                else { continue }
                proposals.append(
                    Proposal(field: field.name, isText: false, reason: "every query of the layer compares it (\(text))")
                )
            }
        }
        return proposals
    }

    /// The fields whose values must be in some range wherever a condition holds.
    private static func compared(_ condition: SQLExpression, levels: Int) -> [String] {
        guard levels > 0 else { return [] }
        switch condition {
        case .binary(.and, _, _): return SQLChain(.and, condition).terms.flatMap { compared($0, levels: levels - 1) }
        case .binary(let sign, .field(let name), let value)
        where [.equal, .less, .lessOrEqual, .greater, .greaterOrEqual].contains(sign):
            if case .literal = value { return [name] }
            return []
        case .inList(.field(let name), _, negated: false), .between(.field(let name), _, _, negated: false):
            return [name]
        default: return []
        }
    }
}
