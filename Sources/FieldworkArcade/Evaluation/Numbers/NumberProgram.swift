/// A part of a script that works with plain numbers alone, in a form that runs without values of any type: its variables, fields and
/// intermediate results stand unboxed in registers, and a step of it is one instruction.
///
/// A program begins when all variables that it reads and all fields that it names hold numbers. From there on it can meet nothing else,
/// since everything that it assigns is a number; so it runs to its end, and a limit or a cancellation is all that can stop it.
/// Where something is no number, the same part of the script is evaluated with values of any type instead. Both take what operators
/// and functions give from `NumberFunction`, `NumberPairFunction` and `NumberComparison`, and both count the same steps.
struct NumberProgram: Sendable {
    /// A variable of a function or of the script.
    enum Source: Sendable, Hashable {
        case local(Int), variable(Int)
    }

    /// A variable that the program reads or sets, and its register.
    struct Place: Sendable {
        let source: Source
        let register: Int
    }

    let instructions: [NumberInstruction]
    /// Variables that must hold a number when it begins.
    let inputs: [Place]
    /// Registers of fields that must hold a number.
    let fields: [Int]
    /// Variables that it may set.
    let outputs: [Place]
    /// Registers of variables that it may leave as they are, although it has not read them.
    let unsetAtFirst: [Int]
    /// Registers that it needs.
    let registerCount: Int

    /// Where the result stands: the value of an expression, or of the last statement.
    static let resultRegister = 0

    /// What a register holds that was set to no number: a NaN that no arithmetic gives, and that is read as no operand.
    static let nothing = Double(bitPattern: 0x7FF8_5EED_0F00_0001)

    /// The end of a truth program.
    static let isFalse = 0, isTrue = 1
}

/// One step of a program. Operands are numbers of registers: constants and fields of the script stand at negative ones.
struct NumberInstruction: Sendable {
    enum Operation: UInt8, Sendable {
        /// a = b
        case move
        /// a = b op c, for the most frequent operators.
        case add, subtract, multiply, divide
        /// a = pair(b, c)
        case pair
        /// a = function(b)
        case function
        /// Frequent functions: a = √b, a = |b|.
        case root, magnitude
        /// To the instruction c.
        case jump
        /// To the instruction c when the comparison of a with b holds.
        case jumpIfLess, jumpIfLessOrEqual, jumpIfEqual, jumpIfNotLess, jumpIfNotLessOrEqual, jumpIfNotEqual
        /// Counts a steps.
        case charge
        /// Ends with a.
        case finish
    }

    var operation: Operation
    var function = NumberFunction.abs
    var pair = NumberPairFunction.plus
    var a: Int16 = 0
    var b: Int16 = 0
    var c: Int16 = 0
}

extension Flow {
    /// The number with which a program ends.
    var code: Int16 {
        switch self {
        case .next: 0
        case .breakLoop: 1
        case .continueLoop: 2
        case .giveBack: 3
        }
    }

    init(code: Int) {
        switch code {
        case 1: self = .breakLoop
        case 2: self = .continueLoop
        case 3: self = .giveBack
        default: self = .next
        }
    }
}
