package import FieldworkGeometry

/// A rule of a layer that edits keep: a script that gives a field its value, or one that says whether an edit may be made.
package struct AttributeRuleDefinition: Sendable, Hashable {
    /// What a rule does.
    package enum Kind: String, Sendable, CaseIterable {
        /// Gives a field its value when a feature is edited.
        case calculation = "esriARTCalculation"
        /// Refuses edits.
        case constraint = "esriARTConstraint"
        /// Is asked for features that are there; edits don't run it.
        case validation = "esriARTValidation"
    }

    /// The edits that run a rule.
    package enum Event: String, Sendable, CaseIterable {
        case insert = "esriARTEInsert"
        case update = "esriARTEUpdate"
        case delete = "esriARTEDelete"
    }

    package var name: String
    package var kind: Kind
    /// The field that a calculation sets; nil for a calculation that names the fields in its result.
    package var fieldName: String?
    /// The script, in Arcade.
    package var script: String
    package var events: Set<Event>
    /// An update runs the rule only when one of these fields gets another value; empty for every update.
    package var triggeringFields: [String]
    /// Rules run in this order, those of one number in the order of the definition.
    package var order: Int
    package var isEnabled: Bool
    /// Only the service runs the rule, not the device on which an edit is made.
    package var excludesClients: Bool
    /// The subtype for whose features it holds; null for all.
    package var subtypeCode: AttributeValue
    package var errorNumber: Int
    /// What is said when a constraint is not kept.
    package var errorMessage: String
    package var unknownMembers: JSONObject

    package init(
        name: String, kind: Kind, fieldName: String? = nil, script: String, events: Set<Event> = [.insert, .update],
        triggeringFields: [String] = [], order: Int = 1, isEnabled: Bool = true, excludesClients: Bool = false,
        subtypeCode: AttributeValue = .null, errorNumber: Int = 0, errorMessage: String = "",
        unknownMembers: JSONObject = JSONObject()
    ) {
        self.name = name
        self.kind = kind
        self.fieldName = fieldName
        self.script = script
        self.events = events
        self.triggeringFields = triggeringFields
        self.order = order
        self.isEnabled = isEnabled
        self.excludesClients = excludesClients
        self.subtypeCode = subtypeCode
        self.errorNumber = errorNumber
        self.errorMessage = errorMessage
        self.unknownMembers = unknownMembers
    }
}
