/// Functions of arrays.
enum ArrayFunctions {
    static let all: [Builtin] = [
        .many("Array", 1...2, make),
        .one("Back") { _, value in
            guard let last = try Arguments.array(value, "The value of Back").elements.last else {
                throw ArcadeError.runtime("The array is empty and has no last element.")
            }
            return last
        },
        .one("Front") { _, value in
            guard let first = try Arguments.array(value, "The value of Front").elements.first else {
                throw ArcadeError.runtime("The array is empty and has no first element.")
            }
            return first
        },
        .many("Distinct", 1...Builtin.any, distinct),
        .two("Erase") { _, array, index in
            let array = try mutable(array, "Erase")
            array.elements.remove(at: try place(index, in: array))
            return .null
        },
        .two("Includes") { machine, array, value in
            .boolean(try position(of: value, in: array, machine) != nil)
        },
        .two("IndexOf") { machine, array, value in
            .number(Double(try position(of: value, in: array, machine) ?? -1))
        },
        .many("Insert", 3...3, insert),
        .one("Pop") { _, array in
            guard let last = try mutable(array, "Pop").elements.popLast() else {
                throw ArcadeError.runtime("The array is empty, so nothing can be taken from it.")
            }
            return last
        },
        .two("Push") { machine, array, value in
            let array = try mutable(array, "Push")
            try append(value, to: array, machine)
            return .number(Double(array.elements.count))
        },
        .many("Resize", 2...3, resize),
        .one("Reverse") { machine, value in
            let array = try mutable(value, "Reverse")
            try machine.charge(array.elements.count)
            array.elements.reverse()
            return value
        },
        .many("Slice", 1...3, slice),
        .many("Splice", 1...Builtin.any) { machine, arguments in
            var joined: [Value] = []
            for argument in arguments {
                if case .array(let array) = argument { joined += array.elements } else { joined.append(argument) }
                try machine.checkCount(joined.count)
            }
            return try machine.array(joined)
        },
    ]

    static func checkMutable(_ array: ArrayObject) throws {
        guard !array.isFixed else { throw ArcadeError.runtime("The coordinates of a geometry can't be changed.") }
    }

    private static func mutable(_ value: Value, _ name: String) throws -> ArrayObject {
        let array = try Arguments.array(value, "The first value of \(name)")
        try checkMutable(array)
        return array
    }

    static func append(_ value: Value, to array: ArrayObject, _ machine: Machine) throws {
        try machine.checkCount(array.elements.count + 1)
        try machine.chargeMemory(24)
        machine.link(array, value)
        array.elements.append(value)
    }

    private static func place(_ index: Value, in array: ArrayObject) throws -> Int {
        let index = try Access.index(index)
        guard let place = array.place(index) else {
            throw ArcadeError.runtime("The array has \(array.elements.count) elements and none at \(index).")
        }
        return place
    }

    private static func make(_ machine: Machine, _ arguments: [Value]) throws -> Value {
        if case .array = arguments[0] {
            let isDeep = arguments.count > 1 ? try Arguments.truth(arguments[1], "The second value of Array") : false
            return try DictionaryFunctions.copy(arguments[0], isDeep, machine)
        }
        let count = try Arguments.whole(arguments[0], "The number of elements")
        guard count >= 0 else { throw ArcadeError.runtime("An array can't have \(count) elements.") }
        try machine.checkCount(count)
        try machine.chargeMemory(count * 24)
        return try machine.array(Array(repeating: arguments.value(1), count: count))
    }

    private static func position(of value: Value, in array: Value, _ machine: Machine) throws -> Int? {
        let elements = try Arguments.array(array, "The first value").elements
        try machine.charge(elements.count / 8)
        return elements.firstIndex { Equality.areEqual($0, value) }
    }

    private static func distinct(_ machine: Machine, _ arguments: [Value]) throws -> Value {
        if case .featureSet(let features) = arguments[0] {
            return try FeatureSetFunctions.distinct(machine, features, arguments)
        }
        let values: [Value]
        if case .array(let array) = arguments[0], arguments.count == 1 {
            values = array.elements
        } else {
            values = arguments
        }
        var (kept, seen): ([Value], Set<ArcadeValue>) = ([], [])
        for value in values {
            try machine.charge(1)
            switch value {
            case .boolean, .number, .text, .null, .date, .dateOnly, .time:
                if seen.insert(try ValueExport.value(value, machine)).inserted { kept.append(value) }
            default:
                try machine.charge(kept.count)
                if !kept.contains(where: { Equality.areEqual($0, value) }) { kept.append(value) }
            }
        }
        return try machine.array(kept)
    }

    private static func insert(_ machine: Machine, _ arguments: [Value]) throws -> Value {
        let array = try mutable(arguments[0], "Insert")
        let index = try Access.index(arguments[1])
        let place = index < 0 ? array.elements.count + index : index
        guard (0...array.elements.count).contains(place) else {
            throw ArcadeError.runtime(
                "The array has \(array.elements.count) elements: nothing can be inserted at \(index).")
        }
        try append(arguments[2], to: array, machine)
        try machine.charge(array.elements.count - place)
        array.elements.removeLast()
        array.elements.insert(arguments[2], at: place)
        return .null
    }

    private static func resize(_ machine: Machine, _ arguments: [Value]) throws -> Value {
        let array = try mutable(arguments[0], "Resize")
        let count = try Arguments.whole(arguments[1], "The number of elements")
        guard count >= 0 else { throw ArcadeError.runtime("An array can't have \(count) elements.") }
        if count <= array.elements.count {
            array.elements.removeLast(array.elements.count - count)
        } else {
            try machine.checkCount(count)
            try machine.chargeMemory((count - array.elements.count) * 24)
            machine.link(array, arguments.value(2))
            array.elements += Array(repeating: arguments.value(2), count: count - array.elements.count)
        }
        return .null
    }

    private static func slice(_ machine: Machine, _ arguments: [Value]) throws -> Value {
        let elements = try Arguments.array(arguments[0], "The first value of Slice").elements
        func bound(_ value: Value, _ missing: Int) throws -> Int {
            guard !value.isNull else { return missing }
            let index = try Arguments.whole(value, "An index of Slice")
            return min(max(index < 0 ? elements.count + index : index, 0), elements.count)
        }
        let (from, to) = (try bound(arguments.value(1), 0), try bound(arguments.value(2), elements.count))
        return try machine.array(from < to ? Array(elements[from..<to]) : [])
    }

    /// `Filter` of an array, or what is wrong with its first value.
    static func filter(_ machine: Machine, _ values: Value, _ test: Value) throws -> Value {
        try HigherFunctions.filter(machine, values, test)
    }
}
