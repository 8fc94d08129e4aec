/// The values of one row by the names of its fields, in the order in which they were read: one allocation a row. Rows that were
/// read together share the names and where each stands.
package struct AttributeValues: Sendable {
    /// The names that rows have in common.
    package final class Names: Sendable {
        package let all: [String]
        fileprivate let places: [String: Int]

        /// A name that comes twice keeps its first place.
        package init(_ names: some Sequence<String>) {
            var (all, places): ([String], [String: Int]) = ([], [:])
            for name in names where places[name] == nil {
                places[name] = all.count
                all.append(name)
            }
            (self.all, self.places) = (all, places)
        }

        fileprivate static let none = Names([])
    }

    /// The names of its fields, also of such as it has no value by.
    package private(set) var names: Names
    /// In the order of the names; nil or not there where the row has none by that name, which is not the same as null.
    private var values: [AttributeValue?]

    package init() { (names, values) = (.none, []) }

    /// - Parameter values: in the order of the names; what goes beyond them is left out.
    package init(names: Names, values: [AttributeValue?]) {
        self.names = names
        self.values = values.count > names.all.count ? Array(values.prefix(names.all.count)) : values
    }

    package init(_ dictionary: [String: AttributeValue]) {
        names = Names(dictionary.keys)
        values = names.all.map { dictionary[$0] }
    }

    package var dictionary: [String: AttributeValue] { Dictionary(map { ($0.key, $0.value) }) { first, _ in first } }

    /// The value of a field; nil when the row has none by that name. Setting nil takes the value away.
    package subscript(name: String) -> AttributeValue? {
        get { names.places[name].flatMap { self[$0] } }
        set {
            if names.places[name] == nil {
                if newValue == nil { return }
                names = Names(names.all + [name])
            }
            guard let place = names.places[name] else { return }
            while values.count <= place { values.append(nil) }
            values[place] = newValue
        }
    }

    /// The value at the place of a name.
    package subscript(place: Int) -> AttributeValue? { place < values.count ? values[place] : nil }

    package subscript(name: String, default standard: AttributeValue) -> AttributeValue { self[name] ?? standard }

    package var keys: [String] { map(\.key) }

    package func mapValues<Value>(_ transform: (AttributeValue) throws -> Value) rethrows -> [String: Value] {
        var result: [String: Value] = [:]
        for (name, value) in self { result[name] = try transform(value) }
        return result
    }

    package func filter(_ isIncluded: (Element) throws -> Bool) rethrows -> AttributeValues {
        var result = self
        for (place, name) in zip(values.indices, names.all) {
            if let value = values[place], try !isIncluded((name, value)) { result.values[place] = nil }
        }
        return result
    }
}

extension AttributeValues: Sequence {
    package typealias Element = (key: String, value: AttributeValue)

    package struct Iterator: IteratorProtocol {
        fileprivate let attributes: AttributeValues
        private var place = 0

        fileprivate init(_ attributes: AttributeValues) { self.attributes = attributes }

        package mutating func next() -> Element? {
            while place < attributes.values.count {
                defer { place += 1 }
                if let value = attributes.values[place] { return (attributes.names.all[place], value) }
            }
            return nil
        }
    }

    package func makeIterator() -> Iterator { Iterator(self) }

    package var underestimatedCount: Int { count }
    package var count: Int { values.reduce(0) { $0 + ($1 == nil ? 0 : 1) } }
    package var isEmpty: Bool { count == 0 }
}

extension AttributeValues: Hashable {
    /// The same values by the same names, in whatever order.
    package static func == (one: AttributeValues, other: AttributeValues) -> Bool {
        if one.names === other.names, one.values.count == other.values.count { return one.values == other.values }
        return one.count == other.count && one.allSatisfy { other[$0.key] == $0.value }
    }

    package func hash(into hasher: inout Hasher) {
        // The order does not count.
        var sum = 0
        for (name, value) in self {
            var pair = Hasher()
            pair.combine(name)
            pair.combine(value)
            sum ^= pair.finalize()
        }
        hasher.combine(sum)
    }
}

extension AttributeValues: ExpressibleByDictionaryLiteral {
    /// Of a name that comes twice the first value counts.
    package init(dictionaryLiteral elements: (String, AttributeValue)...) {
        self.init(Dictionary(elements) { first, _ in first })
    }
}
