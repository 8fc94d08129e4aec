import FieldworkArcade
import FieldworkGeometry
import FieldworkREST
import Foundation

/// Runs the rules of a layer for one edit of one feature. A calculation sees what those before it have set; constraints see the
/// feature as it is going to be. A rule that can't be evaluated refuses the edit: to pass it over would leave data that breaks it.
///
/// A class, since it gathers what rules ask for besides values of the feature: a geometry, and edits of other features.
final class AttributeRuleRun {
    /// What an edit is about.
    struct Subject {
        let event: AttributeRuleDefinition.Event
        /// The geometry that the feature is going to have.
        var geometry: Geometry?
        /// What the feature was; nil for a new one.
        var original: ArcadeFeature?
        /// The id that a new feature is going to have.
        var globalID: UUID?
    }

    let rules: LayerAttributeRules
    let layer: StoredLayer
    let batch: EditBatch
    let place: AttributeRulePlace
    /// Answers what scripts ask of the service's layers.
    let data: AttributeRuleData
    private var subject: Subject
    /// The geometry that a rule gives the feature; nil where none gives one.
    private(set) var newGeometry: Geometry?
    /// The edits of other features that rules ask for, in their order.
    private(set) var edits: [RuleEdit] = []

    private var event: AttributeRuleDefinition.Event { subject.event }

    init(
        _ subject: Subject, of layer: StoredLayer, rules: LayerAttributeRules, batch: EditBatch,
        place: AttributeRulePlace, data: AttributeRuleData
    ) {
        self.subject = subject
        self.layer = layer
        self.rules = rules
        self.batch = batch
        self.place = place
        self.data = data
    }

    private func applies(_ rule: LayerAttributeRules.Rule, _ row: [AttributeValue], _ changed: Set<Int>?) -> Bool {
        let definition = rule.definition
        guard definition.events.contains(event) else { return false }
        if place != .service, definition.excludesClients { return false }
        // A copy may have some of the features only: its service, which has them all, runs these rules again.
        if place == .copy, rule.script.reads.needsData { return false }
        if let changed, !rule.triggers.isEmpty, changed.isDisjoint(with: rule.triggers) { return false }
        return rules.concerns(rule, row)
    }

    // MARK: Values

    /// The columns that calculations of this edit may set, for which nothing needs to be given.
    var targets: Set<Int> {
        Set(rules.calculations.filter { $0.definition.events.contains(event) }.compactMap(\.column))
    }

    /// Sets what the calculations give, and tells the columns that it has set. Throws `EditError`.
    /// - Parameter changed: the columns that an update changes; nil for a new feature.
    func calculate(_ row: inout [AttributeValue], changed: Set<Int>? = nil) throws(EditError) -> Set<Int> {
        var (set, changed): (Set<Int>, Set<Int>?) = ([], changed)
        for rule in rules.calculations where applies(rule, row, changed) {
            for (column, value) in try take(try evaluate(rule, row), of: rule) {
                row[column] = value
                set.insert(column)
                changed?.insert(column)
            }
        }
        return set
    }

    /// Notes what a rule asks for besides values of fields, and gives those.
    private func take(
        _ result: ArcadeValue, of rule: LayerAttributeRules.Rule
    ) throws(EditError) -> [(Int, AttributeValue)] {
        guard case .dictionary = result else { return try own(result, of: rule) }
        if let message = result["errorMessage"], message != .null { throw refusal(rule, message.text) }
        if let edit = result["edit"], edit != .null { try note(edit, of: rule) }
        switch result["result"] {
        case .dictionary?:
            let given = result["result"] ?? .null
            if let geometry = given["geometry"] { try take(geometry: geometry, of: rule) }
            guard given["attributes"] != nil || given["geometry"] == nil else { return [] }
            return try attributes(given["attributes"], of: rule)
        case let single?:
            // A rule that only edits other features may have no field for a value of its own.
            if single == .null, rule.column == nil { return [] }
            return try own(single, of: rule)
        case nil:
            if result["geometry"] != nil { throw broken(rule, "its geometry must stand in 'result'") }
            guard result["attributes"] != nil || result["edit"] == nil else { return [] }
            return try attributes(result["attributes"], of: rule)
        }
    }

    private func own(
        _ result: ArcadeValue, of rule: LayerAttributeRules.Rule
    ) throws(EditError) -> [(Int, AttributeValue)] {
        let value = try value(result, in: rule.column, of: rule)
        if event == .delete {
            guard value.isNull else { throw broken(rule, "a feature that is deleted gets no values") }
            return []
        }
        return [(try column(of: rule), value)]
    }

    /// A copy on a device leaves edits of other features to its service, which runs the rule again: made on both sides, they would
    /// be there twice.
    private func note(_ edit: ArcadeValue, of rule: LayerAttributeRules.Rule) throws(EditError) {
        guard place != .copy else { return }
        let reader = RuleEditReader(rule: rule.definition.name, catalogue: data.catalogue)
        edits += try reader.edits(edit)
        guard edits.count <= Limits.ruleEdits else {
            throw broken(rule, "it edits more than \(Limits.ruleEdits) features at once")
        }
    }

    private func take(geometry: ArcadeValue, of rule: LayerAttributeRules.Rule) throws(EditError) {
        guard case .geometry(let given) = geometry, event != .delete, layer.geometryColumn != nil else {
            throw broken(rule, "the geometry of its result is none that the feature can have")
        }
        (newGeometry, subject.geometry) = (given, given)
    }

    private func column(of rule: LayerAttributeRules.Rule) throws(EditError) -> Int {
        guard let column = rule.column else { throw broken(rule, "it gives a value and names no field for it") }
        return column
    }

    private func attributes(
        _ given: ArcadeValue?, of rule: LayerAttributeRules.Rule
    ) throws(EditError) -> [(Int, AttributeValue)] {
        guard case .dictionary(let members)? = given else { throw broken(rule, "its result has no attributes") }
        if event == .delete, !members.isEmpty { throw broken(rule, "a feature that is deleted gets no values") }
        var values: [(Int, AttributeValue)] = []
        for member in members {
            guard let index = layer.index(of: member.key), index != layer.objectIDIndex, index != layer.globalIDIndex
            else { throw broken(rule, "the field \(member.key.prefix(80)) can't be set") }
            values.append((index, try value(member.value, in: index, of: rule)))
        }
        return values
    }

    /// A result as the value of a column; its type and domain are checked as those of every other value.
    private func value(
        _ result: ArcadeValue, in column: Int?, of rule: LayerAttributeRules.Rule
    ) throws(EditError) -> AttributeValue {
        do { return try AttributeValue(ofRule: result, in: column.map { layer.columns[$0] }) } catch {
            throw broken(rule, error.why)
        }
    }

    // MARK: Constraints

    /// Throws `EditError` with the message of the first constraint that the feature does not keep.
    func check(_ row: [AttributeValue], changed: Set<Int>? = nil) throws(EditError) {
        for rule in rules.constraints where applies(rule, row, changed) {
            if let message = try evaluate(rule, row).refusal { throw refusal(rule, message) }
        }
    }

    private func refusal(_ rule: LayerAttributeRules.Rule, _ message: String) -> EditError {
        let definition = rule.definition
        let own = message.isEmpty ? definition.errorMessage : message
        return EditError(
            code: definition.errorNumber == 0 ? 1000 : definition.errorNumber,
            description: own.isEmpty ? "The rule \(definition.name) does not allow this edit." : own)
    }

    private func broken(_ rule: LayerAttributeRules.Rule, _ why: String) -> EditError {
        EditError(code: 1000, description: "The rule \(rule.definition.name) can't be kept: \(why).")
    }

    // MARK: Evaluation

    private func evaluate(_ rule: LayerAttributeRules.Rule, _ row: [AttributeValue]) throws(EditError) -> ArcadeValue {
        var row = row
        // Rows that a rule adds elsewhere may name the new feature.
        if let index = layer.globalIDIndex, let id = subject.globalID { row[index] = .text(GUID.normalForm(id)) }
        var context = ArcadeContext(
            profile: rule.script.profile, now: Double(batch.moment.milliseconds), seed: .random(in: 0 ... .max),
            feature: Self.feature(row, layer, subject.geometry, rules.arcadeLayer))
        context.spatialReference = layer.definition.spatialReference
        // A new feature was nothing before.
        context.originalFeature =
            subject.original
            ?? Self.feature(row.map { _ in .null }, layer, nil, rules.arcadeLayer)
        context.editType = event.editType
        context.user = batch.editor.map { ArcadeUser(username: $0) }
        context.data = data
        do {
            return try rule.script.value(context)
        } catch {
            throw broken(rule, "\(error)")
        }
    }

    /// The row of a feature as scripts read it.
    static func feature(
        _ row: [AttributeValue], _ layer: StoredLayer, _ geometry: Geometry?, _ arcade: ArcadeLayer
    ) -> ArcadeFeature {
        let values = zip(row, layer.columns).map { value, column in ArcadeValue(value, of: column) }
        return ArcadeFeature(schema: arcade.schema, values: values, geometry: geometry, layer: arcade)
    }
}

/// Where the rules of a layer are run.
enum AttributeRulePlace: Sendable {
    /// In the service, which has all layers and the last word.
    case service
    /// In a copy on a device, whose service runs all rules again.
    case copy
    /// In a file on a device that has no service.
    case file
}

extension AttributeRuleDefinition.Event {
    /// What `$editContext.editType` says.
    fileprivate var editType: String {
        switch self {
        case .insert: "INSERT"
        case .update: "UPDATE"
        case .delete: "DELETE"
        }
    }
}

extension ArcadeValue {
    /// What the result of a constraint or of a validation says against a feature: the script's own message, or an empty one; nil
    /// for a feature that keeps the rule.
    var refusal: String? {
        if let message = self["errorMessage"], message != .null { return message.text }
        switch self {
        case .boolean(true): return nil
        case .boolean(false), .null: return ""
        default:
            if case .boolean(let isKept) = cast(to: .boolean), isKept { return nil }
            return ""
        }
    }
}
