extension NumberProgram {
    /// The value of an expression; nil where an operand is no number.
    @inline(__always)
    func number(_ machine: Machine) throws -> Double? {
        guard load(machine) else { return nil }
        _ = try execute(machine)
        return machine.registers[Self.resultRegister]
    }

    /// The value of an expression that reads no variables, with a feature; nil where a field is no number. Nothing else of the
    /// evaluation is touched.
    @inline(__always)
    func number(_ machine: Machine, of feature: ArcadeFeature) throws -> Double? {
        guard inputs.isEmpty else { return nil }
        machine.bindFields(of: feature)
        guard hasFields(machine) else { return nil }
        _ = try execute(machine)
        return machine.registers[Self.resultRegister]
    }

    /// Whether a condition holds; nil where an operand is no number.
    @inline(__always)
    func truth(_ machine: Machine) throws -> Bool? {
        guard load(machine) else { return nil }
        return try execute(machine) == Self.isTrue
    }

    /// Runs statements, and tells how they ended; nil where they read something that is no number. Then nothing was done.
    func flow(_ machine: Machine) throws -> Flow? {
        guard load(machine) else { return nil }
        let registers = machine.registers
        for register in unsetAtFirst { registers[register] = Self.nothing }
        let code = try execute(machine)
        for place in outputs {
            let number = registers[place.register]
            if Self.isNothing(number) { continue }
            switch place.source {
            case .local(let index): machine.stack[machine.base + index] = .number(number)
            case .variable(let index): machine.stack[index] = .number(number)
            }
        }
        let result = registers[Self.resultRegister]
        machine.last = Self.isNothing(result) ? .null : .number(result)
        return Flow(code: code)
    }

    @inline(__always)
    private static func isNothing(_ number: Double) -> Bool { number.bitPattern == nothing.bitPattern }

    /// Whether all fields that it names hold numbers.
    @inline(__always)
    private func hasFields(_ machine: Machine) -> Bool {
        let registers = machine.registers
        for register in fields where Self.isNothing(registers[register]) { return false }
        return true
    }

    /// Brings the variables that it reads into registers; false where something is no number.
    @inline(__always)
    private func load(_ machine: Machine) -> Bool {
        guard hasFields(machine) else { return false }
        let registers = machine.registers
        for place in inputs {
            let value: Value =
                switch place.source {
                case .local(let index): machine.stack[machine.base + index]
                case .variable(let index): machine.stack[index]
                }
            guard case .number(let number) = value else { return false }
            registers[place.register] = Self.isNothing(number) ? .nan : number
        }
        return true
    }

    /// Runs the instructions. Registers and places of instructions were given by the builder, which keeps them in bounds.
    private func execute(_ machine: Machine) throws -> Int {
        let registers = machine.registers
        return try instructions.withUnsafeBufferPointer { buffer throws -> Int in
            guard let code = buffer.baseAddress else { return 0 }
            var next = 0
            while true {
                let step = code[next]
                next &+= 1
                let (a, b, c) = (Int(step.a), Int(step.b), Int(step.c))
                switch step.operation {
                case .move: registers[a] = registers[b]
                case .add: registers[a] = registers[b] + registers[c]
                case .subtract: registers[a] = registers[b] - registers[c]
                case .multiply: registers[a] = registers[b] * registers[c]
                case .divide: registers[a] = registers[b] / registers[c]
                case .pair:
                    registers[a] = step.pair(registers[b], registers[c])
                case .function: registers[a] = step.function(registers[b])
                case .root: registers[a] = NumberFunction.sqrt(registers[b])
                case .magnitude: registers[a] = NumberFunction.abs(registers[b])
                case .jump: next = c
                case .jumpIfLess: if NumberComparison.less(registers[a], registers[b]) { next = c }
                case .jumpIfLessOrEqual: if NumberComparison.lessOrEqual(registers[a], registers[b]) { next = c }
                case .jumpIfEqual: if NumberComparison.equal(registers[a], registers[b]) { next = c }
                case .jumpIfNotLess: if NumberComparison.notLess(registers[a], registers[b]) { next = c }
                case .jumpIfNotLessOrEqual: if NumberComparison.notLessOrEqual(registers[a], registers[b]) { next = c }
                case .jumpIfNotEqual: if NumberComparison.notEqual(registers[a], registers[b]) { next = c }
                case .charge: try machine.charge(a)
                case .finish: return a
                }
            }
        }
    }
}
