/// What an expression yields, as far as its fields and literals tell: decides what may stand beside it, what a sum means
/// and which type a column of such values has.
package enum SQLValueKind: Sendable, Hashable {
    /// `date` is a moment in milliseconds, `interval` a span of them. `other` can't be compared.
    case number, text, date, time, interval, truth, guid, null, other

    package init(_ type: FieldType) {
        self =
            switch type {
            case .oid, .smallInteger, .integer, .bigInteger, .single, .double: .number
            case .string, .xml: .text
            case .guid, .globalID: .guid
            case .date, .dateOnly, .timestampOffset: .date
            case .timeOnly: .time
            case .blob, .raster, .geometry: .other
            }
    }

    /// The type of a column of such values.
    package var fieldType: FieldType {
        switch self {
        case .number, .interval, .null, .other: .double
        case .truth: .integer
        case .text, .time, .guid: .string
        case .date: .date
        }
    }
}

extension SQLExpression {
    /// - Parameter field: the kind of a field by its name.
    package func kind(_ field: (String) -> SQLValueKind) -> SQLValueKind {
        switch self {
        case .literal(let literal): return literal.kind
        case .field(let name): return field(name)
        case .not, .isNull, .like, .inList, .between: return .truth
        case .negate(let value): return value.kind(field)
        case .binary(let sign, let left, let right):
            switch sign {
            case .concatenate: return .text
            case .add, .subtract, .multiply, .divide: return Self.kind(of: sign, left.kind(field), right.kind(field))
            default: return .truth
            }
        case .caseWhen(_, let branches, let otherwise):
            return Self.commonKind(branches.map(\.result) + (otherwise.map { [$0] } ?? []), field)
        case .function(let function, let arguments):
            switch function {
            case .coalesce, .nullIf: return Self.commonKind(arguments, field)
            case .concat, .lower, .upper, .substring, .trimBoth, .trimLeading, .trimTrailing: return .text
            default: return .number
            }
        case .extract, .cast(_, .integer), .cast(_, .real): return .number
        case .cast(_, .text), .current(.user): return .text
        case .cast(_, .timestamp), .current(.date), .current(.timestamp): return .date
        case .current(.time): return .time
        }
    }

    package func kind(in layer: LayerDefinition) -> SQLValueKind {
        kind { name in layer.field(named: name).map { SQLValueKind($0.type) } ?? .other }
    }

    /// The kind of a sum or a product: a date less a date is a number, of days; how often an interval goes into another is
    /// a number as well.
    static func kind(of sign: SQLBinaryOperator, _ left: SQLValueKind, _ right: SQLValueKind) -> SQLValueKind {
        if sign == .divide, left == .interval, right == .interval { return .number }
        if sign == .subtract, left == .date, right == .date { return .number }
        for kind in [SQLValueKind.date, .time, .interval] where left == kind || right == kind { return kind }
        return .number
    }

    /// What the values of a list have in common: the first that is more than a text or nothing.
    private static func commonKind(_ values: [SQLExpression], _ field: (String) -> SQLValueKind) -> SQLValueKind {
        var common = SQLValueKind.null
        for value in values {
            let kind = value.kind(field)
            switch (common, kind) {
            case (.null, _), (.text, .date), (.text, .time), (.text, .guid), (.number, .date): common = kind
            default: break
            }
        }
        return common
    }
}

extension SQLLiteral {
    var kind: SQLValueKind {
        switch self {
        case .null: .null
        case .integer, .real: .number
        case .string: .text
        case .date, .timestamp: .date
        case .time: .time
        case .interval: .interval
        }
    }
}
