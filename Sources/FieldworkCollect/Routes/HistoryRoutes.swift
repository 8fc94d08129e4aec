import Fieldwork
import Foundation
import HTTPTypes
import Hummingbird

/// What was done with one feature, by this device and by others, the newest first, and the way back to what was there before.
struct HistoryRoutes: Sendable {
    let pages: PageRenderer
    let edits: EditRoutes
    var workspace: Workspace { pages.workspace }

    func add(to router: Router<CollectContext>) {
        let history = router.group("f/:layer/:key/history")
        history.get { request, context in try await page(request, context) }
        history.post(":edit/restore") { request, context in try await restore(request, context) }
    }

    private func entries(of reference: FeatureReference, map: OpenMap) -> [EditEntry] {
        map.journal.entries.filter { map.journal.current($0.feature) == reference }.reversed()
    }

    private func page(_ request: Request, _ context: CollectContext) async throws -> Response {
        let map = try await workspace.map()
        let found = try await map.find(try context.reference())
        let title = FeatureTitle(layer: found.layer, feature: found.feature).title
        let past = try await map.past(of: found)
        var changes: [PastChange] = []
        if case .known(let known, _) = past { changes = known }
        let rows = views(found).rows(entries(of: found.reference, map: map), changes)
        return try await pages.respond(
            PageRenderer.Panel(
                HistoryPanel(
                    subheading: title, back: found.reference.address, facts: tracked(found), hasRows: !rows.isEmpty,
                    rows: rows,
                    empty: map.offline == nil || map.isPlainFile
                        ? "No change since it was added." : "No change since the area was taken.",
                    note: Self.note(past, map: map)),
                kind: "side", tab: "map", title: "History of \(title)", marked: MarkedPlace(found)),
            to: request, map: map)
    }

    private func views(_ found: FoundFeature) -> HistoryViews {
        HistoryViews(found: found, own: workspace.settings.replicas)
    }

    /// What isn't among the rows, and where it is.
    private static func note(_ past: OpenMap.Past, map: OpenMap) -> String? {
        switch past {
        case .known(_, isComplete: true): nil
        case .known where map.isPlainFile: "What was before Fieldwork came to the file isn't known."
        case .known where map.offline != nil: "Older changes are on the server."
        case .known: "Older versions are on the server."
        case .unknown: "The server's history can't be shown now. These are the edits of this device."
        }
    }

    /// What the service itself keeps of who made and changed it.
    private func tracked(_ found: FoundFeature) -> [HistoryPanel.Fact] {
        guard let info = found.layer.table.editFieldsInfo else { return [] }
        func fact(_ label: String, _ dateField: String, _ userField: String) -> HistoryPanel.Fact? {
            guard let date = found.feature.attributeValue(forKey: dateField) as? Date else { return nil }
            let who = found.feature.attributeValue(forKey: userField) as? String ?? ""
            let when = FieldText.date(date, now: Date())
            return HistoryPanel.Fact(label: label, value: who.isEmpty ? when : "\(when), \(who)")
        }
        return [
            fact("Added", info.creationDateField, info.creatorField),
            fact("Last changed", info.editDateField, info.editorField),
        ].compactMap { $0 }
    }

    // MARK: Restoring

    /// What stood before a change: of an edit that this device made, or of one that the history remembers.
    private func change(
        _ context: CollectContext, of found: FoundFeature, map: OpenMap
    ) async throws -> (before: FeatureSnapshot, after: FeatureSnapshot, isMoveToo: Bool) {
        let name = context.parameters.get("edit") ?? ""
        if let id = UUID(uuidString: name), let entry = map.journal.entry(id: id),
            map.journal.current(entry.feature) == found.reference, let before = entry.before, let after = entry.after
        {
            return (before, after, false)
        }
        if let generation = Int64(name), case .known(let changes, _) = try await map.past(of: found),
            let change = changes.first(where: { $0.generation == generation && !$0.isDeletion })
        {
            return (change.before, change.after, true)
        }
        throw CollectError(.notFound, "This edit isn't known any more.")
    }

    /// Restoring is an edit of its own, which can be undone; what is there now goes to the history in its turn.
    private func restore(_ request: Request, _ context: CollectContext) async throws -> Response {
        let map = try await workspace.map()
        let reference = try context.reference()
        let form = try await FormValues.read(request)
        if let known = map.journal.entry(session: form["session"]) { return edits.answer(known, map: map) }
        let made = try await workspace.oneByOne { () -> EditEntry in
            let found = try await map.find(reference)
            let change = try await change(context, of: found, map: map)
            let views = views(found)
            let before = FeatureSnapshot(found.feature)
            let values = views.restorable(change.before, change.after)
            let isMoved = change.isMoveToo && views.isPlaceRestorable(change.before, change.after)
            guard !values.isEmpty || isMoved else {
                throw CollectError(.notAllowed, "These values are there already.")
            }
            let text = FieldText(layer: found.layer)
            var words: [String] = []
            for (field, value) in values {
                let typed = value.value(for: field.type)
                found.feature.setAttributeValue(typed, forKey: field.name)
                words.append("\(AttributeForm.label(field)) \(text.text(typed, field: field))")
            }
            if isMoved {
                found.feature.geometry = try change.before.geometry.map { try Geometry.fromJSON($0) }
                words.append(found.layer.geometry == .point ? "the place" : "the shape")
            }
            return try await map.update(
                found, kind: values.isEmpty ? .move : .update, before: before, session: form["session"],
                detail: "Restored " + words.joined(separator: ", "))
        }
        return await edits.sent(made, map: map)
    }
}
