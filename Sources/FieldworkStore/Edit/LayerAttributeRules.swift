import FieldworkArcade
package import FieldworkREST

/// The rules of a layer, read once, each kind in its order: those that edits keep, or those that are asked of what is there.
struct LayerAttributeRules: Sendable {
    /// A rule with its script.
    struct Rule: Sendable {
        let definition: AttributeRuleDefinition
        let script: ArcadeScript
        /// The column that it sets.
        let column: Int?
        /// The columns whose change runs it; empty for every one.
        let triggers: Set<Int>
    }

    let calculations: [Rule]
    let constraints: [Rule]
    let validations: [Rule]
    let arcadeLayer: ArcadeLayer
    /// The column that tells a feature's subtype.
    let subtypeColumn: Int?

    /// nil where the layer has none of them.
    /// - Parameter kinds: those that edits keep, unless others are wanted.
    init?(layer: StoredLayer, kinds: Set<AttributeRuleDefinition.Kind> = [.calculation, .constraint]) {
        let enabled = layer.definition.attributeRules.filter { $0.isEnabled && kinds.contains($0.kind) }
        guard !enabled.isEmpty else { return nil }
        let ordered = enabled.enumerated().sorted { ($0.element.order, $0.offset) < ($1.element.order, $1.offset) }
        let rules = ordered.map { _, rule in
            Rule(
                definition: rule, script: ArcadeScript(rule.script, profile: rule.kind.profile),
                column: rule.fieldName.flatMap(layer.index(of:)),
                triggers: Set(rule.triggeringFields.compactMap(layer.index(of:))))
        }
        calculations = rules.filter { $0.definition.kind == .calculation }
        constraints = rules.filter { $0.definition.kind == .constraint }
        validations = rules.filter { $0.definition.kind == .validation }
        arcadeLayer = ArcadeLayer(layer.definition)
        subtypeColumn = (layer.definition.subtypeField ?? layer.definition.typeIDField).flatMap(layer.index(of:))
    }

    private var all: [Rule] { calculations + constraints }

    /// Whether an edit of a kind runs a rule.
    func concerns(_ event: AttributeRuleDefinition.Event) -> Bool {
        all.contains { $0.definition.events.contains(event) }
    }

    /// Whether a rule holds for a feature: it may be one for a subtype alone.
    func concerns(_ rule: Rule, _ row: [AttributeValue]) -> Bool {
        let code = rule.definition.subtypeCode
        guard !code.isNull, let column = subtypeColumn else { return true }
        // A code of a definition may be written as a number or as its text.
        if row[column] == code { return true }
        guard let one = row[column].doubleValue, let other = code.doubleValue else { return false }
        return one == other
    }

    /// Whether other rows are read: then nothing may stand between the rows of one edit.
    var readsData: Bool { all.contains { $0.script.reads.needsData } }
}

extension ServiceDefinition {
    /// What is wrong with the scripts of attribute rules, with their places in the document.
    package var scriptProblems: [DefinitionProblem] {
        [("layers", false), ("tables", true)].flatMap { member, isTable in
            layers.filter { $0.isTable == isTable }.enumerated().flatMap { index, layer in
                layer.attributeRules.enumerated().flatMap { position, rule in
                    ArcadeScript(rule.script, profile: rule.kind.profile).problems.map { problem in
                        DefinitionProblem(
                            path: "\(member)[\(index)].attributeRules[\(position)].scriptExpression",
                            message: "\(rule.name): \(problem)")
                    }
                }
            }
        }
    }
}

extension AttributeRuleDefinition.Kind {
    /// The variables and functions that a script of this kind has.
    fileprivate var profile: ArcadeProfile {
        switch self {
        case .calculation: .attributeRuleCalculation
        case .constraint: .attributeRuleConstraint
        case .validation: .attributeRuleValidation
        }
    }
}
