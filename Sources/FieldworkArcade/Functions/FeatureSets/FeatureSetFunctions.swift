import FieldworkGeometry

/// Functions of feature sets, and those that arrays and texts share with them.
enum FeatureSetFunctions {
    static let all: [Builtin] = [
        .one("Count") { machine, value in
            switch value {
            case .text(let text): return .number(Double(TextUnits.count(text)))
            case .array(let array): return .number(Double(array.elements.count))
            case .dictionary(let dictionary): return .number(Double(dictionary.count))
            case .featureSet(let features): return .number(Double(try features.count(machine)))
            case .null: return .number(0)
            default: throw ArcadeError.runtime("Count needs a text, an array or features, and got \(value.kindName).")
            }
        },
        .one("First") { machine, value in
            switch value {
            case .array(let array): return array.elements.first ?? .null
            case .featureSet(let features):
                return try features.first(machine).map { .feature(FeatureObject($0, source: features)) } ?? .null
            case .null: return .null
            default: throw ArcadeError.runtime("First needs an array or features, and got \(value.kindName).")
            }
        },
        .two("Top") { machine, value, count in
            let count = max(0, try Arguments.whole(count, "The number"))
            switch value {
            case .array(let array): return try machine.array(Array(array.elements.prefix(count)))
            case .featureSet(let features):
                return try machine.featureSet(features.query.limited(count), parent: features)
            default: throw ArcadeError.runtime("Top needs an array or features, and got \(value.kindName).")
            }
        },
        .two("OrderBy", .dataAccess) { machine, value, order in
            let features = try featureSet(value, "OrderBy")
            let terms = try SQLParser.order(try Arguments.text(order, "The order", machine))
            return try machine.featureSet(features.query.ordered(terms), parent: features)
        },
        .many("GroupBy", 3...3, .dataAccess) { machine, arguments in
            let features = try featureSet(arguments[0], "GroupBy")
            let columns = try keys(arguments[1], machine) + statistics(arguments[2], machine)
            return try machine.featureSet(features.query.grouped(ArcadeGrouping(columns: columns)), parent: features)
        },
    ]

    static func featureSet(_ value: Value, _ name: String) throws -> FeatureSetObject {
        guard case .featureSet(let features) = value else {
            throw ArcadeError.runtime("\(name) needs features, and got \(value.kindName).")
        }
        return features
    }

    /// Features with each combination of values once.
    static func distinct(_ machine: Machine, _ features: FeatureSetObject, _ arguments: [Value]) throws -> Value {
        let columns = try keys(arguments.count > 1 ? arguments[1] : .null, machine)
        return try machine.featureSet(features.query.grouped(ArcadeGrouping(columns: columns)), parent: features)
    }

    /// Columns that tell groups apart: a name, `{name, expression}`, or an array of them.
    private static func keys(_ value: Value, _ machine: Machine) throws -> [ArcadeGrouping.Column] {
        switch value {
        case .array(let array): return try array.elements.flatMap { try keys($0, machine) }
        case .text(let name): return [ArcadeGrouping.Column(name: name, expression: .field(name))]
        case .dictionary(let dictionary):
            let (name, expression) = try column(dictionary, machine)
            return [ArcadeGrouping.Column(name: name, expression: expression)]
        default:
            throw ArcadeError.runtime("Groups are named by fields or {name, expression}, not by \(value.kindName).")
        }
    }

    private static func statistics(_ value: Value, _ machine: Machine) throws -> [ArcadeGrouping.Column] {
        switch value {
        case .array(let array): return try array.elements.flatMap { try statistics($0, machine) }
        case .dictionary(let dictionary):
            let (name, expression) = try column(dictionary, machine)
            let word = try Coercion.text(dictionary["statistic"] ?? .null, machine).uppercased()
            let names = ["AVERAGE": "AVG", "MEAN": "AVG", "STDDEV": "STDEV", "VARIANCE": "VAR"]
            guard let statistic = ArcadeStatistic(rawValue: names[word] ?? word) else {
                throw ArcadeError.runtime("“\(word)” is no statistic: SUM, COUNT, MIN, MAX, AVG, STDEV or VAR.")
            }
            return [ArcadeGrouping.Column(name: name, expression: expression, statistic: statistic)]
        default:
            throw ArcadeError.runtime("A statistic is {name, expression, statistic}, and not \(value.kindName).")
        }
    }

    private static func column(
        _ dictionary: DictionaryObject, _ machine: Machine
    ) throws -> (String, SQLExpression) {
        let name = try Coercion.text(dictionary["name"] ?? .null, machine)
        let text = try Coercion.text(dictionary["expression"] ?? .text(name), machine)
        let expression = try SQLParser.parse(text) { throw ArcadeError.runtime("A group can't hold @\($0).") }
        return (name, expression)
    }
}
