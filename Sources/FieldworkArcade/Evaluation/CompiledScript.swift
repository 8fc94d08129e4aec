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
    /// Expressions `$feature.NAME`.
    let fieldSiteCount: Int

    /// Runs it.
    func run(_ machine: Machine) throws -> Value {
        if let expression { return try expression(machine) }
        _ = try body(machine)
        return machine.last
    }
}
