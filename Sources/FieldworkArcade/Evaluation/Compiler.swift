/// Turns statements into code: names become places of variables, calls are bound to their functions. What it can't
/// resolve fails when it is run, and is reported to whoever only checks the script.
final class Compiler {
    let profile: ArcadeProfile
    /// What is wrong, found without running.
    private(set) var problems: [ArcadeError] = []
    private var functionNumbers: [String: Int] = [:]
    private var functions: [Statement.Function] = []
    private var scriptVariables: [String: Int] = [:]
    private var localVariables: [String: Int]?
    private(set) var fieldSites: [String] = []

    private init(_ profile: ArcadeProfile) { self.profile = profile }

    static func compile(
        _ statements: [Statement], _ profile: ArcadeProfile
    ) -> (script: CompiledScript, problems: [ArcadeError]) {
        let compiler = Compiler(profile)
        return (compiler.script(statements), compiler.problems)
    }

    func report(_ kind: ArcadeError.Kind, _ message: String, at offset: Int) {
        guard problems.count < ArcadeLimits.problemsMax else { return }
        problems.append(ArcadeError(kind, message, at: offset))
    }

    private func script(_ statements: [Statement]) -> CompiledScript {
        collectFunctions(statements)
        collectVariables(statements, into: &scriptVariables)
        var expression: Code?
        if statements.count == 1 {
            switch statements[0].kind {
            case .expression(let only), .giveBack(let only?): expression = code(only)
            default: break
            }
        }
        let body: Step
        if expression == nil { body = block(statements) } else { body = { _ in .next } }
        let compiled = functions.map(function)
        return CompiledScript(
            expression: expression, body: body, functions: compiled, variableCount: scriptVariables.count,
            fieldSiteCount: fieldSites.count)
    }

    private func function(_ function: Statement.Function) -> CompiledScript.Function {
        var variables: [String: Int] = [:]
        for parameter in function.parameters where variables[parameter] == nil {
            variables[parameter] = variables.count
        }
        collectVariables(function.body, into: &variables)
        localVariables = variables
        defer { localVariables = nil }
        return CompiledScript.Function(
            name: function.name, parameterCount: function.parameters.count, variableCount: variables.count,
            depth: function.depth + 2, body: block(function.body))
    }

    // MARK: Names

    private func collectFunctions(_ statements: [Statement]) {
        Self.walk(statements) { statement in
            guard case .function(let function) = statement.kind else { return }
            if functionNumbers[function.name] != nil {
                report(.syntax, "There are two functions called “\(function.name)”.", at: statement.offset)
            } else {
                functionNumbers[function.name] = functions.count
                functions.append(function)
            }
        }
    }

    /// Variables of a script or a function: blocks have none of their own.
    private func collectVariables(_ statements: [Statement], into variables: inout [String: Int]) {
        func declare(_ name: String) {
            if variables[name] == nil { variables[name] = variables.count }
        }
        Self.walk(statements) { statement in
            switch statement.kind {
            case .variables(let made): for variable in made { declare(variable.name) }
            case .each(let name, true, _, _, _): declare(name)
            default: break
            }
        }
    }

    /// Every statement, without those inside of functions.
    private static func walk(_ statements: [Statement], _ visit: (Statement) -> Void) {
        for statement in statements {
            visit(statement)
            switch statement.kind {
            case .block(let inside): walk(inside, visit)
            case .condition(let branches, let otherwise):
                walk(branches.map(\.body), visit)
                walk(otherwise.map { [$0] } ?? [], visit)
            case .loop(let start, _, _, let body): walk((start.map { [$0] } ?? []) + [body], visit)
            case .each(_, _, _, _, let body), .whileLoop(_, let body): walk([body], visit)
            default: break
            }
        }
    }

    /// What a name stands for.
    enum Meaning {
        case local(Int)
        case variable(Int)
        case scriptFunction(Int)
        case builtin(Builtin)
        case unknown
    }

    func meaning(_ name: String) -> Meaning {
        let name = name.lowercased()
        if let place = localVariables?[name] { return .local(place) }
        if let place = scriptVariables[name] { return .variable(place) }
        if let number = functionNumbers[name] { return .scriptFunction(number) }
        if let builtin = FunctionCatalogue.function(name) { return .builtin(builtin) }
        return .unknown
    }

    /// The variables that a script may name in SQL at the place that is compiled.
    var visibleVariables: [String: Slot] {
        scriptVariables.mapValues(Slot.variable).merging((localVariables ?? [:]).mapValues(Slot.local)) { $1 }
    }

    func parameterCount(ofFunction number: Int) -> Int { functions[number].parameters.count }

    /// A place for what is found out about an expression `$feature.NAME`.
    func fieldSite(_ name: String) -> Int {
        if let site = fieldSites.firstIndex(of: name) { return site }
        fieldSites.append(name)
        return fieldSites.count - 1
    }
}
