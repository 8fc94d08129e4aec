import Foundation

/// Functions of numbers.
enum MathsFunctions {
    static let all: [Builtin] = [
        number("Abs", .abs), number("Acos", .acos), number("Asin", .asin), number("Atan", .atan), number("Cos", .cos),
        number("Exp", .exp), number("Log", .log), number("Sin", .sin), number("Sqrt", .sqrt), number("Tan", .tan),
        numbers("Atan2", .atan2), numbers("Pow", .power),
        rounding("Ceil", .ceil), rounding("Floor", .floor), rounding("Round", .round),
        .many("Constrain", 3...3) { _, arguments in
            let low = try Coercion.number(arguments[1])
            let high = try Coercion.number(arguments[2])
            return .number(min(max(try Coercion.number(arguments[0]), low), high))
        },
        .none("Random") { .number(Double($0.randomNumber() >> 11) * 0x1p-53) },
        .two("Number", optional: true) { machine, value, pattern in
            guard case .text(let text) = value, case .text(let pattern) = pattern else {
                return .number(try Coercion.number(value))
            }
            return .number(NumberReader.number(text, pattern))
        },
        .one("Hash") { machine, value in
            // The algorithm of the language is not published: this one is FNV-1a, the same on every machine.
            var hash: UInt32 = 2_166_136_261
            for byte in try Coercion.text(value, machine).utf8 { hash = (hash ^ UInt32(byte)) &* 16_777_619 }
            return .number(Double(Int32(bitPattern: hash)))
        },
    ]

    private static func number(_ name: String, _ function: NumberFunction) -> Builtin {
        var made = Builtin.one(name) { _, value in .number(function(try Coercion.number(value))) }
        made.ofNumber = function
        return made
    }

    private static func numbers(_ name: String, _ function: NumberPairFunction) -> Builtin {
        var made = Builtin.two(name) { _, one, other in
            .number(function(try Coercion.number(one), try Coercion.number(other)))
        }
        made.ofNumbers = function
        return made
    }

    private static func rounding(_ name: String, _ function: NumberFunction) -> Builtin {
        var made = Builtin.two(name, optional: true) { _, value, places in
            .number(try rounded(value, places, function))
        }
        made.ofNumber = function
        return made
    }

    /// Rounds at a decimal place. Numbers that are decimals in the script, such as 1.005, are rounded as decimals.
    private static func rounded(_ value: Value, _ places: Value, _ round: NumberFunction) throws -> Double {
        let number = try Coercion.number(value)
        let places = places.isNull ? 0 : try Arguments.whole(places, "The number of places")
        guard number.isFinite else { return number }
        if places == 0 { return round(number) }
        guard abs(places) <= 300 else { return places < 0 ? 0 : number }
        guard let shifted = shift(number, places), shifted.isFinite, abs(shifted) < 0x1p53 else { return number }
        return shift(round(shifted), -places) ?? number
    }

    /// Moves the decimal point: by the digits as they are written, so that no error of the last binary place shows.
    private static func shift(_ number: Double, _ places: Int) -> Double? {
        let text = number.description
        guard let mark = text.firstIndex(of: "e") else { return Double(text + "e\(places)") }
        guard let exponent = Int(text[text.index(after: mark)...]) else { return nil }
        return Double(text[..<mark] + "e\(exponent + places)")
    }
}
