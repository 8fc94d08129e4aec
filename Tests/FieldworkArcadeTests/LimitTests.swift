import Foundation
import Testing

@testable import FieldworkArcade

@Suite("Arcade limits")
struct LimitTests {
    private static func run(_ source: String, stepsMax: Int = ArcadeLimits.stepsMax) throws -> ArcadeValue {
        var context = ArcadeContext(profile: .any, now: 0)
        context.stepsMax = stepsMax
        return try ArcadeScript(source, profile: .any).value(context)
    }

    private static func kind(_ source: String) -> ArcadeError.Kind? {
        do {
            _ = try run(source)
            return nil
        } catch { return (error as? ArcadeError)?.kind }
    }

    @Test("A loop without an end is stopped by the limit of steps, and a long one below it is not")
    func steps() throws {
        #expect(Self.kind("while (true) {}") == .limit)
        #expect(Self.kind("var a = []; for (var i = 0; true; i++) { a = Map([i], Text) }") == .limit)
        #expect(try Self.run("var i = 0; while (i < 100000) { i++ } i") == .number(100_000))
        #expect(throws: ArcadeError.self) { try Self.run("var i = 0; while (i < 1000) { i++ } i", stepsMax: 1_000) }
    }

    @Test("Functions call each other to the limit of depth and no deeper, whatever stands between")
    func calls() throws {
        let function = "function f(n) { if (n == 0) { return 0 } return 1 + f(n - 1) } "
        #expect(try Self.run(function + "f(\(ArcadeLimits.callDepthMax - 1))") == .number(63))
        #expect(Self.kind(function + "f(\(ArcadeLimits.callDepthMax))") == .limit)
        #expect(Self.kind("function f(x) { return Map([x], f) } f(1)") == .limit)
        let deep = String(repeating: "(1 + ", count: 90) + "f(n)" + String(repeating: ")", count: 90)
        #expect(Self.kind("function f(n) { return \(deep) } f(1)") == .limit)
    }

    @Test("What is nested too deep, too long or has too many errors is refused when it is read")
    func reading() {
        func nested(_ count: Int) -> ArcadeScript {
            ArcadeScript(
                String(repeating: "[", count: count) + String(repeating: "]", count: count), profile: .any)
        }
        #expect(nested(ArcadeLimits.nestingMax - 2).isRunnable)
        #expect(!nested(ArcadeLimits.nestingMax + 1).isRunnable)
        #expect(!nested(100_000).isRunnable)
        #expect(ArcadeScript(Array(repeating: "1", count: 20_000).joined(separator: "+"), profile: .any).isRunnable)
        let long = String(repeating: " ", count: ArcadeLimits.scriptBytesMax)
        #expect(ArcadeScript(long, profile: .any).isRunnable)
        #expect(!ArcadeScript(long + " ", profile: .any).isRunnable)
        let wrong = ArcadeScript(String(repeating: "1 + ;\n", count: 200), profile: .any)
        #expect(wrong.problems.count == ArcadeLimits.problemsMax)
    }

    @Test("Texts, arrays and memory end at their limits")
    func memory() throws {
        #expect(Self.kind("var t = 'abcdefgh'; while (true) { t += t }") == .limit)
        #expect(Self.kind("var a = []; while (true) { Push(a, 'x') }") == .limit)
        #expect(Self.kind("Array(\(ArcadeLimits.elementsMax + 1))") == .limit)
        #expect(Self.kind("Count(Array(\(ArcadeLimits.elementsMax)))") == nil)
        #expect(Self.kind("var a = [1]; while (true) { a = [a] }") == .limit)
        #expect(Self.kind("var a = [1]; for (var i = 0; i < 40; i++) { a = [a, a] } a") == .limit)
        #expect(Self.kind("var i = 0; while (true) { Console('a line that is logged again and again') }") == .limit)
    }

    @Test("A script ends at the memory that its context allows, long before its steps are used up")
    func memoryOfContext() throws {
        var context = ArcadeContext(profile: .any, now: 0)
        context.memoryMax = 100_000
        let script = ArcadeScript(
            "var a = []; for (var i = 0; i < 100; i++) { Push(a, Text(Array(500, 7))) } Count(a)", profile: .any)
        let error = #expect(throws: ArcadeError.self) { try script.value(context) }
        #expect(error?.kind == .limit && error?.message.contains("100000 bytes") == true)
        context.memoryMax = ArcadeLimits.memoryMax
        #expect(try script.value(context) == .number(100))
    }

    @Test("Arrays that hold themselves are values like others, and are refused only where they would be written")
    func circles() throws {
        #expect(try Self.run("var a = []; Push(a, a); Count(a)") == .number(1))
        #expect(Self.kind("var a = []; Push(a, a); a") == .limit)
        #expect(Self.kind("var a = []; Push(a, a); Text(a)") == .limit)
        #expect(Self.kind("var d = {}; d.me = d; Dictionary(d, true)") == .limit)
        // A long chain is let go of without a call for each of its links.
        #expect(
            try Self.run("var x = []; for (var i = 0; i < 100000; i++) { var y = []; Push(x, y); x = y } Count(x)")
                == .number(0))
    }

    @Test("Geometries and stacked filters end at their limits")
    func geometry() {
        let line = "Polyline({paths: [[[0,0],[1000000,0]]], spatialReference: {wkid: 3857}})"
        #expect(Self.kind("Densify(\(line), 0.0001)") == .limit)
        #expect(Self.kind("Count(Densify(\(line), 1000).paths[0])") == nil)
        let set = "var s = FeatureSet({fields: [{name: 'a', type: 'esriFieldTypeInteger'}], features: []}); "
        #expect(Self.kind(set + "while (true) { s = Filter(Top(s, 1), 'a > 1') }") == .limit)
        #expect(Self.kind(set + "for (var i = 0; i < 20; i++) { s = Filter(s, 'a > 1') } Count(s)") == nil)
    }

    @Test("An evaluation whose task is cancelled ends")
    func cancellation() async throws {
        let script = ArcadeScript("while (true) {}", profile: .any)
        var context = ArcadeContext(profile: .any, now: 0)
        context.stepsMax = 1 << 50
        let endless = context
        let task = Task { try await script.evaluate(endless) }
        try await Task.sleep(for: .milliseconds(50))
        task.cancel()
        await #expect(throws: ArcadeError.self) { try await task.value }
    }
}
