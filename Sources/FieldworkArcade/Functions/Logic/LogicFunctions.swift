import FieldworkGeometry

/// Functions about types and truth.
enum LogicFunctions {
    static let all: [Builtin] = [
        .one("Boolean") { _, value in .boolean(Coercion.boolean(value)) },
        .one("IsEmpty") { _, value in
            switch value {
            case .null: .boolean(true)
            case .text(let text): .boolean(text.isEmpty)
            case .geometry(let geometry): .boolean(geometry.isEmpty)
            default: .boolean(false)
            }
        },
        .one("IsNan") { _, value in
            if case .number(let number) = value { .boolean(number.isNaN) } else { .boolean(false) }
        },
        .one("TypeOf") { _, value in .text(value.typeName) },
        .two("Equals") { machine, one, other in
            if let (left, right) = try GeometryArguments.pairForEquals(one, other, machine) {
                return .boolean(GeometryEngine.isGeometry(left, equivalentTo: right))
            }
            return .boolean(Equality.areEqual(one, other))
        },
        // Both are evaluated by the compiler, which runs only what they choose; this is for the function as a value.
        .many("IIf", 3...3) { _, arguments in try choose(arguments, "IIf") },
        .many("When", 3...Builtin.any) { _, arguments in
            guard arguments.count % 2 == 1 else { throw ArcadeError.runtime("When needs a default as its last value.") }
            return try choose(arguments, "When")
        },
        .many("Decode", 3...Builtin.any) { _, arguments in
            for index in stride(from: 1, to: arguments.count - 1, by: 2) {
                if Equality.areEqual(arguments[0], arguments[index]) { return arguments[index + 1] }
            }
            return arguments.count % 2 == 0 ? arguments[arguments.count - 1] : .null
        },
        .many("DefaultValue", 2...3, defaultValue),
    ]

    private static func choose(_ arguments: [Value], _ name: String) throws -> Value {
        for index in stride(from: 0, to: arguments.count - 1, by: 2) {
            if try Arguments.truth(arguments[index], "A condition of \(name)") { return arguments[index + 1] }
        }
        return arguments[arguments.count - 1]
    }

    private static func isMissing(_ value: Value) -> Bool {
        switch value {
        case .null: true
        case .text(let text): text.isEmpty
        default: false
        }
    }

    private static func defaultValue(_ machine: Machine, _ arguments: [Value]) throws -> Value {
        if arguments.count == 2 { return isMissing(arguments[0]) ? arguments[1] : arguments[0] }
        var found = arguments[0]
        let path: [Value]
        if case .array(let keys) = arguments[1] { path = keys.elements } else { path = [arguments[1]] }
        for key in path {
            guard let next = try DictionaryFunctions.find(key, in: found, machine) else { return arguments[2] }
            found = next
        }
        return isMissing(found) ? arguments[2] : found
    }
}
