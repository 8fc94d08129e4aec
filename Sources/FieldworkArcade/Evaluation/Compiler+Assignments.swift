extension Compiler {
    /// Sets a variable to a value.
    func assign(to name: String, _ value: @escaping Code) -> Code {
        switch meaning(name) {
        case .local(let place):
            return { machine in
                let value = try value(machine)
                machine.stack[machine.base + place] = value
                return value
            }
        case .variable(let place):
            return { machine in
                let value = try value(machine)
                machine.stack[place] = value
                return value
            }
        default: return { _ in throw ArcadeError.runtime("The variable “\(name)” is not declared.") }
        }
    }

    func assignment(_ target: Expression, _ sign: Sign?, _ value: Expression, at offset: Int) -> Code {
        guard let slot = slot(target), let program = operandProgram(value) else {
            return generalAssignment(target, sign, value, at: offset)
        }
        let general = withoutPrograms { generalAssignment(target, sign, value, at: offset) }
        guard let sign else {
            return { machine in
                guard let value = try program.number(machine) else { return try general(machine) }
                slot.set(.number(value), machine)
                return .number(value)
            }
        }
        guard let pair = NumberPairFunction(sign) else { return general }
        return { machine in
            guard case .number(let left) = slot.get(machine), let right = try program.number(machine) else {
                return try general(machine)
            }
            let value = pair(left, right)
            slot.set(.number(value), machine)
            return .number(value)
        }
    }

    /// The variable that is assigned; nil for elements and members.
    private func slot(_ target: Expression) -> Slot? {
        guard case .name(let name) = target.kind else { return nil }
        switch meaning(name) {
        case .local(let place): return .local(place)
        case .variable(let place): return .variable(place)
        default: return nil
        }
    }

    private func generalAssignment(
        _ target: Expression, _ sign: Sign?, _ value: Expression, at offset: Int
    ) -> Code {
        let value = code(value)
        return change(target, at: offset) { machine, old in
            guard let sign else { return try value(machine) }
            let (one, other) = (try old(), try value(machine))
            return try Operators.apply(sign, one, other, machine)
        }
    }

    func increment(_ target: Expression, _ step: Double, _ isPrefix: Bool, at offset: Int) -> Code {
        let changed = change(target, at: offset) { _, old in
            let value = try old()
            guard case .number(let number) = value else {
                throw ArcadeError.runtime("“\(step > 0 ? "++" : "--")” needs a number, and got \(value.kindName).")
            }
            return .number(number + step)
        }
        if let slot = slot(target) {
            return { machine in
                guard case .number(let old) = slot.get(machine) else { return try changed(machine) }
                slot.set(.number(old + step), machine)
                return .number(isPrefix ? old + step : old)
            }
        }
        if isPrefix { return changed }
        return { machine in
            guard case .number(let number) = try changed(machine) else { return .null }
            return .number(number - step)
        }
    }

    /// Code that gives a variable, element or member a new value, which may depend on its old one.
    private func change(
        _ target: Expression, at offset: Int,
        _ newValue: @escaping @Sendable (Machine, () throws -> Value) throws -> Value
    ) -> Code {
        switch target.kind {
        case .name(let name): return changeVariable(name, at: offset, newValue)
        case .member(let object, let name):
            let owner = code(object)
            return { machine in
                let owner = try owner(machine)
                do {
                    let value = try newValue(machine) { try Access.member(owner, name, machine) }
                    try Access.setMember(owner, name, value, machine)
                    return value
                } catch { throw placed(error, at: offset) }
            }
        case .index(let object, let index):
            let (owner, index) = (code(object), code(index))
            return { machine in
                let owner = try owner(machine)
                let key = try index(machine)
                do {
                    let value = try newValue(machine) { try Access.element(owner, key, machine) }
                    try Access.setElement(owner, key, value, machine)
                    return value
                } catch { throw placed(error, at: offset) }
            }
        default: return { _ in throw ArcadeError(.runtime, "This can't be assigned.", at: offset) }
        }
    }

    private func changeVariable(
        _ name: String, at offset: Int,
        _ newValue: @escaping @Sendable (Machine, () throws -> Value) throws -> Value
    ) -> Code {
        let slot: Slot
        switch meaning(name) {
        case .local(let place): slot = .local(place)
        case .variable(let place): slot = .variable(place)
        default:
            let message = "The variable “\(name)” is not declared: write “var \(name) = …”."
            report(.syntax, message, at: offset)
            return { _ in throw ArcadeError(.runtime, message, at: offset) }
        }
        return { machine in
            do {
                let value = try newValue(machine) { slot.get(machine) }
                slot.set(value, machine)
                return value
            } catch { throw placed(error, at: offset) }
        }
    }
}
