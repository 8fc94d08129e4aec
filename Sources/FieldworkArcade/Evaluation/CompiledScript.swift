/// An expression, ready to run.
typealias Code = @Sendable (Machine) throws -> Value
/// A statement, ready to run.
typealias Step = @Sendable (Machine) throws -> Flow

/// How a statement ended.
enum Flow: Sendable {
    case next, breakLoop, continueLoop, giveBack
}

/// A script whose names are resolved to places.
struct CompiledScript: Sendable {
    struct Function: Sendable {
        let name: String
        let parameterCount: Int
        let variableCount: Int
        let depth: Int
        let body: Step
    }

    /// The script when it is one expression; then there are no statements to run.
    let expression: Code?
    let body: Step
    let functions: [Function]
    /// Variables of the script itself.
    let variableCount: Int
    /// The names of expressions `$feature.NAME`.
    let fieldSites: [String]
    /// Registers that all programs over plain numbers share, the first at -1, and how many others the largest of them needs.
    let sharedRegisters: [SharedRegister]
    let registerCount: Int
    /// The script when it is arithmetic over plain numbers and nothing else.
    let number: NumberProgram?

    /// Runs it.
    func run(_ machine: Machine) throws -> Value {
        if let expression { return try expression(machine) }
        _ = try body(machine)
        return machine.last
    }
}

/// What a register holds for all programs of a script.
enum SharedRegister: Sendable {
    case constant(Double)
    /// The value of `$feature.NAME`.
    case field(String)
}
