import Foundation

/// Functions of numbers.
enum MathsFunctions {
    static let all: [Builtin] = [
        number("Abs") { abs($0) }, number("Acos", acos), number("Asin", asin), number("Atan", atan), number("Cos", cos),
        number("Exp", exp), number("Log", log), number("Sin", sin), number("Sqrt") { $0.squareRoot() },
        number("Tan", tan),
        .two("Atan2") { _, y, x in .number(atan2(try Coercion.number(y), try Coercion.number(x))) },
        .two("Pow") { _, base, exponent in .number(pow(try Coercion.number(base), try Coercion.number(exponent))) },
        rounding("Ceil") { $0.rounded(.up) },
        rounding("Floor") { $0.rounded(.down) },
        rounding("Round") { ($0 + 0.5).rounded(.down) },
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

    private static func number(_ name: String, _ function: @escaping @Sendable (Double) -> Double) -> Builtin {
        var made = Builtin.one(name) { _, value in .number(function(try Coercion.number(value))) }
        made.ofNumber = function
        return made
    }

    private static func rounding(_ name: String, _ round: @escaping @Sendable (Double) -> Double) -> Builtin {
        var made = Builtin.two(name, optional: true) { _, value, places in
            .number(try rounded(value, places, round))
        }
        made.ofNumber = { $0.isFinite ? round($0) : $0 }
        return made
    }

    /// Rounds at a decimal place. Numbers that are decimals in the script, such as 1.005, are rounded as decimals.
    private static func rounded(_ value: Value, _ places: Value, _ round: (Double) -> Double) throws -> Double {
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
