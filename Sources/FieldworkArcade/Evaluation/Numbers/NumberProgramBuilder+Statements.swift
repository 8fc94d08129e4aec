extension NumberProgramBuilder {
    /// Statements one after the other.
    /// - Parameter keepsLast: whether the value of the last statement may be the script's.
    mutating func add(_ statements: [Statement], keepsLast: Bool) throws {
        for (index, statement) in statements.enumerated() {
            try add(statement, keepsLast: keepsLast && Self.isLastSeen(statement, before: statements[(index + 1)...]))
        }
    }

    /// Whether the value of a statement may still be that of the script when the ones behind it have run.
    static func isLastSeen(_ statement: Statement, before rest: ArraySlice<Statement>) -> Bool {
        if statement.leavesLoops { return true }
        for next in rest {
            switch next.kind {
            case .expression, .variables, .condition, .loop, .whileLoop, .each, .giveBack: return false
            case .breakLoop, .continueLoop: return true
            case .block: if next.leavesLoops { return true }
            case .function, .importModule: break
            }
        }
        return true
    }

    private mutating func add(_ statement: Statement, keepsLast: Bool) throws {
        switch statement.kind {
        case .expression(let expression):
            try charge()
            try self.statement(expression, keepsLast: keepsLast)
        case .variables(let variables):
            try charge()
            for variable in variables {
                guard let value = variable.value, let source = self.variable(variable.name) else { throw Unsuitable() }
                try assign(value, to: source)
            }
            if keepsLast { try setNothing() }
        case .block(let inside): try add(inside, keepsLast: keepsLast)
        case .condition(let branches, let otherwise): try condition(branches, otherwise, keepsLast: keepsLast)
        case .loop(let start, let test, let update, let body):
            try loop(start, test, update, body, keepsLast: keepsLast)
        case .whileLoop(let test, let body): try loop(nil, test, nil, body, keepsLast: keepsLast)
        case .breakLoop:
            if let loop = loops.last { try jump(to: loop.end) } else { try finish(Flow.breakLoop.code) }
        case .continueLoop:
            if let loop = loops.last { try jump(to: loop.update) } else { try finish(Flow.continueLoop.code) }
        case .giveBack(let value):
            if let value {
                try self.value(of: value, into: NumberProgram.resultRegister)
            } else {
                try setNothing()
            }
            try finish(Flow.giveBack.code)
        case .function: break
        case .each, .importModule: throw Unsuitable()
        }
    }

    // MARK: Expressions that stand alone

    private mutating func statement(_ expression: Expression, keepsLast: Bool) throws {
        let result = NumberProgram.resultRegister
        switch expression.kind {
        case .assign(let target, let sign, let value):
            guard case .name(let name) = target.kind, let source = variable(name) else { throw Unsuitable() }
            try assign(value, to: source, with: sign)
            if keepsLast { try emit(.move, result, try read(source)) }
        case .increment(let target, let step, let isPrefix):
            guard case .name(let name) = target.kind, let source = variable(name) else { throw Unsuitable() }
            let register = try read(source)
            if keepsLast, !isPrefix { try emit(.move, result, register) }
            try emit(.add, try set(source), register, try constant(step))
            if keepsLast, isPrefix { try emit(.move, result, register) }
        default:
            // It is computed even where nobody needs it: it has to be arithmetic to stand here.
            let register = keepsLast ? result : try newRegister()
            try value(of: expression, into: register)
        }
    }

    private mutating func assign(
        _ value: Expression, to source: NumberProgram.Source, with sign: Sign? = nil
    ) throws {
        if let sign {
            guard let pair = NumberPairFunction(sign) else { throw Unsuitable() }
            let left = try read(source)
            let right = try operand(value)
            try join(pair, left, right, into: try set(source))
        } else if let operand = try variableOrConstant(value) {
            try emit(.move, try set(source), operand)
        } else {
            try self.value(of: value, into: try set(source))
        }
        assigned.insert(source)
    }

    private mutating func variableOrConstant(_ value: Expression) throws -> Int? {
        switch value.kind {
        case .number, .name, .member, .index: try operand(value)
        default: nil
        }
    }

    // MARK: Branches and loops

    private mutating func condition(
        _ branches: [Statement.Branch], _ otherwise: Statement?, keepsLast: Bool
    ) throws {
        try charge()
        // The value is nothing before a branch sets one; conditions set none.
        if keepsLast { try setNothing() }
        let end = try label()
        let before = assigned
        var after: Set<NumberProgram.Source>?
        for branch in branches {
            let other = try label()
            try jump(to: other, unless: branch.condition)
            assigned = before
            try add(branch.body, keepsLast: keepsLast)
            after = after?.intersection(assigned) ?? assigned
            try jump(to: end)
            place(other)
        }
        assigned = before
        if let otherwise { try add(otherwise, keepsLast: keepsLast) }
        assigned = after?.intersection(assigned) ?? assigned
        place(end)
    }

    private mutating func loop(
        _ start: Statement?, _ test: Expression?, _ update: Expression?, _ body: Statement, keepsLast: Bool
    ) throws {
        if let start { try add(start, keepsLast: false) }
        if keepsLast { try setNothing() }
        let (turn, next, end) = (try label(), try label(), try label())
        if let test { try jump(to: end, unless: test) }
        let before = assigned
        place(turn)
        try charge()
        loops.append((end: end, update: next))
        try add(body, keepsLast: keepsLast)
        loops.removeLast()
        // `continue` may have left out what the body sets.
        if body.leavesLoops { assigned = before }
        place(next)
        if let update { try statement(update, keepsLast: false) }
        assigned = before
        if let test { try jump(to: turn, if: test, is: true) } else { try jump(to: turn) }
        place(end)
    }
}

extension Statement {
    /// Whether a `break` or `continue` stands in it.
    var leavesLoops: Bool {
        switch kind {
        case .breakLoop, .continueLoop: true
        case .block(let inside): inside.contains(where: \.leavesLoops)
        case .condition(let branches, let otherwise):
            branches.contains { $0.body.leavesLoops } || otherwise?.leavesLoops == true
        case .loop(_, _, _, let body), .whileLoop(_, let body), .each(_, _, _, _, let body): body.leavesLoops
        default: false
        }
    }

    /// Whether a loop stands in it.
    var holdsLoop: Bool {
        switch kind {
        case .loop, .whileLoop: true
        case .block(let inside): inside.contains(where: \.holdsLoop)
        case .condition(let branches, let otherwise):
            branches.contains { $0.body.holdsLoop } || otherwise?.holdsLoop == true
        default: false
        }
    }
}
