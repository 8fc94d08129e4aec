/// Makes scripts of loops, conditions and arithmetic by chance, most over plain numbers alone: the same seed makes the same ones.
struct NumberScriptMaker {
    var state: UInt64

    mutating func number(below bound: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int((state >> 33) % UInt64(bound))
    }

    private mutating func pick(_ words: [String]) -> String { words[number(below: words.count)] }

    private static let variables = ["a", "b", "c", "d"]

    mutating func script() -> String {
        var text = ""
        for variable in Self.variables where number(below: 8) > 0 {
            text += "var \(variable) = \(number(below: 12) > 0 ? value(1) : pick(["'x'", "null", "true", "[1]"]))\n"
        }
        if number(below: 4) == 0 { text = "function f(a, b) { \(statements(2, inLoop: false)) }\n" + text }
        text += statements(3, inLoop: false)
        switch number(below: 4) {
        case 0: break
        case 1: text += pick(Self.variables)
        default: text += "[a, b, c, d]"
        }
        return text
    }

    private mutating func statements(_ depth: Int, inLoop: Bool) -> String {
        (0...number(below: 4)).map { _ in statement(depth, inLoop: inLoop) }.joined(separator: pick(["\n", ";\n"]))
            + "\n"
    }

    private mutating func statement(_ depth: Int, inLoop: Bool) -> String {
        let variable = pick(Self.variables)
        switch number(below: depth > 0 ? 17 : 9) {
        case 0, 1: return "\(variable) = \(value(2))"
        case 2, 3: return "\(variable) \(pick(["+=", "-=", "*=", "/=", "%="])) \(value(1))"
        case 4: return pick(["\(variable)++", "--\(variable)", "++\(variable)", "\(variable)--"])
        case 5: return "var \(variable) = \(value(1))"
        case 6: return value(2)
        case 7: return inLoop ? pick(["break", "continue"]) : value(1)
        case 8:
            return number(below: 6) > 0
                ? "\(variable) = \(value(1))"
                : pick(["\(variable) = 'x'", "return \(value(1))", "Text(\(variable))", "f(1, 2)"])
        case 9, 10: return "if (\(condition(1))) { \(statements(depth - 1, inLoop: inLoop)) }"
        case 11, 12:
            return "if (\(condition(1))) { \(statements(depth - 1, inLoop: inLoop)) } else { "
                + "\(statements(depth - 1, inLoop: inLoop)) }"
        case 13, 14:
            let counter = pick(["i", "j", variable])
            return "for (var \(counter) = 0; \(counter) < \(number(below: 5)); \(counter)++) { "
                + "\(statements(depth - 1, inLoop: true)) }"
        case 15: return "while (\(condition(2))) { \(statements(depth - 1, inLoop: true)) }"
        default:
            let leaving = (inLoop ? ["break", "continue"] : []) + ["return \(value(1))", "{}"]
            return "if (\(condition(1))) { \(pick(leaving)) }"
        }
    }

    private mutating func condition(_ depth: Int) -> String {
        switch number(below: depth > 0 ? 9 : 5) {
        case 5: "!(\(condition(depth - 1)))"
        case 6: "\(condition(depth - 1)) && \(condition(depth - 1))"
        case 7: "(\(condition(depth - 1)) || \(condition(depth - 1)))"
        case 8: pick(["true", "false", "a < b", "IsEmpty(c)"])
        default: "\(value(1)) \(pick(["<", "<=", ">", ">=", "==", "!="])) \(value(1))"
        }
    }

    private mutating func value(_ depth: Int) -> String {
        guard depth > 0, number(below: 4) > 0 else {
            if number(below: 40) == 0 {
                return pick(["$feature.name", "$feature.none", "$feature.planted", "$feature.missing", "'5'"])
            }
            let numbers = ["$feature.dbh", "$feature['stems']", "PI", "NaN", "0", "1", "2.5", "-7", "1e300"]
            return pick(Self.variables + numbers)
        }
        let (one, other) = (value(depth - 1), value(depth - 1))
        switch number(below: 10) {
        case 0: return "(\(one) \(pick(["&", "|", "^", "<<", ">>", ">>>"])) \(other))"
        case 1: return "-(\(one))"
        case 2: return "~(\(one))"
        case 3: return pick(["Abs", "Sqrt", "Floor", "Ceil", "Round", "Sin", "Log", "Exp"]) + "(\(one))"
        case 4: return pick(["Pow", "Atan2"]) + "(\(one), \(other))"
        case 5: return "IIf(\(condition(0)), \(one), \(other))"
        case 6: return "When(\(condition(1)), \(one), \(condition(0)), \(other), \(value(0)))"
        default: return "(\(one) \(pick(["+", "-", "*", "/", "%"])) \(other) \(pick(["+", "*"])) \(value(0)))"
        }
    }
}
