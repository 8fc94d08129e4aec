import Fieldwork
import Foundation
import HTTPTypes
import Hummingbird

/// Chooses the record that a feature refers to. The choice goes into the form's draft, and the form opens again.
struct ChooseRoutes: Sendable {
    let pages: PageRenderer
    var workspace: Workspace { pages.workspace }

    func add(to router: Router<CollectContext>) {
        router.get("choose/:layer/:relation") { request, context in try await list(request, context) }
        router.post("choose/:layer/:relation") { request, context in try await choose(request, context) }
    }

    static func escaped(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    }

    /// The form that asked: an address of this app alone.
    private static func form(_ address: String?) throws -> String {
        guard let address, address.hasPrefix("/f/") || address.hasPrefix("/add/"), !address.contains("//"),
            !address.contains("\\")
        else { throw CollectError(.badForm, "This form has expired.") }
        return address
    }

    private func target(
        _ context: CollectContext, map: OpenMap
    ) throws -> (layer: MapLayer, info: RelationshipInfo, parents: MapLayer) {
        let layer = try context.layer(in: map)
        guard let id = context.parameters.get("relation").flatMap({ Int($0) }),
            let info = layer.table.layerInfo?.relationshipInfos.first(where: { $0.id == id && $0.role == .destination }
            ),
            let table = layer.table.relatedTables(for: info).first, let parents = map.layer(of: table),
            parents.hasPopups
        else { throw CollectError(.notFound, "There is no such list of records.") }
        return (layer, info, parents)
    }

    private func list(_ request: Request, _ context: CollectContext) async throws -> Response {
        let map = try await workspace.map()
        let (layer, info, parents) = try target(context, map: map)
        let address = try Self.form(request.uri.queryParameters["for"].map(String.init))
        let text = request.uri.queryParameters["q"].map(String.init) ?? ""
        let start = max(0, request.uri.queryParameters["start"].flatMap { Int($0) } ?? 0)
        let found = try await records(of: parents, matching: text, from: start, map: map)
        let current = map.drafts.draft(address)?.form[FormPages.relationPrefix + String(info.id)]
        let name = parents.name
        let base = "/choose/\(layer.id)/\(info.id)?for=\(Self.escaped(address))&q=\(Self.escaped(text))&start="
        let rows = found.records.map { record in
            let shown = DisplayedValues(layer: record.layer, feature: record.feature).values
            return ChoosePanel.Row(
                record: record.reference.text, first: shown.first?.text ?? FieldText.nothing,
                second: shown.dropFirst().first?.text ?? "", current: record.reference.text == current)
        }
        let end = start + Limits.choosableRecords
        let panel = ChoosePanel(
            heading: name, subheading: "For this \(layer.noun)", form: address,
            action: "/choose/\(layer.id)/\(info.id)", query: text,
            count: Self.count(found.total, matching: text, of: parents), rows: rows,
            empty: "No \(name.lowercased()) match '\(text)'. Check the spelling or clear the search.",
            previous: start > 0 ? base + String(max(0, start - Limits.choosableRecords)) : nil,
            next: end < found.total ? base + String(end) : nil)
        return try await pages.respond(
            PageRenderer.Panel(panel, kind: "wide", tab: "map", title: "Choose \(name)"), to: request, map: map)
    }

    private static func count(_ total: Int, matching text: String, of layer: MapLayer) -> String {
        text.isEmpty
            ? FieldText.count(total, layer.noun == "feature" ? "record" : layer.noun)
            : "\(FieldText.grouped(total)) match \(text)"
    }

    /// One page of the records whose first two shown texts hold a text, sorted by the first.
    private func records(
        of layer: MapLayer, matching text: String, from start: Int, map: OpenMap
    ) async throws -> (records: [FoundFeature], total: Int) {
        let shown =
            layer.listedFields.isEmpty
            ? layer.fields.filter { FeatureTitle.isTelling($0, of: layer) } : layer.listedFields
        let searched = shown.filter { $0.type == .text }.prefix(2)
        let parameters = QueryParameters()
        parameters.whereClause = Self.condition(text, fields: searched.map(\.name))
        let total = try await layer.table.queryFeatureCount(using: parameters)
        if let first = shown.first { parameters.addOrderByField(OrderBy(fieldName: first.name, sortOrder: .ascending)) }
        parameters.maxFeatures = Limits.choosableRecords
        parameters.resultOffset = start
        let result = try await layer.table.features(parameters, .loadAll)
        let records = result.features().compactMap { feature -> FoundFeature? in
            guard let reference = layer.reference(of: feature) else { return nil }
            map.remember(feature, as: reference)
            return map.found(feature, layer: layer, reference: reference, from: nil)
        }
        return (records, total)
    }

    /// The text as a literal of the grammar: quotes doubled, so that nothing typed is more than a text to look for.
    static func condition(_ text: String, fields: [String]) -> String {
        let trimmed = text.trimmingCharacters(in: .whitespacesAndNewlines).prefix(100)
        guard !trimmed.isEmpty, !fields.isEmpty else { return "1=1" }
        let plain = trimmed.filter { $0 != "%" && $0 != "_" }.replacingOccurrences(of: "'", with: "''")
        return fields.map { "UPPER(\($0)) LIKE UPPER('%\(plain)%')" }.joined(separator: " OR ")
    }

    private func choose(_ request: Request, _ context: CollectContext) async throws -> Response {
        let map = try await workspace.map()
        let (layer, info, parents) = try target(context, map: map)
        let form = try await FormValues.read(request)
        let address = try Self.form(form["for"])
        guard let reference = form["record"].flatMap({ FeatureReference(text: $0) }), reference.layer == parents.id
        else {
            throw CollectError(.badForm, "No record was chosen.")
        }
        _ = try await map.find(reference)
        try map.drafts.set(
            FormPages.relationPrefix + String(info.id), to: reference.text, of: address, title: "Edit \(layer.noun)")
        return PageRenderer.redirect(address)
    }
}
