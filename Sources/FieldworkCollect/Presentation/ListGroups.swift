import Fieldwork
import Foundation
import Hummingbird

/// A list in groups: the rows of one value of a list of choices stand together under its name, with how many there are in all.
struct ListGroups {
    /// The fields that a list can be grouped by.
    let fields: [Field]
    /// nil for a list without groups.
    let field: Field?

    init(_ request: Request, layer: MapLayer, columns: [Field]) {
        let form = AttributeForm(layer: layer)
        let fields = columns.filter { form.choices($0, typeID: nil)?.isEmpty == false }
        let asked = request.uri.queryParameters["group"].map(String.init)
        self.fields = fields
        field = fields.first { $0.name == asked }
    }

    /// For the address of another page of the same list.
    var address: String { field.map { "&group=\(ChooseRoutes.escaped($0.name))" } ?? "" }

    /// The fields as the form of the list shows them.
    var options: [FormOption] {
        [FormOption(value: "", text: "No groups", current: field == nil)]
            + fields.map { FormOption($0, isCurrent: $0.name == field?.name) }
    }

    /// The condition that a feature's group fulfils, and no other.
    private func condition(_ feature: Feature, _ field: Field) -> String? {
        let value = feature.attributeValue(forKey: field.name)
        if FeatureSnapshot.Value(value) == .null { return "\(field.name) IS NULL" }
        return value.flatMap(ListFilter.literal).map { "\(field.name) = \($0)" }
    }

    /// The headings of a page, by the index of the row that each stands above. The first row has one on every page.
    /// - Parameter count: how many rows of the list fulfil a condition as well.
    func headings(_ found: [FoundFeature], count: (String) async throws -> Int) async throws -> [Int: RowView.GroupHead]
    {
        guard let field else { return [:] }
        var headings: [Int: RowView.GroupHead] = [:]
        var last: FeatureSnapshot.Value?
        for (index, row) in found.enumerated() {
            let value = FeatureSnapshot.Value(row.feature.attributeValue(forKey: field.name))
            guard value != last else { continue }
            last = value
            let text = value == .null ? "No value" : FieldText(layer: row.layer).text(field.name, of: row.feature)
            let rows = try await condition(row.feature, field).asyncMap(count)
            headings[index] = RowView.GroupHead(
                name: "\(AttributeForm.label(field)): \(text)",
                count: rows.map { FieldText.count($0, row.layer.noun) } ?? "")
        }
        return headings
    }
}

extension Optional {
    fileprivate func asyncMap<Result>(_ transform: (Wrapped) async throws -> Result) async rethrows -> Result? {
        guard let self else { return nil }
        return try await transform(self)
    }
}
