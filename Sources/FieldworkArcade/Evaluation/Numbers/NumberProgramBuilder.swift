/// Makes programs over plain numbers of expressions and statements; throws `Unsuitable` where a part is more than that.
struct NumberProgramBuilder {
    /// The part works with something else than plain numbers, or is too long.
    struct Unsuitable: Error {}

    /// A place in the program that is jumped to.
    struct Label { fileprivate let number: Int }

    let compiler: Compiler
    private var instructions: [NumberInstruction] = []
    private var labels: [Int] = []
    private var registers: [NumberProgram.Source: Int] = [:]
    private var inputs: [NumberProgram.Place] = []
    private var outputs: [NumberProgram.Source] = []
    private var fields: [Int] = []
    /// Registers in use: the result, then variables and intermediate results.
    private var registerCount = NumberProgram.resultRegister + 1
    /// The instruction that counts the steps of what stands between two jumps.
    private var openCharge: Int?
    /// Variables that have a number whatever way the program took to get here.
    var assigned: Set<NumberProgram.Source> = []
    /// Where `break` and `continue` lead, for the loops around.
    var loops: [(end: Label, update: Label)] = []

    init(_ compiler: Compiler) { self.compiler = compiler }

    // MARK: Programs

    /// nil where the expression is no arithmetic over plain numbers.
    static func program(ofNumber expression: Expression, _ compiler: Compiler) -> NumberProgram? {
        var builder = NumberProgramBuilder(compiler)
        do {
            try builder.value(of: expression, into: NumberProgram.resultRegister)
            try builder.finish(0)
            return try builder.program()
        } catch { return nil }
    }

    /// nil where the expression is no condition over plain numbers.
    static func program(ofCondition expression: Expression, _ compiler: Compiler) -> NumberProgram? {
        var builder = NumberProgramBuilder(compiler)
        do {
            let no = try builder.label()
            try builder.jump(to: no, unless: expression)
            try builder.finish(Int16(NumberProgram.isTrue))
            builder.place(no)
            try builder.finish(Int16(NumberProgram.isFalse))
            return try builder.program()
        } catch { return nil }
    }

    /// nil where one of the statements is more than arithmetic over plain numbers.
    /// - Parameter keepsLast: whether the value of the last statement may be the script's.
    static func program(
        of statements: [Statement], keepsLast: Bool, _ compiler: Compiler
    ) -> NumberProgram? {
        var builder = NumberProgramBuilder(compiler)
        do {
            try builder.setNothing()
            try builder.add(statements, keepsLast: keepsLast)
            try builder.finish(Flow.next.code)
            return try builder.program()
        } catch { return nil }
    }

    private func program() throws -> NumberProgram {
        let resolved = try instructions.map { instruction in
            var instruction = instruction
            if instruction.isJump {
                let target = labels[Int(instruction.c)]
                guard instructions.indices.contains(target) else { throw Unsuitable() }
                instruction.c = Int16(target)
            }
            return instruction
        }
        let read = Set(inputs.map(\.source))
        let set = outputs.map { NumberProgram.Place(source: $0, register: registers[$0] ?? 0) }
        return NumberProgram(
            instructions: resolved, inputs: inputs, fields: fields, outputs: set,
            unsetAtFirst: set.filter { !read.contains($0.source) }.map(\.register), registerCount: registerCount)
    }

    // MARK: Registers

    /// The register of a variable that is read here.
    mutating func read(_ source: NumberProgram.Source) throws -> Int {
        let register = try self.register(of: source)
        if !assigned.contains(source), !inputs.contains(where: { $0.source == source }) {
            inputs.append(NumberProgram.Place(source: source, register: register))
        }
        return register
    }

    /// The register of a variable that is set here.
    mutating func set(_ source: NumberProgram.Source) throws -> Int {
        if !outputs.contains(source) { outputs.append(source) }
        return try register(of: source)
    }

    private mutating func register(of source: NumberProgram.Source) throws -> Int {
        if let known = registers[source] { return known }
        let made = try newRegister()
        registers[source] = made
        return made
    }

    mutating func newRegister() throws -> Int {
        guard registerCount < ArcadeLimits.numberProgramMax else { throw Unsuitable() }
        registerCount += 1
        return registerCount - 1
    }

    func constant(_ number: Double) throws -> Int {
        guard let register = compiler.register(ofConstant: number) else { throw Unsuitable() }
        return register
    }

    mutating func field(_ name: String) throws -> Int {
        guard let register = compiler.register(ofField: name) else { throw Unsuitable() }
        if !fields.contains(register) { fields.append(register) }
        return register
    }

    // MARK: Instructions

    mutating func emit(
        _ operation: NumberInstruction.Operation, _ a: Int = 0, _ b: Int = 0, _ c: Int = 0,
        function: NumberFunction = .abs, pair: NumberPairFunction = .plus
    ) throws {
        guard instructions.count < ArcadeLimits.numberProgramMax, compiler.mayEmit() else { throw Unsuitable() }
        instructions.append(
            NumberInstruction(
                operation: operation, function: function, pair: pair, a: Int16(a), b: Int16(b), c: Int16(c)))
    }

    mutating func setNothing() throws {
        try emit(.move, NumberProgram.resultRegister, try constant(NumberProgram.nothing))
    }

    mutating func finish(_ code: Int16) throws {
        try emit(.finish, Int(code))
        openCharge = nil
    }

    /// Counts a step. Steps between two jumps are counted at once, by the first of them.
    mutating func charge() throws {
        if let place = openCharge, instructions[place].a < Int16.max {
            instructions[place].a += 1
        } else {
            openCharge = instructions.count
            try emit(.charge, 1)
        }
    }

    mutating func label() throws -> Label {
        guard labels.count < ArcadeLimits.numberProgramMax else { throw Unsuitable() }
        labels.append(-1)
        return Label(number: labels.count - 1)
    }

    mutating func place(_ label: Label) {
        labels[label.number] = instructions.count
        openCharge = nil
    }

    mutating func jump(to label: Label) throws {
        try emit(.jump, 0, 0, label.number)
        openCharge = nil
    }

    mutating func jump(to label: Label, when comparison: NumberComparison, _ one: Int, _ other: Int) throws {
        let operation: NumberInstruction.Operation =
            switch comparison {
            case .less: .jumpIfLess
            case .lessOrEqual: .jumpIfLessOrEqual
            case .equal: .jumpIfEqual
            case .notLess: .jumpIfNotLess
            case .notLessOrEqual: .jumpIfNotLessOrEqual
            case .notEqual: .jumpIfNotEqual
            }
        try emit(operation, one, other, label.number)
        openCharge = nil
    }
}

extension NumberInstruction {
    fileprivate var isJump: Bool {
        switch operation {
        case .jump, .jumpIfLess, .jumpIfLessOrEqual, .jumpIfEqual, .jumpIfNotLess, .jumpIfNotLessOrEqual,
            .jumpIfNotEqual:
            true
        default: false
        }
    }
}
