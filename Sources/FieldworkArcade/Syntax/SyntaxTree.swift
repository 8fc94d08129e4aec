/// An expression of a script, with the offset at which errors in it are shown.
struct Expression: Sendable {
    let kind: Kind
    let offset: Int
    /// Levels of expressions inside, itself included.
    let depth: Int

    indirect enum Kind: Sendable {
        case null
        case boolean(Bool)
        case number(Double)
        case text(String)
        case template([TemplatePart])
        case name(String)
        case array([Expression])
        case dictionary([DictionaryMember])
        case member(Expression, String)
        case index(Expression, Expression)
        case call(Expression, [Expression])
        case unary(Sign, Expression)
        /// Operators of one rank, from left to right.
        case chain(Expression, [Link])
        case logical(isAnd: Bool, [Expression])
        /// `operator` is nil for a plain assignment.
        case assign(Expression, operator: Sign?, Expression)
        case increment(Expression, by: Double, isPrefix: Bool)
    }

    struct Link: Sendable {
        let sign: Sign
        let offset: Int
        let operand: Expression
    }

    struct DictionaryMember: Sendable {
        let key: String
        let value: Expression
    }

    enum TemplatePart: Sendable {
        case text(String)
        case expression(Expression)
    }
}

/// A statement of a script.
struct Statement: Sendable {
    let kind: Kind
    let offset: Int
    /// Levels of statements and expressions inside, itself included.
    let depth: Int

    indirect enum Kind: Sendable {
        case expression(Expression)
        case variables([Variable])
        case block([Statement])
        case condition([Branch], otherwise: Statement?)
        case loop(start: Statement?, condition: Expression?, step: Expression?, body: Statement)
        case each(name: String, declares: Bool, isOf: Bool, Expression, body: Statement)
        case whileLoop(Expression, body: Statement)
        case breakLoop
        case continueLoop
        case giveBack(Expression?)
        case function(Function)
        case importModule(name: String)
    }

    struct Variable: Sendable {
        let name: String
        let offset: Int
        let value: Expression?
    }

    struct Branch: Sendable {
        let condition: Expression
        let body: Statement
    }

    struct Function: Sendable {
        let name: String
        let parameters: [String]
        let body: [Statement]
        let depth: Int
    }
}
