import Foundation

/// Functions that make texts of texts.
enum TextFunctions {
    static let all: [Builtin] = [
        .one("Lower") { machine, value in try machine.text(try Coercion.text(value, machine).lowercased()) },
        .one("Upper") { machine, value in try machine.text(try Coercion.text(value, machine).uppercased()) },
        .one("Trim") { machine, value in
            try machine.text(try Coercion.text(value, machine).trimmingCharacters(in: .whitespacesAndNewlines))
        },
        .two("Left") { machine, value, count in
            let text = try Coercion.text(value, machine)
            let count = try Arguments.whole(count, "The number of characters")
            return try machine.text(TextUnits.slice(text, from: 0, count: count))
        },
        .two("Right") { machine, value, count in
            let text = try Coercion.text(value, machine)
            let (count, total) = (try Arguments.whole(count, "The number of characters"), TextUnits.count(text))
            return try machine.text(TextUnits.slice(text, from: max(0, total - max(0, count)), count: count))
        },
        .many("Mid", 2...3) { machine, arguments in
            let text = try Coercion.text(arguments[0], machine)
            let start = try Arguments.whole(arguments[1], "The start")
            let count = arguments.count > 2 ? try Arguments.whole(arguments[2], "The number of characters") : .max
            return try machine.text(TextUnits.slice(text, from: start, count: count))
        },
        .two("Proper", optional: true, proper),
        .many("Replace", 3...4, replace),
        .many("Split", 2...4, split),
        .many("Find", 2...3, find),
        .many("Concatenate", 0...Builtin.any, concatenate),
        .two("Text", optional: true, text),
    ]

    private static func proper(_ machine: Machine, _ value: Value, _ mode: Value) throws -> Value {
        let isFirstOnly = try !mode.isNull && Coercion.text(mode, machine).lowercased() == "firstword"
        var (result, begins) = ("", true)
        for character in try Coercion.text(value, machine) {
            if character.isWhitespace {
                begins = begins || !isFirstOnly
                result.append(character)
            } else {
                result += begins ? character.uppercased() : character.lowercased()
                begins = false
            }
        }
        return try machine.text(result)
    }

    private static func replace(_ machine: Machine, _ arguments: [Value]) throws -> Value {
        let text = Array(try Coercion.text(arguments[0], machine).utf8)
        let search = Array(try Coercion.text(arguments[1], machine).utf8)
        let new = Array(try Coercion.text(arguments[2], machine).utf8)
        let all = arguments.count > 3 ? try Arguments.truth(arguments[3], "The fourth value of Replace") : true
        guard !search.isEmpty, text.count >= search.count else { return .text(String(decoding: text, as: UTF8.self)) }
        try machine.charge(text.count / 8)
        var (result, index, isDone): ([UInt8], Int, Bool) = ([], 0, false)
        while index < text.count {
            if !isDone, index + search.count <= text.count, text[index] == search[0],
                text[index..<index + search.count].elementsEqual(search)
            {
                result += new
                index += search.count
                isDone = !all
                guard result.count <= ArcadeLimits.textMax else {
                    throw ArcadeError(.limit, "A text may have \(ArcadeLimits.textMax) bytes.")
                }
            } else {
                result.append(text[index])
                index += 1
            }
        }
        return try machine.text(String(decoding: result, as: UTF8.self))
    }

    private static func split(_ machine: Machine, _ arguments: [Value]) throws -> Value {
        let text = try Coercion.text(arguments[0], machine)
        let separator = try Coercion.text(arguments[1], machine)
        let limit = arguments.value(2).isNull ? -1 : try Arguments.whole(arguments[2], "The limit")
        let removesEmpty = arguments.value(3).isNull ? false : try Arguments.truth(arguments[3], "The fourth value")
        try machine.charge(text.utf8.count / 8)
        var pieces: [String]
        if separator.isEmpty {
            pieces =
                text.utf16.count == text.utf8.count
                ? text.map { String($0) } : text.utf16.map { String(decoding: [$0], as: UTF16.self) }
        } else {
            pieces = Self.pieces(Array(text.utf8), Array(separator.utf8))
        }
        if removesEmpty { pieces.removeAll(where: \.isEmpty) }
        if limit >= 0 { pieces = Array(pieces.prefix(limit)) }
        try machine.checkCount(pieces.count)
        return try machine.array(try pieces.map(machine.text))
    }

    private static func pieces(_ text: [UInt8], _ separator: [UInt8]) -> [String] {
        var (pieces, start, index): ([String], Int, Int) = ([], 0, 0)
        while index + separator.count <= text.count {
            if text[index] == separator[0], text[index..<index + separator.count].elementsEqual(separator) {
                pieces.append(String(decoding: text[start..<index], as: UTF8.self))
                index += separator.count
                start = index
            } else {
                index += 1
            }
        }
        return pieces + [String(decoding: text[start...], as: UTF8.self)]
    }

    private static func find(_ machine: Machine, _ arguments: [Value]) throws -> Value {
        let search = Array(try Coercion.text(arguments[0], machine).utf16)
        let text = Array(try Coercion.text(arguments[1], machine).utf16)
        let start = arguments.count > 2 ? max(0, try Arguments.whole(arguments[2], "The start")) : 0
        try machine.charge(text.count / 8)
        var index = start
        while index + search.count <= text.count {
            if text[index..<index + search.count].elementsEqual(search) { return .number(Double(index)) }
            index += 1
        }
        return .number(-1)
    }

    private static func concatenate(_ machine: Machine, _ arguments: [Value]) throws -> Value {
        guard case .array(let array)? = arguments.first else {
            var joined = ""
            for argument in arguments { joined += try Coercion.text(argument, machine) }
            return try machine.text(joined)
        }
        let separator = try Coercion.text(arguments.value(1), machine)
        let format = arguments.value(2)
        var (joined, isFirst) = ("", true)
        for element in array.elements {
            if !isFirst { joined += separator }
            isFirst = false
            if case .text(let piece) = try text(machine, element, format) { joined += piece }
            try machine.charge(1)
            guard joined.utf8.count <= ArcadeLimits.textMax else {
                throw ArcadeError(.limit, "A text may have \(ArcadeLimits.textMax) bytes.")
            }
        }
        return try machine.text(joined)
    }

    private static func text(_ machine: Machine, _ value: Value, _ format: Value) throws -> Value {
        guard case .text(let pattern) = format, !pattern.isEmpty else {
            return try machine.text(try Coercion.text(value, machine))
        }
        switch value {
        case .number(let number):
            return try machine.text(NumberPattern.text(number, pattern, NumberSigns(locale: machine.context.locale)))
        case .date(let date): return try machine.text(DatePattern.text(pattern, day: date.day, time: date.time, date))
        case .dateOnly(let day): return try machine.text(DatePattern.text(pattern, day: day, time: 0, nil))
        case .time(let time): return try machine.text(DatePattern.text(pattern, day: .epoch, time: time, nil))
        default: return try machine.text(try Coercion.text(value, machine))
        }
    }
}
