import FieldworkGeometry

extension SQLExpression {
    /// The expression with its fields spelled as the layer spells them, and with texts that stand beside a date read as
    /// dates. Throws for a field that the layer doesn't have.
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
            return Self.dated(sign, try left.bound(to: layer), try right.bound(to: layer), layer)
        case .isNull(let value, let negated): return .isNull(try value.bound(to: layer), negated: negated)
        case .like(let value, let pattern, let escape, let negated):
            return .like(
                try value.bound(to: layer), pattern: try pattern.bound(to: layer), escape: escape, negated: negated)
        case .inList(let value, let list, let negated):
            let value = try value.bound(to: layer)
            return .inList(
                value, try Self.bind(list, layer).map { $0.asTimestamp(if: value.isDate(in: layer)) }, negated: negated)
        case .between(let value, let lower, let upper, let negated):
            let value = try value.bound(to: layer)
            let isDate = value.isDate(in: layer)
            return .between(
                value, lower: try lower.bound(to: layer).asTimestamp(if: isDate),
                upper: try upper.bound(to: layer).asTimestamp(if: isDate), negated: negated)
        case .caseWhen(let operand, let branches, let otherwise):
            var bound: [SQLCaseBranch] = []
            for branch in branches {
                bound.append(
                    SQLCaseBranch(
                        condition: try branch.condition.bound(to: layer), result: try branch.result.bound(to: layer)))
            }
            return .caseWhen(
                operand: try Self.bind(operand, layer), branches: bound, otherwise: try Self.bind(otherwise, layer))
        case .function(let function, let arguments): return .function(function, try Self.bind(arguments, layer))
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

    private static func dated(
        _ sign: SQLBinaryOperator, _ left: SQLExpression, _ right: SQLExpression, _ layer: LayerDefinition
    ) -> SQLExpression {
        switch sign {
        case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual:
            .binary(
                sign, left.asTimestamp(if: right.isDate(in: layer)), right.asTimestamp(if: left.isDate(in: layer)))
        default: .binary(sign, left, right)
        }
    }

    /// Whether the value is a moment: a date field, a literal, or a sum with one.
    package func isDate(in layer: LayerDefinition) -> Bool {
        switch self {
        case .field(let name): layer.field(named: name)?.type == .date
        case .literal(.date), .literal(.timestamp), .current(.date), .current(.timestamp), .cast(_, .timestamp): true
        case .binary(.add, let left, let right), .binary(.subtract, let left, let right):
            left.isDate(in: layer) != right.isDate(in: layer)
        default: false
        }
    }

    /// A text that reads as a moment, as a moment: services take `d > '2020-01-01'`.
    private func asTimestamp(if isDate: Bool) -> SQLExpression {
        guard isDate, case .literal(.string(let text)) = self, let moment = SQLDateText.timestamp(text) else {
            return self
        }
        return .literal(.timestamp(moment))
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
