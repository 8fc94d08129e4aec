import FieldworkArcade
import Foundation
import Testing

@Suite("Arcade fuzz")
struct FuzzTests {
    /// `FIELDWORK_ARCADE_FUZZ` names another number of scripts.
    private static let count =
        ProcessInfo.processInfo.environment["FIELDWORK_ARCADE_FUZZ"].flatMap(Int.init) ?? 20_000

    @Test("Mutated scripts end with a value or an error, and with the same one each time")
    func mutated() throws {
        let seeds = try CaseFile.own().cases.map { Array($0.expression.utf8) }
        var mutator = ScriptMutator(seeds: seeds, seed: 41)
        var context = ArcadeContext(profile: .any, now: 1_700_000_000_000, feature: FuzzFeature.feature)
        context.stepsMax = 20_000
        context.memoryMax = 4 << 20
        var values = 0
        for index in 0..<Self.count {
            let text = mutator.next()
            let result = Self.result(text, context)
            if case .success = result { values += 1 }
            // NaN is not equal to itself, so results are compared as they are shown.
            if index % 50 == 0 { #expect("\(Self.result(text, context))" == "\(result)", "\(text)") }
        }
        // Mutation leaves many scripts whole: else this would only test the parser.
        #expect(values > Self.count / 20)
    }

    private static func result(_ text: String, _ context: ArcadeContext) -> Result<ArcadeValue, ArcadeError> {
        Result { () throws(ArcadeError) in try ArcadeScript(text, profile: .any).value(context) }
    }
}
