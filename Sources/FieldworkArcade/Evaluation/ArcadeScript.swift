import Foundation

/// A script that was read: its errors, what it reads, and how it is run.
public struct ArcadeScript: Sendable {
    /// The text.
    public let source: String
    /// Where it stands.
    public let profile: ArcadeProfile
    /// Everything that is wrong and can be seen without running it, in the order of the text. A script with an error of
    /// the kind `syntax` in its grammar does not run; one that only names what is not there runs up to that place.
    public let problems: [ArcadeError]
    /// What it reads.
    public let reads: ArcadeReads
    private let lines: SourceLines
    private let compiled: CompiledScript?

    /// Reads a text. It never fails: what is wrong stands in `problems`.
    public init(_ source: String, profile: ArcadeProfile) {
        self.init(source, profile: profile, makesPrograms: true)
    }

    /// - Parameter makesPrograms: whether arithmetic is evaluated over plain numbers where it can be; false gives the same results.
    init(_ source: String, profile: ArcadeProfile, makesPrograms: Bool) {
        self.source = source
        self.profile = profile
        let bytes = Array(source.utf8)
        let lines = SourceLines(bytes)
        self.lines = lines
        let (statements, errors) = Parser.parse(bytes)
        var collector = ReadsCollector()
        collector.add(statements)
        reads = collector.reads
        if errors.isEmpty {
            let (compiled, problems) = Compiler.compile(statements, profile, makesPrograms: makesPrograms)
            self.compiled = compiled
            self.problems = problems.map { $0.located(in: lines) }.sorted {
                $0.position ?? .first < $1.position ?? .first
            }
        } else {
            compiled = nil
            problems = errors.map { $0.located(in: lines) }
        }
    }

    /// Whether the text is a script at all, so that it can be run.
    public var isRunnable: Bool { compiled != nil }

    /// Whether a part of it is evaluated over plain numbers.
    var usesPrograms: Bool { (compiled?.registerCount ?? 0) > 0 }

    /// The text of a line, for messages.
    public func line(_ number: Int) -> String { lines.text(ofLine: number) }

    /// Runs it, on the thread that calls. Where a script may need data, `evaluate(_:)` keeps waiting off the threads of
    /// tasks.
    public func value(_ context: ArcadeContext) throws(ArcadeError) -> ArcadeValue {
        try run(context, stop: nil).value
    }

    /// What a run gives: its value, and the lines that it wrote to the console.
    public struct Outcome: Sendable {
        /// The value.
        public let value: ArcadeValue
        /// Lines of `Console`.
        public let console: [String]
    }

    func run(_ context: ArcadeContext, stop: CancellationFlag?) throws(ArcadeError) -> Outcome {
        let runner = try ArcadeRunner(self, context, stop: stop)
        return Outcome(value: try runner.value(), console: runner.console)
    }

    func machine(_ context: ArcadeContext, stop: CancellationFlag?) throws(ArcadeError) -> Machine {
        guard let compiled else {
            throw problems.first ?? ArcadeError(.syntax, "The script can't be read.")
        }
        return Machine(compiled, context, stop: stop)
    }

    func located(_ error: any Error) -> ArcadeError {
        guard let error = error as? ArcadeError else {
            return error is CancellationError
                ? ArcadeError(.cancelled, "The evaluation was cancelled.") : ArcadeError(.dataAccess, "\(error)")
        }
        return error.located(in: lines)
    }
}

extension ArcadePosition {
    /// The beginning of a text.
    static let first = ArcadePosition(line: 1, column: 1)
}

/// Runs one script for many features, on one thread: what was found out for one feature serves the next.
public final class ArcadeRunner {
    private let script: ArcadeScript
    private let machine: Machine

    /// Ready to run for a context.
    public convenience init(_ script: ArcadeScript, _ context: ArcadeContext) throws(ArcadeError) {
        try self.init(script, context, stop: nil)
    }

    init(_ script: ArcadeScript, _ context: ArcadeContext, stop: CancellationFlag?) throws(ArcadeError) {
        self.script = script
        machine = try script.machine(context, stop: stop)
    }

    deinit { machine.release() }

    /// Lines of `Console`.
    public var console: [String] { machine.console }

    /// The value with a feature.
    public func value(_ feature: ArcadeFeature) throws(ArcadeError) -> ArcadeValue {
        do {
            if let number = try machine.script.number?.number(machine, of: feature) { return .number(number) }
        } catch { throw script.located(error) }
        machine.reset(feature)
        return try value()
    }

    func value() throws(ArcadeError) -> ArcadeValue {
        do {
            let value = try machine.script.run(machine)
            switch value {
            case .text(let text): return .text(text)
            case .number(let number): return .number(number)
            default: return try ValueExport.value(value, machine)
            }
        } catch { throw script.located(error) }
    }
}

extension ArcadeScript {
    /// Runs it. A script that may read layers runs on a thread of its own, where its data source may wait; cancelling
    /// the task ends it.
    public func evaluate(_ context: ArcadeContext) async throws(ArcadeError) -> Outcome {
        let stop = CancellationFlag()
        let result: Result<Outcome, ArcadeError> = await withTaskCancellationHandler {
            guard reads.needsData else { return Result { () throws(ArcadeError) in try run(context, stop: stop) } }
            return await withCheckedContinuation { continuation in
                let thread = Thread {
                    continuation.resume(returning: Result { () throws(ArcadeError) in try run(context, stop: stop) })
                }
                thread.stackSize = 8 << 20
                thread.start()
            }
        } onCancel: {
            stop.set()
        }
        return try result.get()
    }
}
