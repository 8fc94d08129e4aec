extension Compiler {
    func call(_ callee: Expression, _ arguments: [Expression], at offset: Int) -> Code {
        guard case .name(let name) = callee.kind else { return callOfValue(code(callee), arguments, at: offset) }
        switch meaning(name) {
        case .local, .variable: return callOfValue(code(callee), arguments, at: offset)
        case .scriptFunction(let number):
            let expected = parameterCount(ofFunction: number)
            if expected != arguments.count {
                report(
                    .syntax, "The function “\(name)” takes \(expected) values, and gets \(arguments.count).", at: offset
                )
            }
            let codes = arguments.map(code)
            return { machine in
                var values: [Value] = []
                values.reserveCapacity(codes.count)
                for code in codes { values.append(try code(machine)) }
                do { return try machine.call(number, values) } catch { throw placed(error, at: offset) }
            }
        case .builtin(let builtin): return call(builtin, arguments, at: offset)
        case .unknown:
            let message = "The function “\(name)” is not supported."
            report(.notSupported, message, at: offset)
            return { _ in throw ArcadeError(.notSupported, message, at: offset) }
        }
    }

    private func callOfValue(_ callee: @escaping Code, _ arguments: [Expression], at offset: Int) -> Code {
        let codes = arguments.map(code)
        return { machine in
            let function = try callee(machine)
            guard case .function(let function) = function else {
                throw ArcadeError(.runtime, "What is called here is no function but \(function.kindName).", at: offset)
            }
            let values = try codes.map { try $0(machine) }
            do { return try machine.call(function, values) } catch { throw placed(error, at: offset) }
        }
    }

    /// A call of one of the language's own functions.
    private func call(_ builtin: Builtin, _ arguments: [Expression], at offset: Int) -> Code {
        if builtin.bundle != .core, !profile.bundles.contains(builtin.bundle) {
            let message = "The function “\(builtin.name)” can't be used in the profile \(profile.name)."
            report(.notSupported, message, at: offset)
            return { _ in throw ArcadeError(.notSupported, message, at: offset) }
        }
        guard builtin.arity.contains(arguments.count) else {
            let message = builtin.arityMessage(arguments.count)
            report(.syntax, message, at: offset)
            return { _ in throw ArcadeError(.runtime, message, at: offset) }
        }
        if let lazy = lazyCall(builtin.name, arguments, at: offset) { return lazy }
        let codes = arguments.map(code)
        switch builtin.body {
        case .one(let body) where codes.count == 1:
            let first = codes[0]
            return { machine in
                let value = try first(machine)
                do { return try body(machine, value) } catch { throw placed(error, at: offset) }
            }
        case .two(let body) where codes.count == 2:
            let (first, second) = (codes[0], codes[1])
            return { machine in
                let one = try first(machine)
                let other = try second(machine)
                do { return try body(machine, one, other) } catch { throw placed(error, at: offset) }
            }
        case .two(let body) where codes.count == 1:
            let first = codes[0]
            return { machine in
                let one = try first(machine)
                do { return try body(machine, one, .null) } catch { throw placed(error, at: offset) }
            }
        default:
            return { machine in
                var values: [Value] = []
                values.reserveCapacity(codes.count)
                for code in codes { values.append(try code(machine)) }
                do { return try builtin.call(machine, values) } catch { throw placed(error, at: offset) }
            }
        }
    }

    /// Functions that evaluate only what they choose; and those that read a variable by the name in their SQL.
    private func lazyCall(_ name: String, _ arguments: [Expression], at offset: Int) -> Code? {
        switch name {
        case "IIf", "When":
            let choices = stride(from: 0, to: arguments.count - 1, by: 2).map { index in
                Choice(test: condition(arguments[index], of: name, at: offset), value: code(arguments[index + 1]))
            }
            let otherwise = code(arguments[arguments.count - 1])
            return { machine in
                for choice in choices where try choice.test(machine) { return try choice.value(machine) }
                return try otherwise(machine)
            }
        case "Filter" where arguments.count == 2, "Filter" where arguments.count == 3:
            return filter(arguments, at: offset)
        default: return nil
        }
    }

    /// A condition with the value that it chooses. Closures in a structure of their own are called without a detour.
    private struct Choice: Sendable {
        let test: @Sendable (Machine) throws -> Bool
        let value: Code
    }

    private func condition(
        _ expression: Expression, of name: String, at offset: Int
    ) -> @Sendable (Machine) throws -> Bool {
        guard let program = truthProgram(expression) else { return generalCondition(expression, of: name, at: offset) }
        let general = withoutPrograms { generalCondition(expression, of: name, at: offset) }
        return { machine in
            if let truth = try program.truth(machine) { return truth }
            return try general(machine)
        }
    }

    private func generalCondition(
        _ expression: Expression, of name: String, at offset: Int
    ) -> @Sendable (Machine) throws -> Bool {
        let general = code(expression)
        return { machine in
            let value = try general(machine)
            guard case .boolean(let truth) = value else {
                throw ArcadeError(
                    .runtime, "A condition of \(name) must be a Boolean, and is \(value.kindName).", at: offset)
            }
            return truth
        }
    }

    /// `Filter` of features: `@name` in its SQL is a variable of the script.
    private func filter(_ arguments: [Expression], at offset: Int) -> Code {
        let (values, test) = (code(arguments[0]), code(arguments[1]))
        let variables = visibleVariables
        return { machine in
            let values = try values(machine)
            let test = try test(machine)
            do {
                guard case .featureSet(let features) = values else {
                    return try ArrayFunctions.filter(machine, values, test)
                }
                let sql = try Arguments.text(test, "the condition", machine)
                let condition = try SQLParser.parse(sql) { name in
                    guard let slot = variables[name.lowercased()] else {
                        throw ArcadeError.runtime("There is no variable “\(name)” for the SQL.")
                    }
                    return try ValueExport.value(slot.get(machine), machine)
                }
                return try machine.featureSet(features.query.filtered(condition), parent: features)
            } catch { throw placed(error, at: offset) }
        }
    }
}
