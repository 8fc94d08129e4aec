package import Foundation

/// A feature that does not keep a validation rule of its layer.
package struct RuleViolation: Sendable, Hashable {
    package var objectID: Int64
    package var globalID: UUID?
    /// The name of the rule.
    package var rule: String
    package var errorNumber: Int
    /// The rule's message, its script's own, or why the script could not be evaluated.
    package var message: String
    /// How bad it is by the rule's author, from 1 (worst) to 5; nil where the rule does not say.
    package var severity: Int?
}

/// What a validation found.
package struct RuleFindings: Sendable, Hashable {
    /// In the order of the object ids, those of a feature in the order of the rules.
    package var violations: [RuleViolation] = []
    /// How many features were looked at.
    package var features = 0
    /// Whether it ended before the last feature, since there were as many violations as were asked for.
    package var hasMore = false

    package init() {}
}
