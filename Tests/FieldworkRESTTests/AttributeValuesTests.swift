import Testing

@testable import FieldworkREST

@Suite("The values of a row")
struct AttributeValuesTests {
    private let names = AttributeValues.Names(["a", "b", "c"])

    private var row: AttributeValues {
        AttributeValues(names: names, values: [.integer(1), nil, .null])
    }

    @Test("A value is found by its name; null is a value, and none is none")
    func reading() {
        #expect(row["a"] == .integer(1))
        #expect(row["b"] == nil)
        #expect(row["c"] == .null)
        #expect(row["d"] == nil)
        #expect(row.count == 2)
        #expect(row.keys == ["a", "c"])
        #expect(row.map(\.value) == [.integer(1), .null])
        #expect(row.dictionary == ["a": .integer(1), "c": .null])
    }

    @Test("A row changes alone: the others that share its names stay as they are")
    func writing() {
        let other = row
        var changed = row
        changed["b"] = .text("new")
        changed["a"] = nil
        changed["d"] = .real(2)
        changed["e"] = nil
        #expect(changed.dictionary == ["b": .text("new"), "c": .null, "d": .real(2)])
        #expect(other.dictionary == ["a": .integer(1), "c": .null])
        #expect(other["d"] == nil)
    }

    @Test("A row may have fewer values than names, and gets the rest later")
    func short() {
        var short = AttributeValues(names: names, values: [.integer(1)])
        #expect(short["c"] == nil && short.count == 1)
        short["c"] = .text("late")
        #expect(short.dictionary == ["a": .integer(1), "c": .text("late")])
        let long = AttributeValues(names: names, values: [.integer(1), .null, .null, .integer(4)])
        #expect(long.count == 3)
    }

    @Test("Rows are equal when they have the same values by the same names, in whatever order")
    func equality() {
        let turned: AttributeValues = ["c": .null, "a": .integer(1)]
        #expect(turned == row)
        #expect(turned.hashValue == row.hashValue)
        #expect(AttributeValues(names: names, values: [.integer(1), .null]) != row)
        #expect(AttributeValues(names: names, values: [.integer(1), nil, .null]) == row)
        #expect(AttributeValues(names: names, values: [.integer(1)]) == ["a": .integer(1)])
        #expect(row != ["a": .integer(1)])
    }

    @Test("Some of the values can be left out, and all be made other values")
    func deriving() {
        #expect(row.filter { $0.key != "c" }.dictionary == ["a": .integer(1)])
        #expect(row.mapValues(\.isNull) == ["a": false, "c": true])
    }

    @Test("A name that comes twice counts once")
    func twice() {
        #expect(AttributeValues.Names(["a", "b", "a"]).all == ["a", "b"])
        #expect(AttributeValues(dictionaryLiteral: ("a", .integer(1)), ("a", .integer(2)))["a"] == .integer(1))
    }
}
