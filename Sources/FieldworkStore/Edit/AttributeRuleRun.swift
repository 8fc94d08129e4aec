import FieldworkArcade
import FieldworkGeometry
import FieldworkREST
import Foundation

/// Runs the rules of a layer for one edit of one feature. A calculation sees what those before it have set; constraints see the
/// feature as it is going to be. A rule that can't be evaluated refuses the edit: to pass it over would leave data that breaks it.
struct AttributeRuleRun {
    let rules: LayerAttributeRules
    let layer: StoredLayer
    let event: AttributeRuleDefinition.Event
    let batch: EditBatch
    /// Whether this is the device on which the edit is made; its service runs all rules again.
    let isOnDevice: Bool
    /// The geometry that the feature is going to have.
    let geometry: Geometry?
    /// What the feature was; nil for a new one.
    let original: ArcadeFeature?
    /// Answers what scripts ask of the service's layers.
    let data: any ArcadeDataSource

    private func applies(_ rule: LayerAttributeRules.Rule, _ row: [AttributeValue], _ changed: Set<Int>?) -> Bool {
        let definition = rule.definition
        guard definition.events.contains(event) else { return false }
        if isOnDevice, definition.excludesClients || rule.script.reads.needsData { return false }
        if let changed, !rule.triggers.isEmpty, changed.isDisjoint(with: rule.triggers) { return false }
        guard !definition.subtypeCode.isNull, let column = rules.subtypeColumn else { return true }
        return Self.isSame(row[column], definition.subtypeCode)
    }

    /// A code of a definition may be written as a number or as its text.
    private static func isSame(_ value: AttributeValue, _ code: AttributeValue) -> Bool {
        if value == code { return true }
        guard let one = value.doubleValue, let other = code.doubleValue else { return false }
        return one == other
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
            for (column, value) in try values(rule, try evaluate(rule, row)) {
                row[column] = value
                set.insert(column)
                changed?.insert(column)
            }
        }
        return set
    }

    private func values(
        _ rule: LayerAttributeRules.Rule, _ result: ArcadeValue
    ) throws(EditError) -> [(Int, AttributeValue)] {
        guard case .dictionary = result else { return try [(column(of: rule), value(result, of: rule))] }
        if let message = result["errorMessage"] { throw refusal(rule, message.text) }
        for member in ["edit", "geometry"] where result[member] != nil {
            throw broken(rule, "its result has '\(member)', which is not carried out")
        }
        if let own = result["result"] {
            guard case .dictionary = own else { return try [(column(of: rule), value(own, of: rule))] }
            return try attributes(own["attributes"], of: rule)
        }
        return try attributes(result["attributes"], of: rule)
    }

    private func column(of rule: LayerAttributeRules.Rule) throws(EditError) -> Int {
        guard let column = rule.column else { throw broken(rule, "it gives a value and names no field for it") }
        return column
    }

    private func attributes(
        _ given: ArcadeValue?, of rule: LayerAttributeRules.Rule
    ) throws(EditError) -> [(Int, AttributeValue)] {
        guard case .dictionary(let members)? = given else { throw broken(rule, "its result has no attributes") }
        var values: [(Int, AttributeValue)] = []
        for member in members {
            guard let index = layer.index(of: member.key), index != layer.objectIDIndex, index != layer.globalIDIndex
            else { throw broken(rule, "the field \(member.key.prefix(80)) can't be set") }
            values.append((index, try value(member.value, of: rule)))
        }
        return values
    }

    /// A result as the value of a column; its type and domain are checked as those of every other value.
    private func value(_ result: ArcadeValue, of rule: LayerAttributeRules.Rule) throws(EditError) -> AttributeValue {
        switch result {
        case .null: return .null
        case .boolean(let truth): return .integer(truth ? 1 : 0)
        case .number(let number):
            guard number.isFinite else { throw broken(rule, "its result is no number") }
            return Int64(exactly: number).map(AttributeValue.integer) ?? .real(number)
        case .date(let date):
            guard let moment = Int64(exactly: date.milliseconds.rounded()) else {
                throw broken(rule, "its date is none")
            }
            return .integer(moment)
        case .text, .dateOnly, .time: return .text(result.text)
        default: throw broken(rule, "its result is no value of a field")
        }
    }

    // MARK: Constraints

    /// Throws `EditError` with the message of the first constraint that the feature does not keep.
    func check(_ row: [AttributeValue], changed: Set<Int>? = nil) throws(EditError) {
        for rule in rules.constraints where applies(rule, row, changed) {
            let result = try evaluate(rule, row)
            if let message = result["errorMessage"] { throw refusal(rule, message.text) }
            switch result {
            case .boolean(true): continue
            case .boolean(false), .null: throw refusal(rule, "")
            default:
                if case .boolean(let isKept) = result.cast(to: .boolean), isKept { continue }
                throw refusal(rule, "")
            }
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
        var context = ArcadeContext(
            profile: rule.script.profile, now: Double(batch.moment.milliseconds), seed: .random(in: 0 ... .max),
            feature: Self.feature(row, layer, geometry, rules.arcadeLayer))
        context.spatialReference = layer.definition.spatialReference
        // A new feature was nothing before.
        context.originalFeature =
            original
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
        let values = zip(row, layer.columns).map { value, column in arcadeValue(value, column) }
        return ArcadeFeature(schema: arcade.schema, values: values, geometry: geometry, layer: arcade)
    }

    /// A value as scripts read it, whether it comes from a row of a table or is on its way into one.
    static func arcadeValue(_ value: AttributeValue, _ column: StoredColumn) -> ArcadeValue {
        switch value {
        case .null, .data: return .null
        case .integer(let number): return .number(Double(number))
        case .real(let number): return .number(number)
        case .text(let text):
            if column.kind == .date { return DateText.milliseconds(text).map { .number(Double($0)) } ?? .null }
            return FeatureJSON.value(text, ofType: column.field.type.rawValue)
        }
    }
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
