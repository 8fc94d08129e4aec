import FieldworkArcade
import FieldworkGeometry
import FieldworkREST
import Foundation

/// Turns one submitted feature into the values of a row, or says why not. Holds what depends on the layer alone, so that
/// a feature costs only its own checks. A class: every request that edits has it at hand, and a copy would cost more than a small edit's
/// checks.
final class RowRules {
    let layer: StoredLayer
    private let defaults: [AttributeValue]
    /// Type and subtype, as far as the layer has them: the subtype's domains come first.
    private let kinds: [KindRules]
    /// The columns whose domain depends on the kind.
    private let kindColumns: Set<Int>
    private let contingencies: ContingencyRules?
    let ownership: OwnershipRules?
    /// nil where the layer has none that edits keep.
    let attributeRules: LayerAttributeRules?
    /// The columns of the stored feature that an update is checked with.
    let checkedWith: [Int]
    // The layer's table and the column of object ids, for SQL.
    let table: String
    let key: String
    /// Reads the ids of features and their values of `checkedWith`; a condition follows.
    let find: String
    let findByObjectID: String
    /// nil in a layer without global ids.
    let findByGlobalID: String?
    /// The columns that a new row sets, for SQL: those of attributes, then the geometry.
    let insertedColumns: [String]
    /// Their names in one text, and as many marks.
    let insertedNames: String
    let insertedMarks: String
    /// Of the database that the layer lies in.
    private var insertion: String?
    private let creator: Int?
    private let creationDate: Int?
    private let editor: Int?
    private let editDate: Int?
    /// Fields that the store itself fills.
    private let maintained: Set<Int>

    init(layer: StoredLayer) {
        self.layer = layer
        defaults = layer.columns.map(\.field.defaultValue)
        let definition = layer.definition
        func index(_ name: String?) -> Int? { name.flatMap(layer.index(of:)) }
        creator = index(definition.editFields?.creatorField)
        creationDate = index(definition.editFields?.creationDateField)
        editor = index(definition.editFields?.editorField)
        editDate = index(definition.editFields?.editDateField)
        maintained = Set([creator, creationDate, editor, editDate].compactMap(\.self))
        kinds = [KindRules(subtypesOf: layer), KindRules(typesOf: layer)].compactMap(\.self)
        contingencies = ContingencyRules(layer: layer)
        ownership = OwnershipRules(layer: layer)
        attributeRules = LayerAttributeRules(layer: layer)
        let isRuled = attributeRules?.concerns(.update) == true || attributeRules?.concerns(.delete) == true
        let stored = layer.columns.filter(\.isStored).map(\.name) + (layer.geometryColumn.map { [$0] } ?? [])
        insertedColumns = stored.map(quoted)
        insertedNames = insertedColumns.joined(separator: ", ")
        insertedMarks = stored.map { _ in "?" }.joined(separator: ", ")
        kindColumns = Set(kinds.flatMap(\.columns))
        checkedWith = kindColumns.union(kinds.map(\.column)).union(contingencies?.columns ?? [])
            .union(ownership.map { [$0.creatorColumn] } ?? [])
            .union(isRuled ? layer.columns.indices.filter { layer.columns[$0].isStored } : []).sorted()
        table = quoted(layer.tableName)
        key = quoted(layer.objectIDColumn)
        let globalID = layer.globalIDColumn.map(quoted)
        let found = [key, globalID ?? "NULL"] + checkedWith.map { quoted(layer.columns[$0].name) }
        let find = "SELECT \(found.joined(separator: ", ")) FROM \(table) WHERE"
        self.find = find
        findByObjectID = "\(find) \(key) = ?"
        findByGlobalID = globalID.map { "\(find) \($0) = ?" }
    }

    /// Adds a row. Made when the first feature is added: not every layer is edited.
    func insertSQL(_ dialect: SQLDialect) -> String {
        if let insertion { return insertion }
        let newKey = dialect.newKey(layer)
        let marks =
            newKey == "?"
            ? insertedMarks : insertedColumns.map { $0 == key ? newKey : "?" }.joined(separator: ", ")
        let sql = "INSERT INTO \(table) (\(insertedNames)) VALUES (\(marks))\(dialect.returning(key))"
        insertion = sql
        return sql
    }

    /// Whether a new row of a load is its values and its defaults, each checked for itself.
    var hasOnlyFields: Bool { kinds.isEmpty && contingencies == nil && maintained.isEmpty }

    /// Whether a user's edit may set a column.
    func accepts(_ index: Int) -> Bool { isChecked(index, .edit) && layer.columns[index].field.isEditable }

    /// A new value for a column, in the column's form.
    typealias Assignment = (column: Int, value: AttributeValue)

    // MARK: Adds

    /// The values of a whole new row, column by column, without object and global id.
    /// - Parameter run: the layer's rules for this feature.
    func newRow(
        _ edit: FeatureEdit, in batch: EditBatch, _ run: AttributeRuleRun? = nil
    ) throws(EditError) -> [AttributeValue] {
        var row = defaults
        var isGiven = [Bool](repeating: false, count: row.count)
        for attribute in edit.attributes {
            guard let index = try assignable(attribute.name, in: batch) else { continue }
            row[index] = attribute.value
            isGiven[index] = true
        }
        for kind in kinds {
            if !isGiven[kind.column], row[kind.column].isNull { row[kind.column] = kind.defaultCode }
            for (index, value) in kind.defaults(of: row[kind.column]) ?? [:] where !isGiven[index] {
                row[index] = value
            }
            try kind.check(row[kind.column])
        }
        // What a rule fills is checked after it, and so are the domains of a kind that it may change.
        var calculated = run?.targets ?? []
        let late = run == nil ? [] : kindColumns
        let domains = domains { row[$0] }
        for index in row.indices where isChecked(index, batch.origin) && !calculated.contains(index) {
            let column = layer.columns[index]
            // A default fills what is not there, so an explicit null must be meant.
            row[index] = try AttributeRules.stored(
                row[index], in: column, domain: late.contains(index) ? nil : domains[index] ?? column.field.domain)
        }
        if let run {
            calculated.formUnion(try run.calculate(&row))
            let domains = self.domains { row[$0] }
            for kind in kinds { try kind.check(row[kind.column]) }
            for index in calculated.union(late).sorted() where isChecked(index, batch.origin) {
                let column = layer.columns[index]
                row[index] = try AttributeRules.stored(
                    row[index], in: column, domain: domains[index] ?? column.field.domain)
            }
            try run.check(row)
        }
        try contingencies?.check(isConcerned: { _ in true }) { index in
            guard layer.columns[index].kind == .date, let text = row[index].textValue else { return row[index] }
            return DateText.milliseconds(text).map(AttributeValue.integer) ?? .null
        }
        track(batch, isNew: true) { index, value in
            // A load keeps who and when its source tells.
            if batch.origin == .load, isGiven[index], !row[index].isNull {
                row[index] = AttributeRules.storedAsIs(row[index], in: layer.columns[index])
            } else {
                row[index] = value
            }
        }
        return row
    }

    /// The domains that hold for a feature besides those of its fields.
    private func domains(_ value: (Int) -> AttributeValue) -> [Int: DomainDefinition] {
        var domains: [Int: DomainDefinition] = [:]
        for kind in kinds {
            domains.merge(kind.domains(of: value(kind.column)) ?? [:]) { first, _ in first }
        }
        return domains
    }

    private func isChecked(_ index: Int, _ origin: EditBatch.Origin) -> Bool {
        index != layer.objectIDIndex && index != layer.globalIDIndex && layer.columns[index].isStored
            && !maintained.contains(index)
    }

    // MARK: Updates

    /// The columns that an update assigns.
    /// - Parameters:
    ///   - current: the stored values of the columns `checkedWith`.
    ///   - run: the layer's rules for this feature.
    func assignments(
        _ edit: FeatureEdit, in batch: EditBatch, current: [Int: AttributeValue], _ run: AttributeRuleRun? = nil
    ) throws(EditError) -> [Assignment] {
        var given: [Assignment] = []
        var values = current
        for attribute in edit.attributes {
            guard let index = try assignable(attribute.name, in: batch) else { continue }
            given.append((index, attribute.value))
            if !checkedWith.isEmpty { values[index] = attribute.value }
        }
        var domains = kinds.isEmpty ? [:] : domains { values[$0] ?? .null }
        var result: [Assignment] = []
        let late = run == nil ? [] : kindColumns
        for (index, value) in given where isChecked(index, batch.origin) {
            let column = layer.columns[index]
            let domain = late.contains(index) ? nil : domains[index] ?? column.field.domain
            result.append((index, try AttributeRules.stored(value, in: column, domain: domain)))
        }
        if let run { domains = try keep(run, &result, current) }
        if !checkedWith.isEmpty {
            for assignment in result { values[assignment.column] = assignment.value }
            try checkWhole(Set(given.map(\.column)).union(result.map(\.column)), values, domains)
        }
        track(batch, isNew: false) { index, value in result.append((index, value)) }
        return Self.lastOfEach(result)
    }

    /// Adds what the layer's rules set, and throws where the feature would not keep them.
    /// - Returns: the domains of the feature as the rules leave it, whose kind they may have changed.
    private func keep(
        _ run: AttributeRuleRun, _ result: inout [Assignment], _ current: [Int: AttributeValue]
    ) throws(EditError) -> [Int: DomainDefinition] {
        var row = layer.columns.indices.map { current[$0] ?? .null }
        var changed: Set<Int> = []
        for (index, value) in result {
            let column = layer.columns[index]
            if ArcadeValue(row[index], of: column) != ArcadeValue(value, of: column) {
                changed.insert(index)
            }
            row[index] = value
        }
        let calculated = try run.calculate(&row, changed: changed)
        let domains = kinds.isEmpty ? [:] : domains { row[$0] }
        let late = Set(result.map(\.column)).intersection(kindColumns)
        for index in calculated.union(late).sorted() {
            let column = layer.columns[index]
            let value = try AttributeRules.stored(
                row[index], in: column, domain: domains[index] ?? column.field.domain)
            result.append((index, value))
            row[index] = value
            if calculated.contains(index) { changed.insert(index) }
        }
        try run.check(row, changed: changed)
        return domains
    }

    /// Checks what an update makes of a feature as a whole: values that it keeps must fit a kind that it changes.
    private func checkWhole(
        _ given: Set<Int>, _ values: [Int: AttributeValue], _ domains: [Int: DomainDefinition]
    ) throws(EditError) {
        for kind in kinds where given.contains(kind.column) {
            try kind.check(values[kind.column] ?? .null)
            for index in kind.columns.subtracting(given) {
                guard let domain = domains[index], let value = values[index], !value.isNull else { continue }
                try AttributeRules.check(value, layer.columns[index], domain)
            }
        }
        guard let contingencies else { return }
        try contingencies.check(isConcerned: given.contains) { index in
            // What comes from the client has its field's type by now; a text of digits counts as its number.
            guard let value = values[index], !value.isNull else { return .null }
            return (try? AttributeRules.coerced(value, layer.columns[index])) ?? value
        }
    }

    /// What a cache takes over from its service: all that is known here, unchecked.
    func assignmentsAsTheyAre(_ edit: FeatureEdit) -> [Assignment] {
        let known = edit.attributes.compactMap { attribute -> Assignment? in
            guard let index = layer.index(of: attribute.name), index != layer.objectIDIndex,
                index != layer.globalIDIndex,
                layer.columns[index].isStored
            else { return nil }
            return (index, AttributeRules.storedAsIs(attribute.value, in: layer.columns[index]))
        }
        return Self.lastOfEach(known)
    }

    private static func lastOfEach(_ assignments: [Assignment]) -> [Assignment] {
        var positions: [Int: Int] = [:]
        var result: [Assignment] = []
        for assignment in assignments {
            if let position = positions[assignment.column] {
                result[position] = assignment
            } else {
                positions[assignment.column] = result.count
                result.append(assignment)
            }
        }
        return result
    }

    // MARK: Both

    /// The column of a submitted attribute; nil for what the store fills itself and what clients send back unasked
    /// (ids, fields that can't be edited). A name that the layer doesn't have is an error: its value would be lost.
    private func assignable(_ name: String, in batch: EditBatch) throws(EditError) -> Int? {
        let origin = batch.origin
        guard let index = layer.index(of: name) else {
            throw EditError(code: 1000, description: "The layer has no field \(name.prefix(80)).")
        }
        let column = layer.columns[index]
        guard column.isStored, index != layer.objectIDIndex, index != layer.globalIDIndex else { return nil }
        if origin == .edit, maintained.contains(index) || !column.field.isEditable && !batch.isMadeByRule { return nil }
        return index
    }

    /// What an update that nobody asked for writes into the fields of who and when.
    func tracked(in batch: EditBatch) -> [Assignment] {
        var result: [Assignment] = []
        track(batch, isNew: false) { result.append(($0, $1)) }
        return result
    }

    private func track(_ batch: EditBatch, isNew: Bool, assign: (Int, AttributeValue) -> Void) {
        guard !maintained.isEmpty else { return }
        let moment = AttributeValue.text(DateText.text(milliseconds: batch.moment.milliseconds))
        let name = AttributeValue.text(layer.definition.editFields?.name(of: batch.editor ?? "") ?? "")
        if isNew {
            if let creator { assign(creator, name) }
            if let creationDate { assign(creationDate, moment) }
        }
        if let editor { assign(editor, name) }
        if let editDate { assign(editDate, moment) }
    }
}

extension Date {
    /// Milliseconds since 1970, held within 64 bits.
    var milliseconds: Int64 {
        let value = (timeIntervalSince1970 * 1_000).rounded()
        return Int64(exactly: value) ?? (value < 0 ? .min : .max)
    }
}
