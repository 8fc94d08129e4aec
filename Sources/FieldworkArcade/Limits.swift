/// The limits of a script, so that each one ends, whatever it says.
public enum ArcadeLimits {
    /// Bytes of the text of a script.
    package static let scriptBytesMax = 1_000_000
    /// Levels that expressions and blocks may stand inside each other.
    package static let nestingMax = 100
    /// Errors of one script that are reported.
    package static let problemsMax = 100
    /// Calls of a script's own functions that may be under way at one time.
    package static let callDepthMax = 64
    /// Levels of expressions and blocks of all calls that are under way: what keeps the processor's stack in bounds.
    package static let levelsMax = 1_500
    /// Steps of one evaluation: statements, calls, turns of loops, and the work inside of functions.
    package static let stepsMax = 5_000_000
    /// Bytes of texts, arrays and dictionaries that one evaluation may make.
    package static let memoryMax = 256 * 1_024 * 1_024
    /// UTF-16 units of one text that a script makes.
    package static let textMax = 8 * 1_024 * 1_024
    /// Elements of one array or dictionary that a script makes.
    package static let elementsMax = 1_000_000
    /// Levels of arrays and dictionaries that are written, copied or given back.
    package static let valueDepthMax = 64
    /// Filters, orders and the like that may be stacked on one feature set.
    package static let queryDepthMax = 64
    /// Features that are fetched at a time while a script goes through a layer.
    package static let pageSize = 500
    /// Features that one evaluation may fetch.
    package static let featuresMax = 200_000
    /// Vertices of the geometries that one evaluation may make.
    package static let verticesMax = 2_000_000
    /// Instructions and registers of a part of a script that is evaluated over plain numbers; longer parts are evaluated otherwise.
    package static let numberProgramMax = 4_096
    /// Instructions over plain numbers that are tried for one script.
    package static let numberInstructionsMax = 200_000
    /// Statements that are evaluated over plain numbers together.
    package static let numberStatementsMax = 64
    /// Lines that one evaluation may write to its console.
    package static let consoleLinesMax = 1_000
    /// Compiled scripts that are kept for the next evaluation.
    package static let keptScriptsMax = 512
}
