extension Compiler {
    /// Statements one after the other. Those that work with plain numbers alone are run together, as a program.
    func block(_ statements: [Statement]) -> Step {
        let statements = statements.filter { if case .function = $0.kind { false } else { true } }
        var steps: [Step] = []
        var index = 0
        while index < statements.count {
            let run = numbers(statements[index...])
            let part = statements[index..<(index + max(run, 1))]
            let rest = statements[part.endIndex...]
            index = part.endIndex
            let keepsLast = part.contains { NumberProgramBuilder.isLastSeen($0, before: rest) }
            if part.count > 1, let program = program(part, keepsLast: keepsLast) {
                steps.append(self.run(program, else: sequence(part.map { single($0, keepsLast: true) })))
            } else {
                steps += part.map { single($0, keepsLast: keepsLast) }
            }
        }
        return sequence(steps)
    }

    /// How many of the statements at the beginning work with plain numbers alone.
    private func numbers(_ statements: ArraySlice<Statement>) -> Int {
        statements.prefix(ArcadeLimits.numberStatementsMax).prefix { program([$0], keepsLast: false) != nil }.count
    }

    /// A loop or a condition is worth a program of its own.
    private func single(_ statement: Statement, keepsLast: Bool) -> Step {
        let general = step(statement)
        switch statement.kind {
        case .loop, .whileLoop, .condition:
            guard let program = program([statement], keepsLast: keepsLast) else { return general }
            return run(program, else: general)
        default: return general
        }
    }

    private func run(_ program: NumberProgram, else general: @escaping Step) -> Step {
        { machine in
            if let flow = try program.flow(machine) { return flow }
            return try general(machine)
        }
    }

    private func sequence(_ steps: [Step]) -> Step {
        if steps.count == 1 { return steps[0] }
        let boxes = steps.map(BoxedStep.init)
        return { machine in
            for step in boxes {
                let flow = try step.run(machine)
                guard case .next = flow else { return flow }
            }
            return .next
        }
    }

    private func step(_ statement: Statement) -> Step {
        switch statement.kind {
        case .expression(let expression):
            let code = code(expression)
            return { machine in
                try machine.charge(1)
                machine.last = try code(machine)
                return .next
            }
        case .variables(let variables):
            let assignments = variables.map { variable in
                let code = optional(variable.value)
                return assign(to: variable.name, code)
            }
            return { machine in
                try machine.charge(1)
                for assignment in assignments { _ = try assignment(machine) }
                machine.last = .null
                return .next
            }
        case .block(let inside): return block(inside)
        case .condition(let branches, let otherwise): return condition(branches, otherwise)
        case .loop(let start, let test, let update, let body): return loop(start, test, update, body)
        case .whileLoop(let test, let body): return loop(nil, test, nil, body)
        case .each(let name, let declares, let isOf, let over, let body):
            return each(name, declares, isOf, over, body, at: statement.offset)
        case .breakLoop: return { _ in .breakLoop }
        case .continueLoop: return { _ in .continueLoop }
        case .giveBack(let expression):
            let code = optional(expression)
            return { machine in
                machine.last = try code(machine)
                return .giveBack
            }
        case .function: return { _ in .next }
        case .importModule(let name):
            let error = ArcadeError(
                .notSupported, "The script imports “\(name)”, and imports are not supported here.",
                at: statement.offset)
            report(.notSupported, error.message, at: statement.offset)
            return { _ in throw error }
        }
    }

    /// The value of an expression that may be missing.
    private func optional(_ expression: Expression?) -> Code {
        guard let expression else { return { _ in .null } }
        return code(expression)
    }

    /// A condition; anything but a Boolean is an error.
    private func test(_ expression: Expression, _ word: String) -> @Sendable (Machine) throws -> Bool {
        guard let program = truthProgram(expression) else { return generalTest(expression, word) }
        let general = withoutPrograms { generalTest(expression, word) }
        return { machine in
            if let truth = try program.truth(machine) { return truth }
            return try general(machine)
        }
    }

    private func generalTest(_ expression: Expression, _ word: String) -> @Sendable (Machine) throws -> Bool {
        let code = code(expression)
        let offset = expression.offset
        return { machine in
            let value = try code(machine)
            guard case .boolean(let truth) = value else {
                throw ArcadeError(
                    .runtime, "The condition of “\(word)” must be a Boolean, and is \(value.kindName).", at: offset)
            }
            return truth
        }
    }

    private func condition(_ branches: [Statement.Branch], _ otherwise: Statement?) -> Step {
        let tests = branches.map { (test: test($0.condition, "if"), body: step($0.body)) }
        let last: Step? = otherwise.map(step)
        return { machine in
            try machine.charge(1)
            for (test, body) in tests where try test(machine) {
                machine.last = .null
                return try body(machine)
            }
            machine.last = .null
            return try last?(machine) ?? .next
        }
    }

    private func loop(
        _ start: Statement?, _ test: Expression?, _ update: Expression?, _ body: Statement
    ) -> Step {
        let word = start == nil && update == nil ? "while" : "for"
        // Not optional closures: each call of one goes through another function.
        let first: Step
        if let start { first = step(start) } else { first = { _ in .next } }
        let isOn: @Sendable (Machine) throws -> Bool
        if let test { isOn = self.test(test, word) } else { isOn = { _ in true } }
        let update = optional(update)
        let body = step(body)
        return { machine in
            _ = try first(machine)
            machine.last = .null
            while try isOn(machine) {
                try machine.charge(1)
                switch try body(machine) {
                case .giveBack: return .giveBack
                case .breakLoop: return .next
                case .next, .continueLoop: break
                }
                _ = try update(machine)
            }
            return .next
        }
    }

    private func each(
        _ name: String, _ declares: Bool, _ isOf: Bool, _ over: Expression, _ body: Statement, at offset: Int
    ) -> Step {
        let over = code(over)
        let body = step(body)
        let slot: Slot
        switch meaning(name) {
        case .local(let place): slot = .local(place)
        case .variable(let place): slot = .variable(place)
        default:
            report(.syntax, "The variable “\(name)” is not declared.", at: offset)
            let error = ArcadeError(.runtime, "The variable “\(name)” is not declared.", at: offset)
            return { _ in throw error }
        }
        return { machine in
            let values = try over(machine)
            machine.last = .null
            var flow = Flow.next
            do {
                try Iteration.each(values, isOf: isOf, machine) { value in
                    try machine.charge(1)
                    slot.set(value, machine)
                    switch try body(machine) {
                    case .giveBack:
                        flow = .giveBack
                        return false
                    case .breakLoop: return false
                    case .next, .continueLoop: return true
                    }
                }
            } catch { throw placed(error, at: offset) }
            return flow
        }
    }
}

/// A statement in an array: a closure alone would be called with a detour there.
private struct BoxedStep: Sendable {
    let run: Step

    init(_ run: @escaping Step) { self.run = run }
}

/// The place of a variable.
enum Slot: Sendable {
    case local(Int)
    case variable(Int)

    @inline(__always)
    func set(_ value: Value, _ machine: Machine) {
        switch self {
        case .local(let place): machine.stack[machine.base + place] = value
        case .variable(let place): machine.stack[place] = value
        }
    }

    @inline(__always)
    func get(_ machine: Machine) -> Value {
        switch self {
        case .local(let place): machine.stack[machine.base + place]
        case .variable(let place): machine.stack[place]
        }
    }
}

/// What a loop goes through.
enum Iteration {
    static func each(
        _ values: Value, isOf: Bool, _ machine: Machine, _ body: (Value) throws -> Bool
    ) throws {
        switch values {
        case .array(let array):
            // The array may change on the way.
            var index = 0
            while index < array.elements.count {
                if try !body(isOf ? array.elements[index] : .number(Double(index))) { return }
                index += 1
            }
        case .dictionary(let dictionary):
            let (keys, values) = (dictionary.keys, dictionary.values)
            for (index, key) in keys.enumerated() where try !body(isOf ? values[index] : .text(key)) { return }
        case .feature(let feature):
            for (index, field) in feature.schema.fields.enumerated() {
                if try !body(isOf ? feature.value(at: index, machine) : .text(field.name)) { return }
            }
        case .featureSet(let features):
            try features.forEach(machine) { try body(.feature(FeatureObject($0, source: features))) }
        case .geometry(let geometry):
            for name in GeometryMembers.names(of: geometry) where try !body(.text(name)) { return }
        default: throw ArcadeError.runtime("“for” can't go through \(values.kindName).")
        }
    }
}
