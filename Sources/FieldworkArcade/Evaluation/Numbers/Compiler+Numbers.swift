extension Compiler {
    /// The expression as a program over plain numbers; nil where it is more than that, or so simple that it gains nothing.
    func numberProgram(_ expression: Expression) -> NumberProgram? {
        switch expression.kind {
        case .chain, .call, .unary: operandProgram(expression)
        default: nil
        }
    }

    /// The same, for any expression.
    func operandProgram(_ expression: Expression) -> NumberProgram? {
        made { NumberProgramBuilder.program(ofNumber: expression, self) }
    }

    /// The condition as a program over plain numbers; nil where it is more than that.
    func truthProgram(_ expression: Expression) -> NumberProgram? {
        switch expression.kind {
        case .chain, .logical, .unary: made { NumberProgramBuilder.program(ofCondition: expression, self) }
        default: nil
        }
    }

    /// Statements as a program over plain numbers; nil where one is more than that.
    func program(_ statements: ArraySlice<Statement>, keepsLast: Bool) -> NumberProgram? {
        made { NumberProgramBuilder.program(of: Array(statements), keepsLast: keepsLast, self) }
    }

    private func made(_ make: () -> NumberProgram?) -> NumberProgram? {
        guard makesPrograms, let program = make() else { return nil }
        reserveRegisters(program.registerCount)
        return program
    }

    /// What is made without programs over plain numbers: what runs where one of them met something else gains nothing by more of them.
    func withoutPrograms<Made>(_ make: () -> Made) -> Made {
        let makesPrograms = self.makesPrograms
        self.makesPrograms = false
        defer { self.makesPrograms = makesPrograms }
        return make()
    }

    /// Whether an expression is the `$feature` of the profile.
    func isFeature(_ expression: Expression) -> Bool {
        guard case .name(let owner) = expression.kind, owner.lowercased() == "$feature",
            case .unknown = meaning(owner)
        else { return false }
        return profile.globals.contains("$feature")
    }
}
