import FieldworkGeometry
import Foundation
import Testing

@testable import FieldworkArcade

/// Arithmetic over plain numbers runs as programs of its own, and gives what the evaluation of values of any type gives.
@Suite("Arcade arithmetic")
struct NumberProgramTests {
    private static let feature = ArcadeFeature(
        schema: ArcadeSchema(fields: [
            ArcadeField(name: "dbh", type: "esriFieldTypeDouble"),
            ArcadeField(name: "stems", type: "esriFieldTypeInteger"),
            ArcadeField(name: "name", type: "esriFieldTypeString"),
            ArcadeField(name: "none", type: "esriFieldTypeDouble"),
            ArcadeField(name: "planted", type: "esriFieldTypeDate"),
        ]), values: [.number(12.5), .number(-3), .text("7"), .null, .number(1_262_304_000_000)])

    private static func result(_ script: ArcadeScript, stepsMax: Int) -> String {
        var context = ArcadeContext(profile: .any, now: 0, feature: feature)
        context.stepsMax = stepsMax
        // NaN is not equal to itself: results are compared as they are shown, without the sign that some NaN have.
        do throws(ArcadeError) { return "\(try script.value(context))".replacing("-nan", with: "nan") } catch {
            return "\(error.kind) \(error)"
        }
    }

    /// The result, which has to be the same with and without programs, and a program has to be made of it.
    private static func value(_ source: String) -> String {
        let script = ArcadeScript(source, profile: .any)
        let plain = ArcadeScript(source, profile: .any, makesPrograms: false)
        #expect(script.usesPrograms && !plain.usesPrograms, "\(source)")
        let value = result(script, stepsMax: 100_000)
        #expect(result(plain, stepsMax: 100_000) == value, "\(source)")
        return value
    }

    @Test(
        "Four thousand scripts give the same result, error, place and steps with programs over plain numbers and without"
    )
    func agreement() {
        var maker = NumberScriptMaker(state: 17)
        var (programs, values) = (0, 0)
        for _ in 0..<4_000 {
            let source = maker.script()
            let script = ArcadeScript(source, profile: .any)
            let plain = ArcadeScript(source, profile: .any, makesPrograms: false)
            if script.usesPrograms { programs += 1 }
            for stepsMax in [1_500, maker.number(below: 150)] {
                let result = Self.result(script, stepsMax: stepsMax)
                #expect(Self.result(plain, stepsMax: stepsMax) == result, "at most \(stepsMax) steps: \(source)")
                if stepsMax == 1_500, result.hasPrefix("array") || result.hasPrefix("number") { values += 1 }
            }
        }
        // Else this would compare little but errors.
        #expect(programs > 2_500 && values > 900, "\(programs) programs, \(values) values")
    }

    @Test("A loop of arithmetic gives its sum, and each statement's value may be the script's")
    func loops() {
        #expect(
            Self.value("var s = 0; for (var i = 0; i < 1000; i++) { s += i * $feature.dbh } s") == "number(6243750.0)")
        #expect(Self.value("var s = 0; for (var i = 0; i < 3; i++) { s += i }") == "number(3.0)")
        #expect(
            Self.value("var s = 0; for (var i = 0; i < 3; i++) { s += i; if (i == 1) { s * 10; break } s }")
                == "number(10.0)")
        #expect(Self.value("var s = 0; while (s < 5) { s++ }") == "number(4.0)")
        #expect(Self.value("var s = 0; while (s < 5) { ++s }") == "number(5.0)")
        #expect(Self.value("for (var i = 0; i < 0; i++) { i }") == "null")
        #expect(Self.value("var a = 1; if (a > 2) { a } else { var b = 2 }") == "null")
        #expect(Self.value("for (var i = 1; i < 4; i++) { i * 2; continue; i * 3 }") == "number(6.0)")
        #expect(Self.value("for (var i = 0; true; i++) { if (i < 5) { continue } return i }") == "number(5.0)")
    }

    @Test("A variable that a loop does not reach stays what it was")
    func untouched() {
        #expect(Self.value("var t = 'text'; for (var i = 0; i < 0; i++) { t = i * 2 } t") == "text(\"text\")")
        #expect(Self.value("var t; for (var i = 0; i < 4; i++) { if (i > 2) { t = i } } t") == "number(3.0)")
        #expect(Self.value("var t; for (var i = 0; i < 4; i++) { if (i > 8) { t = i } } t") == "null")
        #expect(Self.value("var t = 0 / 0; for (var i = 0; i < 2; i++) { t = t + i } t") == "number(nan)")
    }

    @Test("What is no number is evaluated by the rules for values of any type")
    func others() {
        #expect(Self.value("$feature.name + $feature.dbh") == "text(\"712.5\")")
        #expect(Self.value("$feature.none * 2 + 1") == "number(1.0)")
        #expect(Self.value("var s = ''; for (var i = 0; i < 3; i++) { s += i } s") == "text(\"012\")")
        #expect(Self.value("1 + 2 * $feature.planted").hasPrefix("runtime"))
        #expect(Self.value("$feature.dbh * $feature.nofield").contains("column 24"))
        #expect(Self.value("IIf($feature.none < 1, Sqrt(16), 2)") == "number(4.0)")
        #expect(
            Self.value("When($feature.dbh < 6, 1, $feature.dbh < 18 && !($feature.stems > 0), 2, 3)") == "number(2.0)")
    }

    @Test("Functions of a script have numbers of their own in each call")
    func calls() {
        let source = """
            function f(n) { var s = 0; for (var i = 0; i <= n; i++) { s += i } if (n > 0) { s = s + f(n - 1) } return s }
            f(4)
            """
        #expect(Self.value(source) == "number(20.0)")
    }

    @Test("A long script is read in a time that its length is worth")
    func reading() {
        let deep = (0..<40).map { "for (var i\($0) = 0; i\($0) < 1; i\($0)++) {" }.joined()
        let long = String(repeating: "a = a * 2 + 1\n", count: 20_000)
        let computing = WorkAllowance(time: .seconds(20), clock: .computing)
        let script = ArcadeScript(
            "var a = 0; " + deep + long + "Count('') " + String(repeating: "}", count: 40), profile: .any)
        #expect(script.isRunnable)
        #expect(computing.timeLeft > .zero)
    }

    @Test("A loop over plain numbers ends at the limit of steps and when its task is cancelled")
    func limits() async throws {
        let script = ArcadeScript("var i = 0; while (true) { i++ }", profile: .any)
        #expect(script.usesPrograms)
        #expect(Self.result(script, stepsMax: 1_000).hasPrefix("limit"))
        var context = ArcadeContext(profile: .any, now: 0)
        context.stepsMax = 1 << 50
        let endless = context
        let task = Task { try await script.evaluate(endless) }
        try await Task.sleep(for: .milliseconds(50))
        task.cancel()
        await #expect(throws: ArcadeError.self) { try await task.value }
    }
}
