/// The terms of a chain of ANDs or of ORs, each once, however the tree leans. What costs a database time for each row, or more
/// than time in proportion when it reads the statement, is taken out before: equal terms, terms that are true or false of
/// themselves (`1=1`), and comparisons of one expression with many literals, which become one list.
package struct SQLChain {
    /// What is left to be joined; empty when the chain is `decided`.
    package private(set) var terms: [SQLExpression] = []
    /// The truth of the whole chain where its constants alone decide it.
    package private(set) var decided: Bool?

    private let sign: SQLBinaryOperator
    private var known: Set<SQLExpression> = []
    /// The places in `terms` of the lists that comparisons were gathered in.
    private var lists: [ListKey: Int] = [:]

    /// Literals of one kind that an expression is compared with: a list of several kinds would be compared otherwise.
    private struct ListKey: Hashable {
        var value: SQLExpression
        var kind: LiteralKind
    }

    private enum LiteralKind: Hashable {
        case integer, real, string, date, timestamp, time, interval
    }

    /// - Parameter sign: `and` or `or`, the sign of the expression.
    package init(_ sign: SQLBinaryOperator, _ expression: SQLExpression) {
        self.sign = sign
        var stack = [expression]
        while decided == nil, let top = stack.popLast() {
            if case .binary(sign, let left, let right) = top {
                stack.append(right)
                stack.append(left)
            } else {
                add(top)
            }
        }
        // Only neutral terms: the chain is as true as each of them.
        if decided == nil, terms.isEmpty { decided = sign == .and }
    }

    private mutating func add(_ term: SQLExpression) {
        if let truth = term.constantTruth {
            // True decides an OR and says nothing in an AND.
            if truth == (sign == .or) {
                decided = truth
                terms = []
            }
            return
        }
        guard known.insert(term).inserted else { return }
        guard let (key, members) = listed(term) else {
            terms.append(term)
            return
        }
        guard let place = lists[key] else {
            lists[key] = terms.count
            terms.append(term)
            return
        }
        terms[place].appendToList(members, negated: sign == .and)
    }

    /// The literals that a term compares with, in the way that a chain of its sign can gather: `x = 1 OR x = 2`,
    /// `x <> 1 AND x <> 2`.
    private func listed(_ term: SQLExpression) -> (ListKey, [SQLExpression])? {
        let value: SQLExpression
        let members: [SQLExpression]
        switch term {
        case .binary(sign == .or ? .equal : .notEqual, let left, let right): (value, members) = (left, [right])
        case .inList(let left, let list, let negated) where negated == (sign == .and): (value, members) = (left, list)
        default: return nil
        }
        guard let first = members.first, let kind = Self.kind(first), members.allSatisfy({ Self.kind($0) == kind })
        else { return nil }
        return (ListKey(value: value, kind: kind), members)
    }

    private static func kind(_ member: SQLExpression) -> LiteralKind? {
        guard case .literal(let literal) = member else { return nil }
        return switch literal {
        case .null: nil
        case .integer: .integer
        case .real: .real
        case .string: .string
        case .date: .date
        case .timestamp: .timestamp
        case .time: .time
        case .interval: .interval
        }
    }
}

extension SQLExpression {
    /// Adds members to a list, or makes a comparison one.
    fileprivate mutating func appendToList(_ more: [SQLExpression], negated: Bool) {
        switch self {
        case .inList(let value, var list, _):
            // Released first, so that the list grows in place.
            self = .literal(.null)
            list += more
            self = .inList(value, list, negated: negated)
        case .binary(_, let value, let member): self = .inList(value, [member] + more, negated: negated)
        default: break
        }
    }

    /// The truth of a comparison of two literals of one kind, such as `1=1`; nil for everything else.
    var constantTruth: Bool? {
        guard case .binary(let sign, .literal(let left), .literal(let right)) = self else { return nil }
        let order: Int?
        switch (left, right) {
        case (.integer(let one), .integer(let other)):
            order = SQLEvaluator.compare(.integer(one), .integer(other))
        case (.string(let one), .string(let other)): order = SQLEvaluator.compare(.text(one), .text(other))
        default: return nil
        }
        guard let order else { return nil }
        return switch sign {
        case .equal: order == 0
        case .notEqual: order != 0
        case .less: order < 0
        case .lessOrEqual: order <= 0
        case .greater: order > 0
        case .greaterOrEqual: order >= 0
        default: nil
        }
    }
}
