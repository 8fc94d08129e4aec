import FieldworkGeometry
import Foundation
import Synchronization

/// What an app shows of one feature: a title and elements, made by a definition. Its texts are those of the time at which
/// it was made or evaluated last.
public final class Popup: Sendable {
    private struct State: Sendable {
        var values: PopupValues?
        var elements: [PopupElement] = []
    }

    /// What is shown.
    public let geoElement: any GeoElement
    /// What the pop-up is made of.
    public let definition: PopupDefinition
    private let expressions: any ExpressionEvaluator
    private let state = Mutex(State())

    /// A pop-up of a feature.
    /// - Parameter definition: nil for that of the feature's layer or table, and where they have none for one of all
    ///   fields.
    public convenience init(geoElement: any GeoElement, definition: PopupDefinition? = nil) {
        self.init(
            geoElement: geoElement, definition: definition, expressions: ArcGISEnvironment.expressionEvaluator)
    }

    init(geoElement: any GeoElement, definition: PopupDefinition?, expressions: any ExpressionEvaluator) {
        let table = (geoElement as? Feature)?.table
        self.geoElement = geoElement
        self.definition =
            definition ?? (table?.layer as? FeatureLayer)?.popupDefinition ?? table?.popupDefinition
            ?? PopupDefinition(geoElement: geoElement)
        self.expressions = expressions
    }

    private var evaluator: PopupEvaluator {
        PopupEvaluator(definition: definition, geoElement: geoElement, expressions: expressions)
    }

    /// The title with values filled in; those of expressions and related records once they are evaluated.
    public var title: String {
        (state.withLock { $0.values } ?? evaluator.ownValues).filled(definition.title)
    }

    /// The elements with values; none before the pop-up is evaluated.
    public var evaluatedElements: [PopupElement] { state.withLock { $0.elements } }

    /// Evaluates the expressions that the pop-up refers to, fetches the related records that it names, and fills in the
    /// elements. It may be done again after the feature has changed. Expressions that fail are reported and do not throw.
    @discardableResult
    public func evaluateExpressions() async throws -> [PopupExpressionEvaluation] {
        let outcome = try await evaluator.evaluate()
        state.withLock { state in
            state.values = outcome.values
            state.elements = outcome.elements
        }
        return outcome.evaluations
    }

    /// The symbol that the feature's layer draws it with; nil for none.
    public var symbol: Symbol? {
        ((geoElement as? Feature)?.table?.layer as? FeatureLayer)?.renderer?.symbol(for: geoElement)
    }
}
