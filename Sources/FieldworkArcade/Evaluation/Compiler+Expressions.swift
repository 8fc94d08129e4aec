extension Compiler {
    func code(_ expression: Expression) -> Code {
        if let program = truthProgram(expression) {
            let general = withoutPrograms { generalCode(expression) }
            return { machine in
                if let truth = try program.truth(machine) { return .boolean(truth) }
                return try general(machine)
            }
        }
        guard let program = numberProgram(expression) else { return generalCode(expression) }
        let general = withoutPrograms { generalCode(expression) }
        return { machine in
            if let number = try program.number(machine) { return .number(number) }
            return try general(machine)
        }
    }

    /// With values of any type.
    private func generalCode(_ expression: Expression) -> Code {
        let offset = expression.offset
        switch expression.kind {
        case .null: return { _ in .null }
        case .boolean(let value): return { _ in .boolean(value) }
        case .number(let value): return { _ in .number(value) }
        case .text(let text): return { _ in .text(text) }
        case .template(let parts): return template(parts)
        case .name(let name): return self.name(name, at: offset)
        case .array(let elements):
            let codes = elements.map(code)
            return { machine in
                var values: [Value] = []
                values.reserveCapacity(codes.count)
                for code in codes { values.append(try code(machine)) }
                return try machine.array(values)
            }
        case .dictionary(let members):
            let codes = members.map { (key: $0.key, code: code($0.value)) }
            return { machine in
                try machine.dictionary(try codes.map { ($0.key, try $0.code(machine)) })
            }
        case .member(let object, let name): return member(object, name, at: offset)
        case .index(let object, let index): return self.index(object, index, at: offset)
        case .call(let callee, let arguments): return call(callee, arguments, at: offset)
        case .unary(let sign, let operand): return unary(sign, code(operand), at: offset)
        case .chain(let first, let links): return chain(first, links)
        case .logical(let isAnd, let operands): return logical(isAnd, operands)
        case .assign(let target, let sign, let value): return assignment(target, sign, value, at: offset)
        case .increment(let target, let step, let isPrefix): return increment(target, step, isPrefix, at: offset)
        }
    }

    private func template(_ parts: [Expression.TemplatePart]) -> Code {
        let codes = parts.map { part -> Code in
            switch part {
            case .text(let text): { _ in .text(text) }
            case .expression(let expression): code(expression)
            }
        }
        return { machine in
            var text = ""
            for code in codes { text += try Coercion.text(try code(machine), machine) }
            return try machine.text(text)
        }
    }

    // MARK: Names

    private func name(_ name: String, at offset: Int) -> Code {
        switch meaning(name) {
        case .local(let place): return { $0.stack[$0.base + place] }
        case .variable(let place): return { $0.stack[place] }
        case .scriptFunction(let number): return { _ in .function(.script(number)) }
        case .builtin(let builtin): return { _ in .function(.builtin(builtin)) }
        case .unknown: break
        }
        if let constant = Constants.value(name) { return { _ in constant.value } }
        if name.hasPrefix("$") { return Globals.code(name, self, at: offset) }
        let message = "“\(name)” is neither a variable nor a function."
        report(.syntax, message, at: offset)
        return { _ in throw ArcadeError(.runtime, message, at: offset) }
    }

    // MARK: Operators

    private func unary(_ sign: Sign, _ operand: @escaping Code, at offset: Int) -> Code {
        switch sign {
        case .not:
            return { machine in
                let value = try operand(machine)
                guard case .boolean(let truth) = value else {
                    throw ArcadeError(.runtime, "“!” needs a Boolean, and got \(value.kindName).", at: offset)
                }
                return .boolean(!truth)
            }
        case .minus: return { .number(NumberFunction.negative(try Coercion.number(try operand($0)))) }
        case .bitNot: return { .number(NumberFunction.bitNot(try Coercion.number(try operand($0)))) }
        default: return { .number(try Coercion.number(try operand($0))) }
        }
    }

    private func chain(_ first: Expression, _ links: [Expression.Link]) -> Code {
        let left = code(first)
        if links.count == 1 {
            let (sign, offset, right) = (links[0].sign, links[0].offset, code(links[0].operand))
            return { machine in
                let one = try left(machine)
                let other = try right(machine)
                do { return try Operators.apply(sign, one, other, machine) } catch { throw placed(error, at: offset) }
            }
        }
        let rest = links.map { (sign: $0.sign, offset: $0.offset, code: code($0.operand)) }
        return { machine in
            var value = try left(machine)
            for (sign, offset, code) in rest {
                let other = try code(machine)
                do { value = try Operators.apply(sign, value, other, machine) } catch {
                    throw placed(error, at: offset)
                }
            }
            return value
        }
    }

    private func logical(_ isAnd: Bool, _ operands: [Expression]) -> Code {
        let codes = operands.map { (code: code($0), offset: $0.offset) }
        return { machine in
            for (code, offset) in codes {
                let value = try code(machine)
                guard case .boolean(let truth) = value else {
                    throw ArcadeError(
                        .runtime, "“\(isAnd ? "&&" : "||")” needs Booleans, and got \(value.kindName).", at: offset)
                }
                if truth != isAnd { return .boolean(truth) }
            }
            return .boolean(isAnd)
        }
    }

    // MARK: Members

    private func member(_ object: Expression, _ name: String, at offset: Int) -> Code {
        if case .name(let owner) = object.kind, case .unknown = meaning(owner) {
            switch owner.lowercased() {
            case "$feature" where profile.globals.contains("$feature"): return field(name, at: offset)
            case "textformatting":
                if let text = Constants.textFormatting[name.lowercased()] { return { _ in .text(text) } }
                report(.syntax, "TextFormatting has no member “\(name)”.", at: offset)
                return { _ in throw ArcadeError(.runtime, "TextFormatting has no member “\(name)”.", at: offset) }
            default: break
            }
        }
        let object = code(object)
        return { machine in
            let owner = try object(machine)
            do { return try Access.member(owner, name, machine) } catch { throw placed(error, at: offset) }
        }
    }

    /// `$feature.NAME`: the place of the field is found once for features of one schema.
    private func field(_ name: String, at offset: Int) -> Code {
        let site = fieldSite(name)
        return { machine in
            guard let feature = machine.feature else {
                throw ArcadeError(.runtime, "There is no $feature here.", at: offset)
            }
            if machine.fieldSchema !== feature.schema { machine.findFields(of: feature.schema) }
            let place = machine.fieldPlaces[site]
            guard place >= 0 else {
                throw ArcadeError(.runtime, "The feature has no field “\(name)”.", at: offset)
            }
            return feature.value(at: place, machine)
        }
    }

    private func index(_ object: Expression, _ index: Expression, at offset: Int) -> Code {
        if case .text(let name) = index.kind, case .name(let owner) = object.kind, case .unknown = meaning(owner),
            owner.lowercased() == "$feature", profile.globals.contains("$feature")
        {
            return field(name, at: offset)
        }
        let (object, index) = (code(object), code(index))
        return { machine in
            let owner = try object(machine)
            let key = try index(machine)
            do { return try Access.element(owner, key, machine) } catch { throw placed(error, at: offset) }
        }
    }
}
