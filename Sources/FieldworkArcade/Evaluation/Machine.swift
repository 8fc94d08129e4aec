import FieldworkGeometry
import Foundation
import Synchronization

/// The state of an evaluation: variables, what may still be used up, and the globals that were read.
final class Machine {
    let script: CompiledScript
    let context: ArcadeContext
    let zone: ArcadeZone
    /// The variables of all calls that are under way, the script's own first.
    var stack: [Value]
    /// Where the variables of the call begin.
    var base = 0
    /// The value of the statement that ran last.
    var last: Value = .null
    /// What `$feature` is.
    var feature: FeatureObject?
    private var original: FeatureObject??
    /// Where each expression `$feature.NAME` of the script found its field, for features of one schema.
    var fieldPlaces: [Int]
    var fieldSchema: ArcadeSchema?
    /// Registers of programs over plain numbers; those that the script's programs share stand before them.
    let registers: UnsafeMutablePointer<Double>
    /// The registers of fields, and where features of the bound schema have them; -1 for what is no number.
    let numberFields: UnsafeMutablePointer<(register: Int, place: Int)>
    let numberFieldCount: Int
    var boundSchema: ArcadeSchema?
    private(set) var console: [String] = []
    private var random: SeededNumbers
    private var zones: [String: ArcadeZone] = [:]
    /// Containers that hold others since they were made: emptied at the end, so that no circle of references stays.
    private var linkedArrays: [ArrayObject] = []
    private var linkedDictionaries: [DictionaryObject] = []

    // What may still be used.
    /// Steps until the next look at what is left. Not a variable of its own: each access to one is checked.
    private let fuel: UnsafeMutablePointer<Int>
    private var reserve: Int
    private var memory: Int
    private var featuresLeft = ArcadeLimits.featuresMax
    private var verticesLeft = ArcadeLimits.verticesMax
    private var callDepth = 0
    private var levels = 0
    private let stop: CancellationFlag?

    private static let fuelPortion = 4_096

    init(_ script: CompiledScript, _ context: ArcadeContext, stop: CancellationFlag?) {
        self.script = script
        self.context = context
        self.stop = stop
        zone = context.zone
        stack = Array(repeating: .null, count: script.variableCount)
        fieldPlaces = Array(repeating: -1, count: script.fieldSites.count)
        registers = Self.registers(of: script)
        numberFieldCount = script.sharedRegisters.count { if case .field = $0 { true } else { false } }
        numberFields = .allocate(capacity: numberFieldCount + 1)
        numberFields.initialize(repeating: (0, -1), count: numberFieldCount + 1)
        feature = context.feature.map { FeatureObject($0) }
        random = SeededNumbers(seed: context.seed)
        fuel = .allocate(capacity: 1)
        fuel.initialize(to: min(Self.fuelPortion, context.stepsMax))
        reserve = context.stepsMax - fuel.pointee
        memory = context.memoryMax
        if let feature = context.feature { bindFields(of: feature) }
    }

    deinit {
        (registers - script.sharedRegisters.count).deallocate()
        numberFields.deallocate()
        fuel.deallocate()
    }

    /// Ready for the next feature: nothing of the last evaluation stays but where fields are.
    func reset(_ feature: ArcadeFeature) {
        release()
        last = .null
        base = 0
        for index in stack.indices { stack[index] = .null }
        // Where no value of an earlier run still refers to the object, it is used again instead of a new one.
        if isKnownUniquelyReferenced(&self.feature), let known = self.feature, known.source == nil {
            known.become(feature)
        } else {
            self.feature = FeatureObject(feature)
        }
        bindFields(of: feature)
        fuel.pointee = min(Self.fuelPortion, context.stepsMax)
        reserve = context.stepsMax - fuel.pointee
        memory = context.memoryMax
        featuresLeft = ArcadeLimits.featuresMax
        verticesLeft = ArcadeLimits.verticesMax
        (callDepth, levels) = (0, 0)
        random = SeededNumbers(seed: context.seed)
    }

    /// Lets go of arrays and dictionaries that hold each other.
    func release() {
        if linkedArrays.isEmpty, linkedDictionaries.isEmpty { return }
        for array in linkedArrays { array.elements = [] }
        for dictionary in linkedDictionaries { dictionary.removeAll() }
        linkedArrays = []
        linkedDictionaries = []
    }

    // MARK: What may be used

    /// Counts steps, and looks now and then whether the task was cancelled.
    @inline(__always)
    func charge(_ steps: Int) throws {
        fuel.pointee -= steps
        if fuel.pointee < 0 { try refuel() }
    }

    private func refuel() throws {
        if stop?.isSet == true { throw ArcadeError(.cancelled, "The evaluation was cancelled.") }
        guard fuel.pointee + reserve >= 0 else {
            throw ArcadeError(.limit, "The script took more than \(context.stepsMax) steps and was stopped.")
        }
        let portion = min(Self.fuelPortion, fuel.pointee + reserve)
        reserve = fuel.pointee + reserve - portion
        fuel.pointee = portion
    }

    func chargeMemory(_ bytes: Int) throws {
        memory -= bytes
        guard memory >= 0 else {
            throw ArcadeError(.limit, "The script used more than \(context.memoryMax) bytes and was stopped.")
        }
        try charge(bytes >> 6)
    }

    func chargeFeatures(_ count: Int) throws {
        featuresLeft -= count
        guard featuresLeft >= 0 else {
            throw ArcadeError(.limit, "The script read more than \(ArcadeLimits.featuresMax) features.")
        }
        try charge(count)
    }

    /// Geometry costs by its vertices.
    func chargeVertices(_ count: Int) throws {
        verticesLeft -= count
        guard verticesLeft >= 0 else {
            throw ArcadeError(.limit, "The script worked on more than \(ArcadeLimits.verticesMax) vertices.")
        }
        try charge(count)
    }

    /// Runs a function of the script.
    func call(_ index: Int, _ arguments: [Value]) throws -> Value {
        let function = script.functions[index]
        guard arguments.count == function.parameterCount else {
            throw ArcadeError.runtime(
                "The function “\(function.name)” takes \(function.parameterCount) values, and got \(arguments.count).")
        }
        guard callDepth < ArcadeLimits.callDepthMax, levels + function.depth <= ArcadeLimits.levelsMax else {
            throw ArcadeError(.limit, "Functions call each other too deep (\(ArcadeLimits.callDepthMax) calls).")
        }
        try charge(2)
        callDepth += 1
        levels += function.depth
        let (outerBase, outerLast) = (base, last)
        base = stack.count
        stack.append(contentsOf: arguments)
        for _ in arguments.count..<max(arguments.count, function.variableCount) { stack.append(.null) }
        last = .null
        defer {
            stack.removeLast(stack.count - base)
            base = outerBase
            last = outerLast
            levels -= function.depth
            callDepth -= 1
        }
        _ = try function.body(self)
        return last
    }

    /// Calls a function that was passed as a value.
    func call(_ function: FunctionValue, _ arguments: [Value]) throws -> Value {
        switch function {
        case .script(let index): return try call(index, arguments)
        case .builtin(let builtin):
            guard callDepth < ArcadeLimits.callDepthMax, levels + 20 <= ArcadeLimits.levelsMax else {
                throw ArcadeError(.limit, "Functions call each other too deep (\(ArcadeLimits.callDepthMax) calls).")
            }
            callDepth += 1
            levels += 20
            defer {
                callDepth -= 1
                levels -= 20
            }
            return try builtin.call(self, arguments)
        }
    }

    // MARK: What scripts make

    func text(_ text: String) throws -> Value {
        let size = text.utf8.count
        if size > 15 {
            guard size <= ArcadeLimits.textMax else {
                throw ArcadeError(.limit, "A text may have \(ArcadeLimits.textMax) bytes.")
            }
            try chargeMemory(size + 32)
        }
        return .text(text)
    }

    func array(_ elements: [Value]) throws -> Value { .array(try arrayObject(elements)) }

    func arrayObject(_ elements: [Value]) throws -> ArrayObject {
        try checkCount(elements.count)
        try chargeMemory(64 + elements.count * 24)
        let made = ArrayObject(elements)
        try check(depth: made.depth)
        return made
    }

    func dictionary(_ members: [(String, Value)]) throws -> Value {
        try checkCount(members.count)
        try chargeMemory(128 + members.count * 96)
        let made = DictionaryObject(members)
        try check(depth: made.depth)
        return .dictionary(made)
    }

    func checkCount(_ count: Int) throws {
        guard count <= ArcadeLimits.elementsMax else {
            throw ArcadeError(.limit, "An array or dictionary may have \(ArcadeLimits.elementsMax) elements.")
        }
    }

    private func check(depth: Int) throws {
        guard depth <= 2 * ArcadeLimits.valueDepthMax else {
            throw ArcadeError(.limit, "Arrays and dictionaries are nested too deep.")
        }
    }

    /// Notes that an array will hold a value that may hold the array.
    func link(_ array: ArrayObject, _ value: Value) {
        if value.depth > 0 { linkedArrays.append(array) }
    }

    func link(_ dictionary: DictionaryObject, _ value: Value) {
        if value.depth > 0 { linkedDictionaries.append(dictionary) }
    }

    func featureSet(_ query: ArcadeFeatureQuery, parent: FeatureSetObject?) throws -> Value {
        let made = FeatureSetObject(query, parent: parent)
        guard made.depth <= ArcadeLimits.queryDepthMax, query.conditions.count + query.places.count <= 256 else {
            throw ArcadeError(.limit, "Too many filters stand on one feature set (\(ArcadeLimits.queryDepthMax)).")
        }
        try chargeMemory(256)
        return .featureSet(made)
    }

    // MARK: The world outside

    func source() throws -> any ArcadeDataSource {
        guard let data = context.data else {
            throw ArcadeError(.dataAccess, "Layers can't be read here.")
        }
        if stop?.isSet == true { throw ArcadeError(.cancelled, "The evaluation was cancelled.") }
        return data
    }

    var answers: MemoryAnswers { MemoryAnswers(evaluation: SQLEvaluation(now: context.now, zone: zone)) }

    var originalFeature: FeatureObject? {
        if let original { return original }
        let made = context.originalFeature.map { FeatureObject($0) }
        original = .some(made)
        return made
    }

    func randomNumber() -> UInt64 { random.next() }

    func log(_ line: String) {
        if console.count < ArcadeLimits.consoleLinesMax { console.append(line) }
    }

    /// A zone by name.
    func zone(named name: String) throws -> ArcadeZone {
        if let known = zones[name] { return known }
        let zone = name.lowercased() == "system" ? context.systemZone : ArcadeZone(name)
        guard let zone else { throw ArcadeError.runtime("There is no time zone “\(name)”.") }
        zones[name] = zone
        return zone
    }
}

/// Says that an evaluation shall end.
final class CancellationFlag: Sendable {
    private let flag = Atomic(false)
    var isSet: Bool { flag.load(ordering: .relaxed) }
    func set() { flag.store(true, ordering: .relaxed) }
}

/// Random numbers that follow from a seed.
struct SeededNumbers: Sendable {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
