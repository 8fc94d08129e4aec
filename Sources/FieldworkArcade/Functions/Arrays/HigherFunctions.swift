/// Functions of arrays that call others.
enum HigherFunctions {
    static let all: [Builtin] = [
        .two("All") { machine, array, test in .boolean(try first(machine, array, test, where: false) == nil) },
        .two("Any") { machine, array, test in .boolean(try first(machine, array, test, where: true) != nil) },
        .two("None") { machine, array, test in .boolean(try first(machine, array, test, where: true) == nil) },
        .two("Filter", filter),
        .two("Map") { machine, array, change in
            let elements = try Arguments.array(array, "The first value of Map").elements
            let change = try Arguments.function(change, "The second value of Map")
            return try machine.array(try elements.map { try machine.call(change, [$0]) })
        },
        .many("Reduce", 2...3) { machine, arguments in
            var elements = try Arguments.array(arguments[0], "The first value of Reduce").elements[...]
            let join = try Arguments.function(arguments[1], "The second value of Reduce")
            guard var result = arguments.count > 2 ? arguments[2] : elements.popFirst() else { return .null }
            for element in elements { result = try machine.call(join, [result, element]) }
            return result
        },
        .two("Sort", optional: true, sort),
    ]

    private static func holds(_ machine: Machine, _ test: FunctionValue, _ element: Value) throws -> Bool {
        try machine.charge(1)
        return Coercion.boolean(try machine.call(test, [element]))
    }

    /// The place of the first element for which a test says so.
    private static func first(
        _ machine: Machine, _ array: Value, _ test: Value, where wanted: Bool
    ) throws -> Int? {
        let elements = try Arguments.array(array, "The first value").elements
        let test = try Arguments.function(test, "The second value")
        return try elements.firstIndex { try holds(machine, test, $0) == wanted }
    }

    static func filter(_ machine: Machine, _ values: Value, _ test: Value) throws -> Value {
        let elements = try Arguments.array(values, "The first value of Filter").elements
        let test = try Arguments.function(test, "The second value of Filter")
        return try machine.array(try elements.filter { try holds(machine, test, $0) })
    }

    private static func sort(_ machine: Machine, _ array: Value, _ comparator: Value) throws -> Value {
        let elements = try Arguments.array(array, "The first value of Sort").elements
        if !comparator.isNull {
            let compare = try Arguments.function(comparator, "The second value of Sort")
            return try machine.array(
                try MergeSort.sorted(elements) { one, other in
                    try machine.charge(1)
                    let order = try machine.call(compare, [one, other])
                    if case .boolean(let precedes) = order { return precedes }
                    return try Coercion.number(order) < 0
                })
        }
        let filled = elements.filter { !$0.isNull }
        let nulls = elements.filter(\.isNull)
        return try machine.array(try naturalOrder(filled, machine) + nulls)
    }

    /// Values of one type by their own order, mixed ones by their texts; dictionaries and the like stay in place.
    private static func naturalOrder(_ values: [Value], _ machine: Machine) throws -> [Value] {
        try machine.charge(values.count * 4)
        let types = Set(values.map(\.typeName))
        let ordered: Set<String> = ["Number", "Text", "Boolean", "Date", "DateOnly", "Time"]
        guard types.isSubset(of: ordered) else { return values }
        if types.count == 1, types != ["Text"] {
            let keys = try values.map(Coercion.number)
            let places = MergeSort.sorted(Array(values.indices)) { keys[$0] < keys[$1] }
            return places.map { values[$0] }
        }
        let keys = try values.map { try Coercion.text($0, machine) }
        let places = try MergeSort.sorted(Array(values.indices)) { one, other in
            try machine.charge(1)
            return TextUnits.precedes(keys[one], keys[other])
        }
        return places.map { values[$0] }
    }
}
