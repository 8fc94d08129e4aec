package import FieldworkGeometry

extension JSONObject {
    func string(_ key: String) -> String? { self[key]?.stringValue }
    func integer(_ key: String) -> Int? { self[key]?.integerValue.flatMap { Int(exactly: $0) } }
    func double(_ key: String) -> Double? { self[key]?.doubleValue }
    func bool(_ key: String) -> Bool? { self[key]?.boolValue }
    func array(_ key: String) -> [JSONValue] { self[key]?.arrayValue ?? [] }

    /// What is left when the members that a type knows are taken away.
    func without(_ keys: Set<String>) -> JSONObject {
        var rest = JSONObject()
        for member in members where !keys.contains(member.key) { rest.append(member.key, member.value) }
        return rest
    }

    /// Adds members that are not there yet.
    mutating func merge(_ other: JSONObject) {
        for member in other.members where self[member.key] == nil { append(member.key, member.value) }
    }
}

extension AttributeValue {
    /// A value of a definition (a code, a default, a limit) as JSON says it. JSON does not tell 2.0 from 2: whole numbers
    /// are integers.
    package init(json: JSONValue) {
        switch json {
        case .null, .array, .object: self = .null
        case .bool(let value): self = .integer(value ? 1 : 0)
        case .integer(let value): self = .integer(value)
        case .number(let value): self = Int64(exactly: value).map(AttributeValue.integer) ?? .real(value)
        case .string(let value): self = .text(value)
        }
    }
}
