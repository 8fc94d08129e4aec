/// A JSON document as a value. Integers keep all 64 bits; objects keep the order of their members, so that a document
/// that is read and written again stays recognisable.
package enum JSONValue: Sendable, Hashable {
    case null
    case bool(Bool)
    case integer(Int64)
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object(JSONObject)
}

/// The members of a JSON object in document order. Keys are unique: the last of two equal keys wins, as in ECMAScript.
package struct JSONObject: Sendable, Hashable {
    package private(set) var members: [Member] = []

    package struct Member: Sendable, Hashable {
        package var key: String
        package var value: JSONValue

        package init(key: String, value: JSONValue) {
            self.key = key
            self.value = value
        }
    }

    package init() {}

    package init(_ members: KeyValuePairs<String, JSONValue>) {
        for (key, value) in members { self[key] = value }
    }

    package var isEmpty: Bool { members.isEmpty }
    package var count: Int { members.count }
    package var keys: [String] { members.map(\.key) }

    /// The value of a member; setting nil removes it.
    package subscript(key: String) -> JSONValue? {
        get { members.first { $0.key == key }?.value }
        set {
            let index = members.firstIndex { $0.key == key }
            switch (index, newValue) {
            case (let index?, let value?): members[index].value = value
            case (let index?, nil): members.remove(at: index)
            case (nil, let value?): members.append(Member(key: key, value: value))
            case (nil, nil): break
            }
        }
    }

    /// The value of a member whose key matches without regard to case. The protocol's clients disagree on case.
    package func member(ignoringCase key: String) -> JSONValue? {
        self[key] ?? members.first { $0.key.lowercased() == key.lowercased() }?.value
    }

    /// Adds a member without looking for an equal key: for writers that know their keys are distinct.
    package mutating func append(_ key: String, _ value: JSONValue) {
        members.append(Member(key: key, value: value))
    }

    init(uncheckedMembers: [Member]) {
        // Objects of the protocol are small; a set is only worth its allocation for large ones.
        guard uncheckedMembers.count > 16 else {
            for member in uncheckedMembers { self[member.key] = member.value }
            return
        }
        var positions: [String: Int] = [:]
        for member in uncheckedMembers {
            if let position = positions[member.key] {
                members[position].value = member.value
            } else {
                positions[member.key] = members.count
                members.append(member)
            }
        }
    }
}

extension JSONValue {
    package var isNull: Bool { self == .null }

    package var boolValue: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    /// The value as an integer: an integer, or a number without fraction that fits exactly.
    package var integerValue: Int64? {
        switch self {
        case .integer(let value): value
        case .number(let value): Int64(exactly: value)
        default: nil
        }
    }

    package var doubleValue: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let value): value
        default: nil
        }
    }

    package var stringValue: String? {
        if case .string(let value) = self { value } else { nil }
    }

    package var arrayValue: [JSONValue]? {
        if case .array(let value) = self { value } else { nil }
    }

    package var objectValue: JSONObject? {
        if case .object(let value) = self { value } else { nil }
    }

    /// A member of an object; nil when this is not an object or has no such member.
    package subscript(key: String) -> JSONValue? { objectValue?[key] }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByFloatLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral, ExpressibleByNilLiteral
{
    package init(stringLiteral value: String) { self = .string(value) }
    package init(integerLiteral value: Int64) { self = .integer(value) }
    package init(booleanLiteral value: Bool) { self = .bool(value) }
    package init(floatLiteral value: Double) { self = .number(value) }
    package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    package init(nilLiteral: ()) { self = .null }
    package init(dictionaryLiteral elements: (String, JSONValue)...) {
        var object = JSONObject()
        for (key, value) in elements { object[key] = value }
        self = .object(object)
    }

    package init(_ value: Int) { self = .integer(Int64(value)) }
    package init(_ value: Int64) { self = .integer(value) }
    package init(_ value: Bool) { self = .bool(value) }
    package init(_ value: String) { self = .string(value) }
    package init(_ value: String?) { self = value.map(JSONValue.string) ?? .null }
    package init(_ value: Double) { self = .number(value) }
}
