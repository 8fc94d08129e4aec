import Fieldwork
import Foundation
import HTTPTypes
import Hummingbird

/// What was done with one feature on this device, the newest first, and the way back to what was there before.
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
        let rows = entries(of: found.reference, map: map).map { row($0, found: found) }
        return try await pages.respond(
            PageRenderer.Panel(
                template: "history", kind: "side", tab: "map", title: "History of \(title)",
                values: [
                    "heading": "History", "subheading": title, "back": found.reference.address, "rows": rows,
                    "hasRows": !rows.isEmpty, "facts": tracked(found),
                ]),
            to: request, map: map)
    }

    private func row(_ entry: EditEntry, found: FoundFeature) -> Values {
        let place =
            switch entry.progress {
            case .onDevice: "on this device"
            case .onServer: "on the server"
            case .refused: "refused by the server"
            }
        let now = FeatureSnapshot(found.feature)
        let canRestore =
            found.layer.table.canUpdate(found.feature)
            && !Self.restorable(entry, now: now, layer: found.layer).isEmpty
        return [
            "what": entry.undoes == nil
                ? entry.detail : entry.detail.replacingOccurrences(of: "Undo: ", with: "Taken back: "),
            "when": "\(FieldText.date(entry.date, now: Date(), timeZone: .current)) · \(place)",
            "restore": canRestore
                ? "\(found.reference.address)/history/\(entry.id.uuidString.lowercased())/restore" : false,
            "session": UUID().uuidString,
        ]
    }

    /// What the service itself keeps of who made and changed it.
    private func tracked(_ found: FoundFeature) -> [Values] {
        guard let info = found.layer.table.editFieldsInfo else { return [] }
        let zone = found.layer.table.timeZone
        func fact(_ label: String, _ dateField: String, _ userField: String) -> Values? {
            guard let date = found.feature.attributeValue(forKey: dateField) as? Date else { return nil }
            let who = found.feature.attributeValue(forKey: userField) as? String ?? ""
            let when = FieldText.date(date, now: Date(), timeZone: zone)
            return ["label": label, "value": who.isEmpty ? when : "\(when), \(who)"]
        }
        return [
            fact("Added", info.creationDateField, info.creatorField),
            fact("Last changed", info.editDateField, info.editorField),
        ].compactMap { $0 }
    }

    /// The values from before an edit that aren't there now.
    private static func restorable(
        _ entry: EditEntry, now: FeatureSnapshot, layer: MapLayer
    ) -> [(field: Field, value: StoredValue)] {
        guard let before = entry.before, let after = entry.after else { return [] }
        return layer.fields.compactMap { field in
            let old = before.attributes[field.name] ?? .null
            guard field.isEditable, old != after.attributes[field.name] ?? .null,
                old != now.attributes[field.name] ?? .null
            else { return nil }
            return (field, old)
        }
    }

    /// Restoring is an edit of its own, which can be undone; what is there now goes to the history in its turn.
    private func restore(_ request: Request, _ context: CollectContext) async throws -> Response {
        let map = try await workspace.map()
        let reference = try context.reference()
        let form = try await FormValues.read(request)
        if let known = map.journal.entry(session: form["session"]) { return edits.answer(known, map: map) }
        guard let id = context.parameters.get("edit").flatMap({ UUID(uuidString: $0) }),
            let entry = map.journal.entry(id: id), map.journal.current(entry.feature) == map.journal.current(reference)
        else { throw CollectError(.notFound, "This edit isn't known any more.") }
        let made = try await workspace.oneByOne { () -> EditEntry in
            let found = try await map.find(reference)
            let before = FeatureSnapshot(found.feature)
            let values = Self.restorable(entry, now: before, layer: found.layer)
            guard !values.isEmpty else { throw CollectError(.notAllowed, "These values are there already.") }
            let text = FieldText(layer: found.layer)
            var words: [String] = []
            for (field, value) in values {
                let typed = value.value(for: field.type)
                found.feature.setAttributeValue(typed, forKey: field.name)
                words.append("\(AttributeForm.label(field)) \(text.text(typed, field: field))")
            }
            return try await map.update(
                found, kind: .update, before: before, session: form["session"],
                detail: "Restored " + words.joined(separator: ", "))
        }
        return await edits.sent(made, map: map)
    }
}
