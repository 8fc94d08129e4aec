import FieldworkGeometry

extension SQLExpression {
    /// The expression with its fields spelled as the layer spells them, and with literals read as what they are
    /// compared with. Throws for a field that the layer doesn't have and for comparisons of numbers with texts.
    package func bound(to layer: LayerDefinition) throws(ServiceError) -> SQLExpression {
        switch self {
        case .literal, .current: return self
        case .field(let name):
            // `table.field` is how some clients qualify a name.
            let bare = name.split(separator: ".").last.map(String.init) ?? name
            guard let field = layer.field(named: name) ?? layer.field(named: bare) else {
                throw .invalidQuery("'Invalid field: \(name)' parameter is invalid")
            }
            guard field.type != .geometry, field.type != .blob else {
                throw .invalidQuery("The field \(field.name) can't be compared.")
            }
            return .field(field.name)
        case .not(let value): return .not(try value.bound(to: layer))
        case .negate(let value): return .negate(try value.bound(to: layer))
        case .binary(let sign, let left, let right):
            return try Self.matched(sign, try left.bound(to: layer), try right.bound(to: layer), layer)
        case .isNull(let value, let negated): return .isNull(try value.bound(to: layer), negated: negated)
        case .like(let value, let pattern, let escape, let negated):
            let (value, pattern) = (try value.bound(to: layer), try pattern.bound(to: layer))
            try Self.checkSearch(of: pattern, in: value, layer)
            return .like(value, pattern: pattern, escape: escape, negated: negated)
        case .inList(let value, let list, let negated):
            let list = try Self.bind(list, layer)
            let value = try value.bound(to: layer).inDays(beside: list, in: layer)
            var members: [SQLExpression] = []
            members.reserveCapacity(list.count)
            let kind = value.kind(in: layer)
            for member in list {
                members.append(try member.matching(value, of: kind, isOrdered: false, in: layer))
            }
            return .inList(value, members, negated: negated)
        case .between(let value, let lower, let upper, let negated):
            let (lower, upper) = (try lower.bound(to: layer), try upper.bound(to: layer))
            let value = try value.bound(to: layer).inDays(beside: [lower, upper], in: layer)
            return .between(
                value, lower: try lower.matching(value, isOrdered: true, in: layer),
                upper: try upper.matching(value, isOrdered: true, in: layer), negated: negated)
        case .caseWhen(let operand, let branches, let otherwise):
            var bound: [SQLCaseBranch] = []
            for branch in branches {
                bound.append(
                    SQLCaseBranch(
                        condition: try branch.condition.bound(to: layer), result: try branch.result.bound(to: layer)))
            }
            return .caseWhen(
                operand: try Self.bind(operand, layer), branches: bound, otherwise: try Self.bind(otherwise, layer))
        case .function(let function, let arguments):
            let bound = try Self.bind(arguments, layer)
            if function.searches, bound.count == 2 { try Self.checkSearch(of: bound[0], in: bound[1], layer) }
            return .function(function, bound)
        case .extract(let part, let value): return .extract(part, from: try value.bound(to: layer))
        case .cast(let value, let type): return .cast(try value.bound(to: layer), type)
        }
    }

    private static func bind(_ list: [SQLExpression], _ layer: LayerDefinition) throws(ServiceError) -> [SQLExpression]
    {
        var bound: [SQLExpression] = []
        for expression in list { bound.append(try expression.bound(to: layer)) }
        return bound
    }

    private static func bind(
        _ expression: SQLExpression?, _ layer: LayerDefinition
    ) throws(ServiceError) -> SQLExpression? {
        guard let expression else { return nil }
        return try expression.bound(to: layer)
    }

    private static func matched(
        _ sign: SQLBinaryOperator, _ left: SQLExpression, _ right: SQLExpression, _ layer: LayerDefinition
    ) throws(ServiceError) -> SQLExpression {
        switch sign {
        case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual:
            let isOrdered = sign != .equal && sign != .notEqual
            return .binary(
                sign, try left.matching(right, isOrdered: isOrdered, in: layer),
                try right.matching(left, isOrdered: isOrdered, in: layer))
        case .add, .subtract:
            return .binary(sign, left.inDays(beside: [right], in: layer), right.inDays(beside: [left], in: layer))
        default: return .binary(sign, left, right)
        }
    }

    /// An interval as the number of its days where it stands beside numbers, which count days: what lies between two dates
    /// is such a number, and is compared with intervals. Everything else as it is.
    private func inDays(beside others: [SQLExpression], in layer: LayerDefinition) -> SQLExpression {
        guard kind(in: layer) == .interval, others.contains(where: { $0.kind(in: layer) == .number }) else {
            return self
        }
        if case .literal(.interval(let milliseconds)) = self {
            return .literal(.real(Double(milliseconds) / Self.millisecondsPerDay))
        }
        return .cast(.binary(.divide, self, .literal(.real(Self.millisecondsPerDay))), .real)
    }

    private static let millisecondsPerDay = 86_400_000.0

    /// The value as the kind of what it is compared with: services take `d > '2020-01-01'`, `height = '10'` and
    /// `code = 10`. Throws for a comparison that can't be meant.
    /// - Parameter otherKind: the kind of the other where it is known: for a list it is found once.
    private func matching(
        _ other: SQLExpression, of otherKind: SQLValueKind? = nil, isOrdered: Bool, in layer: LayerDefinition
    ) throws(ServiceError) -> SQLExpression {
        switch (kind(in: layer), otherKind ?? other.kind(in: layer)) {
        case (.interval, .number): return inDays(beside: [other], in: layer)
        case (.text, .date):
            guard case .literal(.string(let text)) = self, let moment = SQLDateText.timestamp(text) else { break }
            return .literal(.timestamp(moment))
        case (.text, .time):
            guard case .literal(.string(let text)) = self, let time = SQLDateText.time(text) else { break }
            return .literal(.time(time))
        case (.text, .number):
            if case .literal(.string(let text)) = self {
                if let number = Int64(text) { return .literal(.integer(number)) }
                if let number = Double(text), number.isFinite { return .literal(.real(number)) }
                throw .invalidQuery("'\(text.prefix(64))' is compared with a number and is none.")
            }
            // The other side is a number as it was written; its own turn makes it a text.
            if other.isNumberLiteral, !isOrdered { return self }
            throw .invalidQuery("A text is compared with a number. Use CAST.")
        case (.number, .text):
            if case .literal(.string) = other { return self }
            guard !isOrdered else { throw .invalidQuery("A number is compared with a text. Use CAST.") }
            switch self {
            case .literal(.integer(let number)): return .literal(.string(String(number)))
            case .literal(.real(let number)): return .literal(.string("\(number)"))
            default: throw .invalidQuery("A number is compared with a text. Use CAST.")
            }
        default: break
        }
        return self
    }

    private var isNumberLiteral: Bool {
        switch self {
        case .literal(.integer), .literal(.real): true
        default: false
        }
    }

    /// The names of all fields in it.
    package var fieldNames: Set<String> {
        switch self {
        case .literal, .current: []
        case .field(let name): [name]
        case .not(let value), .negate(let value), .isNull(let value, _), .extract(_, let value), .cast(let value, _):
            value.fieldNames
        case .binary(_, let left, let right), .like(let left, let right, _, _): left.fieldNames.union(right.fieldNames)
        case .inList(let value, let list, _): list.reduce(value.fieldNames) { $0.union($1.fieldNames) }
        case .between(let value, let lower, let upper, _):
            value.fieldNames.union(lower.fieldNames).union(upper.fieldNames)
        case .caseWhen(let operand, let branches, let otherwise):
            branches.reduce((operand?.fieldNames ?? []).union(otherwise?.fieldNames ?? [])) {
                $0.union($1.condition.fieldNames).union($1.result.fieldNames)
            }
        case .function(_, let arguments): arguments.reduce([]) { $0.union($1.fieldNames) }
        }
    }
}
