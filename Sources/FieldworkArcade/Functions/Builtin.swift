/// A function of the language.
struct Builtin: Sendable {
    typealias None = @Sendable (Machine) throws -> Value
    typealias One = @Sendable (Machine, Value) throws -> Value
    typealias Two = @Sendable (Machine, Value, Value) throws -> Value
    typealias Many = @Sendable (Machine, [Value]) throws -> Value

    /// What it does, by the number of values that it takes: a few are passed without an array. `two` may be called
    /// with one value; then the second is null.
    enum Body: Sendable {
        case none(None)
        case one(One)
        case two(Two)
        case many(Many)
    }

    let name: String
    let bundle: FunctionBundle
    let arity: ClosedRange<Int>
    let body: Body
    /// What it makes of one number, where it does nothing else with it; nil for other functions.
    var ofNumber: NumberFunction?
    /// What it makes of two numbers, likewise.
    var ofNumbers: NumberPairFunction?

    /// Whether it evaluates only what it chooses by conditions.
    var isChoice: Bool { name == "IIf" || name == "When" }

    static func none(_ name: String, _ body: @escaping None) -> Builtin {
        Builtin(name: name, bundle: .core, arity: 0...0, body: .none(body))
    }

    static func one(_ name: String, _ body: @escaping One) -> Builtin { one(name, .core, body) }

    static func one(_ name: String, _ bundle: FunctionBundle, _ body: @escaping One) -> Builtin {
        Builtin(name: name, bundle: bundle, arity: 1...1, body: .one(body))
    }

    static func two(_ name: String, optional: Bool = false, _ body: @escaping Two) -> Builtin {
        two(name, .core, optional: optional, body)
    }

    static func two(
        _ name: String, _ bundle: FunctionBundle, optional: Bool = false, _ body: @escaping Two
    ) -> Builtin {
        Builtin(name: name, bundle: bundle, arity: (optional ? 1 : 2)...2, body: .two(body))
    }

    static func many(_ name: String, _ arity: ClosedRange<Int>, _ body: @escaping Many) -> Builtin {
        many(name, arity, .core, body)
    }

    static func many(
        _ name: String, _ arity: ClosedRange<Int>, _ bundle: FunctionBundle, _ body: @escaping Many
    ) -> Builtin {
        Builtin(name: name, bundle: bundle, arity: arity, body: .many(body))
    }

    /// The most values of a function that takes any number of them.
    static let any = 1_000_000

    func call(_ machine: Machine, _ arguments: [Value]) throws -> Value {
        try machine.charge(1)
        guard arity.contains(arguments.count) else { throw ArcadeError.runtime(arityMessage(arguments.count)) }
        switch body {
        case .none(let body): return try body(machine)
        case .one(let body): return try body(machine, arguments.first ?? .null)
        case .two(let body):
            return try body(machine, arguments.first ?? .null, arguments.count > 1 ? arguments[1] : .null)
        case .many(let body): return try body(machine, arguments)
        }
    }

    func arityMessage(_ count: Int) -> String {
        let expected =
            arity.lowerBound == arity.upperBound
            ? "\(arity.lowerBound)"
            : (arity.upperBound == Self.any
                ? "\(arity.lowerBound) or more" : "\(arity.lowerBound) to \(arity.upperBound)")
        return "\(name) takes \(expected) values, and got \(count)."
    }
}

/// All functions, by name in lower case.
enum FunctionCatalogue {
    private static let functions: [String: Builtin] = {
        let all = [
            TextFunctions.all, TextCodeFunctions.all, MathsFunctions.all, StatisticsFunctions.all, LogicFunctions.all,
            DateFunctions.all, DatePartFunctions.all, DateMakingFunctions.all, ArrayFunctions.all,
            HigherFunctions.all, DictionaryFunctions.all, FeatureFunctions.all, AttachmentFunctions.all,
            DomainFunctions.all,
            FeatureSetFunctions.all, LayerFunctions.all, GeometryMakingFunctions.all, GeometryRelationFunctions.all,
            GeometryMeasureFunctions.all, GeometryShapeFunctions.all, GeometryOverlayFunctions.all, OtherFunctions.all,
        ]
        return Dictionary(
            all.joined().map { ($0.name.lowercased(), $0) }, uniquingKeysWith: { first, _ in first })
    }()

    static func function(_ lowerCaseName: String) -> Builtin? { functions[lowerCaseName] }

    /// The names as they are documented, in order.
    static var names: [String] { functions.values.map(\.name).sorted() }
}

/// Reads arguments of functions.
enum Arguments {
    static func text(_ value: Value, _ purpose: String, _ machine: Machine) throws -> String {
        guard case .text(let text) = value else {
            throw ArcadeError.runtime("\(purpose) must be a Text, and is \(value.kindName).")
        }
        return text
    }

    /// A whole number; fractions are cut off.
    static func whole(_ value: Value, _ purpose: String) throws -> Int {
        let number = try Coercion.number(value)
        guard let whole = Int(exactly: number.rounded(.towardZero)) else {
            throw ArcadeError.runtime("\(purpose) must be a Number, and is \(NumberText.text(number)).")
        }
        // So that sums of a few of them don't overflow.
        return max(-0x10_0000_0000, min(0x10_0000_0000, whole))
    }

    static func array(_ value: Value, _ purpose: String) throws -> ArrayObject {
        guard case .array(let array) = value else {
            throw ArcadeError.runtime("\(purpose) must be an Array, and is \(value.kindName).")
        }
        return array
    }

    static func function(_ value: Value, _ purpose: String) throws -> FunctionValue {
        guard case .function(let function) = value else {
            throw ArcadeError.runtime("\(purpose) must be a function, and is \(value.kindName).")
        }
        return function
    }

    static func truth(_ value: Value, _ purpose: String) throws -> Bool {
        guard case .boolean(let truth) = value else {
            throw ArcadeError.runtime("\(purpose) must be a Boolean, and is \(value.kindName).")
        }
        return truth
    }
}

extension Array where Element == Value {
    /// An argument that may be missing.
    func value(_ index: Int) -> Value { index < count ? self[index] : .null }
}
