/// Arithmetic over plain numbers, ready to run. Where an operand turns out to be something else, it notes that in the machine, and
/// what it gives means nothing: then the same expression is evaluated with values of any type. That is sound, since what is
/// evaluated here changes nothing: literals, variables, fields, operators and functions of numbers.
typealias NumberCode = @Sendable (Machine) -> Double
/// A comparison over plain numbers, likewise.
typealias TruthCode = @Sendable (Machine) -> Bool

extension Compiler {
    /// The expression as arithmetic over plain numbers; nil where it is more than that.
    func numberCode(_ expression: Expression) -> NumberCode? {
        switch expression.kind {
        case .number(let value): return { _ in value }
        case .name(let name): return number(ofName: name)
        case .member(let object, let name):
            guard isFeature(object) else { return nil }
            return number(ofField: fieldSite(name))
        case .index(let object, let index):
            guard isFeature(object), case .text(let name) = index.kind else { return nil }
            return number(ofField: fieldSite(name))
        case .unary(.minus, let operand):
            guard let operand = numberCode(operand) else { return nil }
            return { -operand($0) }
        case .chain(let first, let links):
            guard var left = numberCode(first) else { return nil }
            for link in links {
                guard let right = numberCode(link.operand), let joined = Self.arithmetic(link.sign, left, right) else {
                    return nil
                }
                left = joined
            }
            return left
        case .call(let callee, let arguments): return number(ofCall: callee, arguments)
        default: return nil
        }
    }

    /// Operators and functions: what is worth to be tried with plain numbers before it is evaluated with values.
    func arithmeticCode(_ expression: Expression) -> NumberCode? {
        switch expression.kind {
        case .chain, .call, .unary: numberCode(expression)
        default: nil
        }
    }

    /// The expression as a comparison of plain numbers; nil where it is more than that.
    func truthCode(_ expression: Expression) -> TruthCode? {
        guard case .chain(let first, let links) = expression.kind, links.count == 1,
            let left = numberCode(first), let right = numberCode(links[0].operand)
        else { return nil }
        switch links[0].sign {
        case .less: return { left($0) < right($0) }
        case .lessOrEqual: return { left($0) <= right($0) }
        case .greater: return { left($0) > right($0) }
        case .greaterOrEqual: return { left($0) >= right($0) }
        case .equal: return { left($0) == right($0) }
        case .notEqual: return { left($0) != right($0) }
        default: return nil
        }
    }

    private static func arithmetic(
        _ sign: Sign, _ left: @escaping NumberCode, _ right: @escaping NumberCode
    ) -> NumberCode? {
        switch sign {
        case .plus: { left($0) + right($0) }
        case .minus: { left($0) - right($0) }
        case .times: { left($0) * right($0) }
        case .divide: { left($0) / right($0) }
        case .remainder: { left($0).truncatingRemainder(dividingBy: right($0)) }
        default: nil
        }
    }

    private func isFeature(_ expression: Expression) -> Bool {
        guard case .name(let owner) = expression.kind, owner.lowercased() == "$feature",
            case .unknown = meaning(owner)
        else { return false }
        return profile.globals.contains("$feature")
    }

    private func number(ofName name: String) -> NumberCode? {
        switch meaning(name) {
        case .local(let place): return { $0.number(at: $0.base + place) }
        case .variable(let place): return { $0.number(at: place) }
        case .scriptFunction, .builtin: return nil
        case .unknown: break
        }
        guard case .number(let value)? = Constants.value(name) else { return nil }
        return { _ in value }
    }

    private func number(ofField site: Int) -> NumberCode { { $0.number(ofField: site) } }

    private func number(ofCall callee: Expression, _ arguments: [Expression]) -> NumberCode? {
        guard case .name(let name) = callee.kind, case .builtin(let builtin) = meaning(name), arguments.count == 1,
            let function = builtin.ofNumber, let argument = numberCode(arguments[0])
        else { return nil }
        return { function(argument($0)) }
    }
}

extension Machine {
    /// Notes that an operand is no plain number.
    @inline(never)
    private func notANumber() -> Double {
        isNoNumber = true
        return 0
    }

    @inline(__always)
    func number(at place: Int) -> Double {
        if case .number(let number) = stack[place] { return number }
        return notANumber()
    }

    /// The value of an expression `$feature.NAME` whose place has been found.
    @inline(__always)
    func number(ofField site: Int) -> Double {
        guard let feature, fieldSchema === feature.schema else { return notANumber() }
        let place = numberPlaces[site]
        guard place >= 0 else { return notANumber() }
        return feature.number(at: place) ?? notANumber()
    }

    /// Whether all operands of the arithmetic that was just evaluated were plain numbers.
    @inline(__always)
    func wereNumbers() -> Bool {
        if !isNoNumber { return true }
        isNoNumber = false
        return false
    }
}
