import Fieldwork
import Foundation
import HTTPTypes
import Hummingbird

/// One value for many features of the list: each is checked and saved like a form of its own, and taken back by itself.
struct ManyRoutes: Sendable {
    let pages: PageRenderer
    let edits: EditRoutes
    var workspace: Workspace { pages.workspace }

    func add(to router: Router<CollectContext>) {
        router.get("list/:layer/many") { request, context in
            try await page(request, context, posted: nil, outcome: nil)
        }
        router.post("list/:layer/many") { request, context in try await save(request, context) }
    }

    /// What became of the features that were selected.
    private struct Outcome {
        var changed = 0
        var unchanged = 0
        /// Titles, with why they stay as they are.
        var problems: [(title: String, text: String)] = []
        var last: EditEntry?
    }

    // MARK: Showing

    private func page(
        _ request: Request, _ context: CollectContext, posted: FormValues?, outcome: Outcome?
    ) async throws -> Response {
        let map = try await workspace.map()
        let layer = try context.layer(in: map)
        let view = layer.geometry == nil ? nil : workspace.settings.view(of: map.key) ?? map.authoredView
        let wanted = ListRoutes.Wanted(request, layer: layer, hasView: view != nil)
        let found = try await ListRoutes(pages: pages).find(
            wanted, layer: layer, view: view, map: map, limit: Limits.manyRows)
        let features = found.features.filter { layer.hasPopups && layer.table.canUpdate($0.feature) }
        guard let first = features.first else {
            throw CollectError(.notAllowed, "None of these \(layer.name.lowercased()) can be changed.")
        }
        let session = try await FormSession.open(first.feature, layer: layer)
        let editable = session.fieldElements.filter { $0.isEditable && $0.isVisible }
        let asked = posted?["field"] ?? request.uri.queryParameters["field"].map(String.init)
        guard let chosen = editable.first(where: { $0.fieldName == asked }) ?? editable.first else {
            throw CollectError(.notAllowed, "No value of these \(layer.name.lowercased()) can be changed.")
        }
        let selected = Set(posted?.all("row") ?? [])
        let problems = outcome?.problems ?? []
        let panel = ManyPanel(
            subheading: FieldText.count(features.count, layer.noun),
            back: wanted.address(layer, start: wanted.start), action: "/list/\(layer.id)/many",
            address: wanted.address(layer, start: wanted.start, page: "/many"), session: UUID().uuidString,
            done: Self.words(outcome, layer: layer), hasProblems: !problems.isEmpty,
            problems: problems.map { ManyPanel.Problem(title: $0.title, text: $0.text) },
            hidden: Self.hidden(request),
            fields: editable.map {
                FormOption(value: $0.fieldName, text: $0.label, current: $0.fieldName == chosen.fieldName)
            },
            chosen: chosen.fieldName,
            element: FormControls(session: session, posted: posted ?? FormValues(pairs: []), filled: [:])
                .view(of: chosen),
            rows: features.map { Self.row($0, selected: selected) })
        return try await pages.respond(
            PageRenderer.Panel(
                panel, kind: "wide", tab: "list", title: "Select several",
                status: problems.isEmpty ? .ok : .unprocessableContent),
            to: request, map: map)
    }

    private static func row(_ found: FoundFeature, selected: Set<String>) -> ManyPanel.Row {
        let title = FeatureTitle(layer: found.layer, feature: found.feature)
        let reference = found.reference.text
        return ManyPanel.Row(
            feature: reference, title: title.title, subtitle: title.rowText, selected: selected.contains(reference))
    }

    /// What the list shows stays when another value is chosen.
    private static func hidden(_ request: Request) -> [HiddenValue] {
        ["q", "sort", "scope", "start"].compactMap { name in
            request.uri.queryParameters[Substring(name)].map { HiddenValue(name: name, value: String($0)) }
        }
    }

    private static func words(_ outcome: Outcome?, layer: MapLayer) -> String? {
        guard let outcome else { return nil }
        var words = ["\(FieldText.count(outcome.changed, layer.noun)) changed."]
        if outcome.unchanged > 0 { words.append("\(outcome.unchanged) had this value already.") }
        return words.joined(separator: " ")
    }

    // MARK: Saving

    private func save(_ request: Request, _ context: CollectContext) async throws -> Response {
        let map = try await workspace.map()
        let layer = try context.layer(in: map)
        let form = try await FormValues.read(request)
        let rows = form.all("row").prefix(Limits.manyRows).compactMap { FeatureReference(text: $0) }
        guard let name = form["field"], let value = form[AttributeForm.prefix + name], let session = form["session"],
            rows.allSatisfy({ $0.layer == layer.id })
        else { throw CollectError(.badForm, "No value was chosen.") }
        var outcome = Outcome()
        if rows.isEmpty { outcome.problems.append((layer.name, "Select at least one.")) }
        for reference in rows {
            // The same form posted twice changes nothing twice.
            let own = "\(session) \(reference.text)"
            if map.journal.entry(session: own) != nil {
                outcome.unchanged += 1
                continue
            }
            try await set(name, to: value, of: reference, session: own, map: map, outcome: &outcome)
        }
        if let last = outcome.last { _ = await edits.sent(last, map: map) }
        return try await page(request, context, posted: form, outcome: outcome)
    }

    private enum Single: Sendable {
        case changed(EditEntry)
        case unchanged
        case wrong(title: String, text: String)
    }

    private func set(
        _ name: String, to value: String, of reference: FeatureReference, session own: String, map: OpenMap,
        outcome: inout Outcome
    ) async throws {
        let single = try await workspace.oneByOne { () -> Single in
            let found = try await map.find(reference)
            let title = FeatureTitle(layer: found.layer, feature: found.feature).title
            guard found.layer.hasPopups, found.layer.table.canUpdate(found.feature) else {
                return .wrong(title: title, text: "This can't be edited.")
            }
            var session = try await FormSession.open(found.feature, layer: found.layer)
            guard session.fieldElements.contains(where: { $0.fieldName == name && $0.isEditable }) else {
                return .wrong(title: title, text: "\(name) can't be changed.")
            }
            try await session.apply(FormValues(pairs: [(AttributeForm.prefix + name, value)]))
            if let problem = session.problems.first(where: { $0.field == name }) {
                map.forget(found.reference)
                return .wrong(title: title, text: problem.text)
            }
            guard session.hasEdits else { return .unchanged }
            return .changed(
                try await map.update(
                    found, kind: .update, before: session.before, session: own,
                    detail: session.changes.joined(separator: ", ")))
        }
        switch single {
        case .changed(let entry):
            outcome.changed += 1
            outcome.last = entry
        case .unchanged: outcome.unchanged += 1
        case .wrong(let title, let text): outcome.problems.append((title, text))
        }
    }
}
