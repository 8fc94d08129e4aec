import FieldworkGeometry

/// Functions of dictionaries.
enum DictionaryFunctions {
    static let all: [Builtin] = [
        .many("Dictionary", 0...Builtin.any, make),
        .one("FromJSON") { machine, value in
            try parse(try Arguments.text(value, "The JSON", machine), machine)
        },
        .two("HasKey") { machine, container, key in
            .boolean(try find(key, in: container, machine) != nil)
        },
        .two("HasValue") { machine, container, key in
            var found = container
            let path: [Value]
            if case .array(let keys) = key { path = keys.elements } else { path = [key] }
            for key in path {
                guard let next = try find(key, in: found, machine) else { return .boolean(false) }
                found = next
            }
            return .boolean(!found.isNull)
        },
    ]

    static func parse(_ text: String, _ machine: Machine) throws -> Value {
        try machine.chargeMemory(text.utf8.count)
        do { return try machine.value(json: try JSONParser.parse(text)) } catch let error as JSONError {
            throw ArcadeError.runtime("The text is not JSON: \(error.code) at byte \(error.offset).")
        }
    }

    /// What a container holds under a key; nil when it has no such key.
    static func find(_ key: Value, in container: Value, _ machine: Machine) throws -> Value? {
        switch container {
        case .array(let array):
            guard case .number(let number) = key, let index = Int(exactly: number), let place = array.place(index)
            else {
                return nil
            }
            return array.elements[place]
        case .dictionary(let dictionary): return dictionary[try Coercion.text(key, machine)]
        case .feature(let feature): return feature.value(of: try Coercion.text(key, machine), machine)
        case .geometry(let geometry):
            return try GeometryMembers.value(geometry, try Coercion.text(key, machine), machine)
        case .null: return nil
        default: throw ArcadeError.runtime("\(container.kindName) has no keys.")
        }
    }

    private static func make(_ machine: Machine, _ arguments: [Value]) throws -> Value {
        switch arguments.first {
        case nil: return try machine.dictionary([])
        case .dictionary(let dictionary)?:
            let isDeep =
                arguments.count > 1 ? try Arguments.truth(arguments[1], "The second value of Dictionary") : false
            return try copy(.dictionary(dictionary), isDeep, machine)
        case .text(let text)? where arguments.count == 1:
            let made = try parse(text, machine)
            guard case .dictionary = made else { throw ArcadeError.runtime("The JSON is no dictionary.") }
            return made
        case .geometry(let geometry)?: return try machine.value(json: GeoServicesJSON.json(for: geometry))
        case .feature(let feature)?:
            let attributes = try machine.dictionary(
                feature.schema.fields.indices.map { (feature.schema.fields[$0].name, feature.value(at: $0, machine)) })
            return try machine.dictionary([
                ("geometry", feature.geometry.map(Value.geometry) ?? .null), ("attributes", attributes),
            ])
        default: break
        }
        guard arguments.count % 2 == 0 else { throw ArcadeError.runtime("Dictionary takes keys and values in turn.") }
        return try machine.dictionary(
            try stride(from: 0, to: arguments.count, by: 2).map {
                (try Coercion.text(arguments[$0], machine), arguments[$0 + 1])
            })
    }

    /// A copy of a container; a deep one copies what it holds as well.
    static func copy(_ value: Value, _ isDeep: Bool, _ machine: Machine, depth: Int = 0) throws -> Value {
        guard depth < ArcadeLimits.valueDepthMax else {
            throw ArcadeError(.limit, "A copy may be nested \(ArcadeLimits.valueDepthMax) levels deep.")
        }
        func inner(_ value: Value) throws -> Value {
            isDeep ? try copy(value, true, machine, depth: depth + 1) : value
        }
        switch value {
        case .array(let array): return try machine.array(try array.elements.map(inner))
        case .dictionary(let dictionary):
            return try machine.dictionary(try zip(dictionary.keys, dictionary.values).map { ($0, try inner($1)) })
        default: return value
        }
    }
}
