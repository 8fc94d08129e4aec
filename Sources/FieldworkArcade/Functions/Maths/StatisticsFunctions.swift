/// Functions over many numbers: values, arrays or the values of features.
enum StatisticsFunctions {
    static let all: [Builtin] = [
        function("Sum", .sum), function("Max", .max), function("Min", .min), function("Average", .average),
        function("Mean", .average), function("Stdev", .stdev), function("Variance", .variance),
    ]

    private static func function(_ name: String, _ statistic: ArcadeStatistic) -> Builtin {
        .many(name, 1...Builtin.any) { machine, arguments in
            switch arguments[0] {
            case .featureSet(let features):
                guard arguments.count == 2 else {
                    throw ArcadeError.runtime("\(name) of features needs a field or an SQL expression.")
                }
                let text = try Arguments.text(arguments[1], "The field", machine)
                let expression = try SQLParser.parse(text) { name in
                    throw ArcadeError.runtime("A statistic can't hold @\(name).")
                }
                return machine.value(try features.statistic(statistic, of: expression, machine))
            case .array(let array): return try value(statistic, array.elements, machine)
            case .null where arguments.count == 1: return .null
            default: return try value(statistic, arguments, machine)
            }
        }
    }

    private static func value(_ statistic: ArcadeStatistic, _ values: [Value], _ machine: Machine) throws -> Value {
        try machine.charge(values.count)
        // What is not there does not count.
        let numbers = try values.compactMap { $0.isNull ? nil : try Coercion.number($0) }
        if numbers.isEmpty { return statistic == .sum ? .number(0) : .null }
        return Statistics.value(statistic, numbers).map(Value.number) ?? .null
    }
}
