import FieldworkArcade
import FieldworkGeometry
import Foundation
import Synchronization

/// Evaluates the expressions of pop-ups and forms with the interpreter of `FieldworkArcade`, on this device.
struct ArcadeExpressionEvaluator: ExpressionEvaluator {
    private let scripts = KeptScripts()

    func value(of expression: String, in context: ExpressionContext) async throws -> ExpressionValue {
        let script = scripts.script(expression, context.profile.arcade)
        let arcade = ArcadeSnapshot(context).context
        do {
            return ExpressionValue(try await script.evaluate(arcade).value)
        } catch {
            throw error.expressionError
        }
    }
}

extension ExpressionContext.Profile {
    fileprivate var arcade: FieldworkArcade.ArcadeProfile {
        switch self {
        case .popup: .popup
        case .formConstraint: .formConstraint
        case .formCalculation: .formCalculation
        case .labeling: .labeling
        }
    }
}

/// Scripts that were read, for the next time.
final class KeptScripts: Sendable {
    private struct Key: Hashable {
        var source: String
        var profile: FieldworkArcade.ArcadeProfile
    }

    private let scripts = Mutex<[Key: ArcadeScript]>([:])

    func script(_ source: String, _ profile: FieldworkArcade.ArcadeProfile) -> ArcadeScript {
        let key = Key(source: source, profile: profile)
        if let kept = scripts.withLock({ $0[key] }) { return kept }
        let made = ArcadeScript(source, profile: profile)
        scripts.withLock { scripts in
            // Apps have few expressions; a map that changes them all the time starts anew.
            if scripts.count >= ArcadeLimits.keptScriptsMax { scripts.removeAll() }
            scripts[key] = made
        }
        return made
    }
}

extension ExpressionValue {
    /// What an interpreter gives. Days and times are texts, as in the protocol; geometries and features are JSON.
    init(_ value: ArcadeValue) {
        switch value {
        case .null, .function, .featureSet: self = .null
        case .boolean(let truth): self = .boolean(truth)
        case .number(let number): self = .number(number)
        case .text, .dateOnly, .time, .array: self = .text(value.text)
        case .date(let date): self = .date(Date(timeIntervalSince1970: date.milliseconds / 1_000))
        case .dictionary, .geometry, .feature: self = .dictionary(value.json)
        }
    }
}
