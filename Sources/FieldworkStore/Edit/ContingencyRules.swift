import FieldworkREST

/// Restrictive field groups: combinations of values that are allowed together. A group of which a feature
/// has no value at all is not checked: nothing has been chosen yet.
struct ContingencyRules: Sendable {
    private struct Group: Sendable {
        let name: String
        let columns: [Int]
        let contingencies: [ContingencyDefinition]
    }

    private let groups: [Group]
    private let subtypeColumn: Int?
    private let layer: StoredLayer
    /// The columns of all groups, and that of the subtype.
    let columns: Set<Int>

    /// nil when the layer has none.
    init?(layer: StoredLayer) {
        groups = layer.definition.fieldGroups.compactMap { group in
            let columns = group.fields.compactMap(layer.index(of:))
            guard group.isRestrictive, columns.count == group.fields.count, !columns.isEmpty else { return nil }
            return Group(
                name: group.name, columns: columns, contingencies: group.contingencies.filter { !$0.isRetired })
        }
        guard !groups.isEmpty else { return nil }
        subtypeColumn = layer.definition.subtypeField.flatMap(layer.index(of:))
        self.layer = layer
        columns = Set(groups.flatMap(\.columns) + [subtypeColumn].compactMap(\.self))
    }

    /// - Parameters:
    ///   - isConcerned: whether an edit writes a column; groups that it leaves alone are not looked at.
    ///   - value: what a column will hold, a date as milliseconds.
    func check(isConcerned: (Int) -> Bool, _ value: (Int) -> AttributeValue) throws(EditError) {
        let subtype = subtypeColumn.map(value) ?? .null
        let isNewSubtype = subtypeColumn.map(isConcerned) ?? false
        for group in groups where isNewSubtype || group.columns.contains(where: isConcerned) {
            let values = group.columns.map(value)
            guard values.contains(where: { !$0.isNull }) else { continue }
            let isAllowed = group.contingencies.contains { contingency in
                (contingency.subtypeCode.isNull || isSame(contingency.subtypeCode, subtype, subtypeColumn))
                    && zip(contingency.values, zip(values, group.columns)).allSatisfy {
                        matches($0, $1.0, layer.columns[$1.1])
                    }
            }
            guard isAllowed else {
                let names = group.columns.map { layer.columns[$0].name }.joined(separator: ", ")
                throw EditError(
                    code: 1000, description: "The values of \(names) don't go together (field group \(group.name)).")
            }
        }
    }

    private func isSame(_ code: AttributeValue, _ value: AttributeValue, _ column: Int?) -> Bool {
        guard let column, !value.isNull else { return false }
        return AttributeRules.isSame(code, value, layer.columns[column])
    }

    private func matches(
        _ allowed: ContingencyDefinition.Value, _ value: AttributeValue, _ column: StoredColumn
    ) -> Bool {
        switch allowed {
        case .any: true
        case .null: value.isNull
        case .code(let code): !value.isNull && AttributeRules.isSame(code, value, column)
        case .range(let minimum, let maximum):
            !value.isNull && AttributeRules.isOrdered(minimum, value) && AttributeRules.isOrdered(value, maximum)
        }
    }
}
