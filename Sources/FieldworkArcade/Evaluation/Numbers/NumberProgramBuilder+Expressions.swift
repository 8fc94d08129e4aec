extension NumberProgramBuilder {
    /// The register that holds the value of an expression: that of a variable, field or constant, else a new one.
    mutating func operand(_ expression: Expression) throws -> Int {
        switch expression.kind {
        case .number(let number): return try constant(number)
        case .name(let name): return try read(name: name)
        case .member(let object, let name):
            guard compiler.isFeature(object) else { throw Unsuitable() }
            return try field(name)
        case .index(let object, let index):
            guard compiler.isFeature(object), case .text(let name) = index.kind else { throw Unsuitable() }
            return try field(name)
        default:
            let register = try newRegister()
            try value(of: expression, into: register)
            return register
        }
    }

    /// Computes an expression into a register. The register is set last of all, so that it may be one of the operands.
    mutating func value(of expression: Expression, into register: Int) throws {
        switch expression.kind {
        case .number, .name, .member, .index: try emit(.move, register, try operand(expression))
        case .unary(let sign, let inside): try unary(sign, inside, into: register)
        case .chain(let first, let links): try chain(first, links, into: register)
        case .call(let callee, let arguments): try call(callee, arguments, into: register)
        default: throw Unsuitable()
        }
    }

    private mutating func read(name: String) throws -> Int {
        if let variable = variable(name) { return try read(variable) }
        guard case .unknown = compiler.meaning(name), case .number(let number)? = Constants.value(name) else {
            throw Unsuitable()
        }
        return try constant(number)
    }

    /// The variable of a name; nil where the name stands for something else.
    func variable(_ name: String) -> NumberProgram.Source? {
        switch compiler.meaning(name) {
        case .local(let place): .local(place)
        case .variable(let place): .variable(place)
        default: nil
        }
    }

    // MARK: Operators

    private mutating func unary(_ sign: Sign, _ inside: Expression, into register: Int) throws {
        switch sign {
        case .minus:
            // A negative literal is a constant.
            if case .number(let number) = inside.kind { return try emit(.move, register, try constant(-number)) }
            try emit(.function, register, try operand(inside), function: .negative)
        case .plus: try value(of: inside, into: register)
        case .bitNot: try emit(.function, register, try operand(inside), function: .bitNot)
        default: throw Unsuitable()
        }
    }

    private mutating func chain(_ first: Expression, _ links: [Expression.Link], into register: Int) throws {
        guard !links.isEmpty else { throw Unsuitable() }
        var left = try operand(first)
        for (index, link) in links.enumerated() {
            guard let pair = NumberPairFunction(link.sign) else { throw Unsuitable() }
            let right = try operand(link.operand)
            let target = index == links.count - 1 ? register : try newRegister()
            try join(pair, left, right, into: target)
            left = target
        }
    }

    mutating func join(_ pair: NumberPairFunction, _ left: Int, _ right: Int, into register: Int) throws {
        switch pair {
        case .plus: try emit(.add, register, left, right)
        case .minus: try emit(.subtract, register, left, right)
        case .times: try emit(.multiply, register, left, right)
        case .divide: try emit(.divide, register, left, right)
        default: try emit(.pair, register, left, right, pair: pair)
        }
    }

    // MARK: Functions

    private mutating func call(_ callee: Expression, _ arguments: [Expression], into register: Int) throws {
        guard case .name(let name) = callee.kind, case .builtin(let builtin) = compiler.meaning(name) else {
            throw Unsuitable()
        }
        if arguments.count == 1, let function = builtin.ofNumber {
            let operand = try operand(arguments[0])
            switch function {
            case .sqrt: try emit(.root, register, operand)
            case .abs: try emit(.magnitude, register, operand)
            default: try emit(.function, register, operand, function: function)
            }
        } else if arguments.count == 2, let pair = builtin.ofNumbers {
            let (one, other) = (try operand(arguments[0]), try operand(arguments[1]))
            try emit(.pair, register, one, other, pair: pair)
        } else if builtin.isChoice, arguments.count >= 3, arguments.count % 2 == 1 {
            guard builtin.arity.contains(arguments.count) else { throw Unsuitable() }
            try choice(arguments, into: register)
        } else {
            throw Unsuitable()
        }
    }

    /// `IIf` and `When`: only what is chosen is computed.
    private mutating func choice(_ arguments: [Expression], into register: Int) throws {
        let end = try label()
        for index in stride(from: 0, to: arguments.count - 1, by: 2) {
            let other = try label()
            try jump(to: other, unless: arguments[index])
            try value(of: arguments[index + 1], into: register)
            try jump(to: end)
            place(other)
        }
        try value(of: arguments[arguments.count - 1], into: register)
        place(end)
    }

    // MARK: Conditions

    mutating func jump(to label: Label, unless condition: Expression) throws {
        try jump(to: label, if: condition, is: false)
    }

    /// Goes to a label when a condition has this truth, and on behind it when it has the other.
    mutating func jump(to label: Label, if condition: Expression, is wanted: Bool) throws {
        switch condition.kind {
        case .boolean(let truth): if truth == wanted { try jump(to: label) }
        case .unary(.not, let inside): try jump(to: label, if: inside, is: !wanted)
        case .logical(let isAnd, let operands):
            // The first operand that differs from `isAnd` decides.
            if wanted != isAnd {
                for operand in operands { try jump(to: label, if: operand, is: wanted) }
            } else {
                let on = try self.label()
                for operand in operands.dropLast() { try jump(to: on, if: operand, is: !wanted) }
                if let last = operands.last { try jump(to: label, if: last, is: wanted) }
                place(on)
            }
        case .chain(let first, let links):
            guard links.count == 1, let (comparison, isSwapped) = NumberComparison.of(links[0].sign) else {
                throw Unsuitable()
            }
            let (left, right) = (try operand(first), try operand(links[0].operand))
            try jump(
                to: label, when: wanted ? comparison : comparison.opposite, isSwapped ? right : left,
                isSwapped ? left : right)
        default: throw Unsuitable()
        }
    }
}
