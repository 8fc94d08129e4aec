import FieldworkArcade
import FieldworkGeometry
import Foundation

/// An expression in Arcade.
public final class ArcadeExpression: Sendable {
    /// Its text.
    public let expression: String

    /// An expression by its text.
    public init(expression: String) { self.expression = expression }
}

/// Where an expression stands: it decides which variables and functions there are.
public enum ArcadeProfile: Sendable, Hashable {
    /// Values that an edit sets.
    case attributeRuleCalculation
    /// What an edit must keep to.
    case attributeRuleConstraint
    /// What is checked after edits.
    case attributeRuleValidation
    /// Values of many features at once.
    case fieldCalculation
    /// Values that forms calculate.
    case formCalculation
    /// Conditions of forms.
    case formConstraint
    /// Labels.
    case labeling
    /// Texts and values of pop-ups.
    case popup
    /// Symbols.
    case visualization

    fileprivate var language: FieldworkArcade.ArcadeProfile {
        switch self {
        case .attributeRuleCalculation: .attributeRuleCalculation
        case .attributeRuleConstraint: .attributeRuleConstraint
        case .attributeRuleValidation: .attributeRuleValidation
        case .fieldCalculation: .fieldCalculation
        case .formCalculation: .formCalculation
        case .formConstraint: .formConstraint
        case .labeling: .labeling
        case .popup: .popup
        case .visualization: .visualization
        }
    }
}

/// Evaluates an expression with values for its variables, on this device.
public final class ArcadeEvaluator: Sendable {
    /// What is evaluated.
    public let expression: ArcadeExpression
    /// Where it stands.
    public let profile: ArcadeProfile
    private let script: ArcadeScript

    /// Reads an expression; what is wrong with it is thrown when it is evaluated.
    public init(expression: ArcadeExpression, profile: ArcadeProfile) {
        self.expression = expression
        self.profile = profile
        script = ArcadeScript(expression.expression, profile: profile.language)
    }

    /// The result with values for the variables of the profile: a feature for `$feature` and `$originalFeature`, a map
    /// for `$map`, a table for `$layer`. Throws `ExpressionError`.
    public func evaluate(
        withProfileVariables variables: [String: any Sendable] = [:]
    ) async throws -> ArcadeEvaluationResult {
        func value(_ name: String) -> (any Sendable)? { variables.first { $0.key.lowercased() == name }?.value }
        let element = value("$feature") as? any GeoElement
        let table =
            (element as? Feature)?.table ?? value("$layer") as? FeatureTable
            ?? (value("$layer") as? FeatureLayer)?.featureTable
        var context = ArcadeSnapshot(element, table, timeZone: table?.timeZone ?? .current).context
        if let original = value("$originalfeature") as? any GeoElement {
            context.originalFeature = ArcadeSnapshot(original, table, timeZone: .gmt).context.feature
        }
        let mapTables = (value("$map") as? GeoModel).map(Self.tables) ?? []
        if table != nil || !mapTables.isEmpty {
            context.data = ArcadeTables(table: table, feature: element, now: context.now, mapTables: mapTables)
        }
        do {
            return ArcadeEvaluationResult(try await script.evaluate(context).value)
        } catch {
            throw error.expressionError
        }
    }

    /// The tables of a map's layers, those of groups as well, and its own.
    private static func tables(of map: GeoModel) -> [FeatureTable] {
        func tables(_ layers: [Layer]) -> [FeatureTable] {
            layers.flatMap { layer in
                if let group = layer as? GroupLayer { return tables(group.layers) }
                return (layer as? FeatureLayer)?.featureTable.map { [$0] } ?? []
            }
        }
        return tables(map.operationalLayers) + map.tables
    }
}

/// What an expression gave.
public final class ArcadeEvaluationResult: Sendable {
    /// What a result is wanted as.
    public enum ResultType: Sendable {
        /// A truth value.
        case bool
        /// A number.
        case double
        /// A text.
        case string
        /// A date.
        case date
    }

    private let value: ArcadeValue

    init(_ value: ArcadeValue) { self.value = value }

    /// The result as a type; nil when it is null or can't be one.
    public func result(as type: ResultType) -> (any Sendable)? {
        switch type {
        case .bool: if case .boolean(let truth) = value.cast(to: .boolean) { return truth }
        case .double:
            if value != .null, case .number(let number) = value.cast(to: .number), !number.isNaN { return number }
        case .string: return value == .null ? nil : value.text
        case .date:
            if case .date(let date) = value.cast(to: .date) {
                return Date(timeIntervalSince1970: date.milliseconds / 1_000)
            }
        }
        return nil
    }
}

extension ArcadeError {
    /// The error as apps see it.
    var expressionError: any Error {
        switch kind {
        case .cancelled: CancellationError()
        case .notSupported: ExpressionError.notSupported(details: "\(self)")
        case .dataAccess: ExpressionError.dataUnavailable(details: "\(self)")
        default: ExpressionError.evaluationFailed(details: "\(self)")
        }
    }
}
