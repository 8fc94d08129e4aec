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
    private var fieldSiteNumbers: [String: Int] = [:]
    /// Constants and fields of programs over plain numbers, which have registers of the script's own.
    private var sharedRegisters: [SharedRegister] = []
    private var constantRegisters: [UInt64: Int] = [:]
    private var fieldRegisters: [String: Int] = [:]
    private var registerCount = 0
    /// How many instructions may still be tried.
    private var instructionsLeft = ArcadeLimits.numberInstructionsMax
    /// Whether parts of the script become programs over plain numbers.
    var makesPrograms: Bool

    private init(_ profile: ArcadeProfile, makesPrograms: Bool) {
        self.profile = profile
        self.makesPrograms = makesPrograms
    }

    /// - Parameter makesPrograms: whether arithmetic is evaluated over plain numbers where it can be. The result is the same.
    static func compile(
        _ statements: [Statement], _ profile: ArcadeProfile, makesPrograms: Bool = true
    ) -> (script: CompiledScript, problems: [ArcadeError]) {
        let compiler = Compiler(profile, makesPrograms: makesPrograms)
        return (compiler.script(statements), compiler.problems)
    }

    func report(_ kind: ArcadeError.Kind, _ message: String, at offset: Int) {
        guard problems.count < ArcadeLimits.problemsMax else { return }
        problems.append(ArcadeError(kind, message, at: offset))
    }

    private func script(_ statements: [Statement]) -> CompiledScript {
        collectFunctions(statements)
        collectVariables(statements, into: &scriptVariables)
        var (expression, number): (Code?, NumberProgram?)
        if statements.count == 1 {
            switch statements[0].kind {
            case .expression(let only), .giveBack(let only?): (expression, number) = (code(only), numberProgram(only))
            default: break
            }
        }
        let body: Step
        if expression == nil { body = block(statements) } else { body = { _ in .next } }
        let compiled = functions.map(function)
        return CompiledScript(
            expression: expression, body: body, functions: compiled, variableCount: scriptVariables.count,
            fieldSites: fieldSites, sharedRegisters: sharedRegisters, registerCount: registerCount, number: number)
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
        if let site = fieldSiteNumbers[name] { return site }
        fieldSiteNumbers[name] = fieldSites.count
        fieldSites.append(name)
        return fieldSites.count - 1
    }

    // MARK: Programs over plain numbers

    /// The register of a constant; nil when there are too many.
    func register(ofConstant number: Double) -> Int? {
        if let register = constantRegisters[number.bitPattern] { return register }
        let made = share(.constant(number))
        constantRegisters[number.bitPattern] = made
        return made
    }

    /// The register of an expression `$feature.NAME`; nil when there are too many.
    func register(ofField name: String) -> Int? {
        if let register = fieldRegisters[name] { return register }
        let made = share(.field(name))
        fieldRegisters[name] = made
        return made
    }

    private func share(_ register: SharedRegister) -> Int? {
        guard sharedRegisters.count < ArcadeLimits.numberProgramMax else { return nil }
        sharedRegisters.append(register)
        return -sharedRegisters.count
    }

    /// Counts an instruction, so that reading a long script takes no longer than its length is worth.
    func mayEmit() -> Bool {
        instructionsLeft -= 1
        return instructionsLeft >= 0
    }

    func reserveRegisters(_ count: Int) { registerCount = max(registerCount, count) }
}
