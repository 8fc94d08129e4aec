import Fieldwork
import Foundation
import HTTPTypes
import Hummingbird

/// A feature's own pages, and what can be done with it.
struct EditRoutes: Sendable {
    let pages: PageRenderer
    var workspace: Workspace { pages.workspace }

    func add(to router: Router<CollectContext>) {
        let feature = router.group("f/:layer/:key")
        feature.get { request, context in try await details(request, context) }
        feature.get("edit") { request, context in try await form(request, context) }
        feature.post("edit") { request, context in try await save(request, context) }
        feature.post("attribute") { request, context in try await attribute(request, context) }
        feature.get("move") { request, context in try await movePage(request, context) }
        feature.post("move") { request, context in try await move(request, context) }
        feature.post("delete") { request, context in try await delete(request, context) }
    }

    // MARK: Showing

    private func details(_ request: Request, _ context: CollectContext) async throws -> Response {
        let map = try await workspace.map()
        let found = try await map.find(try context.reference())
        let values = FeatureViews(map: map).details(found)
        return try await pages.respond(
            PageRenderer.Panel(
                template: "feature", kind: "side", tab: "map",
                title: FeatureTitle(layer: found.layer, feature: found.feature).title, values: values,
                selection: try selection(found, map: map), over: over(request, map: map)),
            to: request, map: map)
    }

    private func selection(_ found: FoundFeature, map: OpenMap) throws -> String {
        guard found.place != nil else { return "" }
        return try pages.templates.render("mini", FeatureViews(map: map).selection(found, here: nil))
    }

    private func over(_ request: Request, map: OpenMap) -> Values {
        guard let id = request.uri.queryParameters["edit"].flatMap({ UUID(uuidString: String($0)) }),
            let entry = map.journal.entry(id: id)
        else { return [:] }
        return FeatureViews.over(entry, back: "/map")
    }

    private func form(_ request: Request, _ context: CollectContext) async throws -> Response {
        let map = try await workspace.map()
        let found = try await map.find(try context.reference())
        return try await formPage(found, posted: nil, problems: [], request: request, map: map)
    }

    private func formPage(
        _ found: FoundFeature, posted: FormValues?, problems: [AttributeForm.Problem], request: Request, map: OpenMap
    ) async throws -> Response {
        let title = FeatureTitle(layer: found.layer, feature: found.feature)
        let form = AttributeForm(layer: found.layer)
        var values: Values = [
            "heading": "Edit \(found.layer.noun)", "subheading": "\(title.title) · \(title.id)",
            "action": "\(found.reference.address)/edit", "back": found.reference.mapAddress,
            "session": posted?["session"] ?? UUID().uuidString, "hidden": [Values](),
            "fields": form.controls(feature: found.feature, posted: posted, problems: problems),
        ]
        values["problems"] = Self.summary(problems)
        return try await pages.respond(
            PageRenderer.Panel(
                template: "edit", kind: "wide", tab: "map", title: "Edit \(title.title)", values: values,
                status: problems.isEmpty ? .ok : .unprocessableContent),
            to: request, map: map)
    }

    static func summary(_ problems: [AttributeForm.Problem]) -> Any {
        guard !problems.isEmpty else { return false }
        return [
            "count": problems.count == 1
                ? "One value needs your attention." : "\(problems.count) values need your attention.",
            "list": problems.map { ["name": $0.field, "label": $0.label, "text": $0.text] as Values },
        ] as Values
    }

    // MARK: Changing

    private func save(_ request: Request, _ context: CollectContext) async throws -> Response {
        let map = try await workspace.map()
        let form = try await FormValues.read(request)
        let reference = try context.reference()
        if let known = map.journal.entry(session: form["session"]) { return answer(known, map: map) }
        let outcome = try await workspace.oneByOne { () -> SaveOutcome in
            let found = try await map.find(reference)
            let reading = AttributeForm(layer: found.layer).read(form, feature: found.feature)
            guard reading.problems.isEmpty else { return .wrong(found, reading.problems) }
            return try await write(reading.values, to: found, map: map, session: form["session"])
        }
        switch outcome {
        case .wrong(let found, let problems):
            return try await formPage(found, posted: form, problems: problems, request: request, map: map)
        case .unchanged:
            return PageRenderer.redirect(map.journal.current(reference).mapAddress)
        case .saved(let entry):
            return await sent(entry, map: map)
        }
    }

    /// One value chosen in the call-out's menu.
    private func attribute(_ request: Request, _ context: CollectContext) async throws -> Response {
        let map = try await workspace.map()
        let form = try await FormValues.read(request)
        let reference = try context.reference()
        if let known = map.journal.entry(session: form["session"]) { return answer(known, map: map) }
        guard let field = form["field"], let value = form["value"] else {
            throw CollectError(.badForm, "No value was chosen.")
        }
        let single = FormValues(pairs: [(AttributeForm.prefix + field, value)])
        let outcome = try await workspace.oneByOne { () -> SaveOutcome in
            let found = try await map.find(reference)
            let reading = AttributeForm(layer: found.layer).read(single, feature: found.feature)
            guard reading.problems.isEmpty else { return .wrong(found, reading.problems) }
            guard !reading.values.isEmpty else { throw CollectError(.badForm, "\(field) can't be changed.") }
            return try await write(reading.values, to: found, map: map, session: form["session"])
        }
        switch outcome {
        case .wrong(let found, let problems):
            return try await formPage(found, posted: single, problems: problems, request: request, map: map)
        case .unchanged:
            return PageRenderer.redirect(map.journal.current(reference).mapAddress)
        case .saved(let entry):
            return await sent(entry, map: map)
        }
    }

    private enum SaveOutcome: Sendable {
        case saved(EditEntry)
        case unchanged
        case wrong(FoundFeature, [AttributeForm.Problem])
    }

    private func write(
        _ values: [String: (any Sendable)?], to found: FoundFeature, map: OpenMap, session: String?
    ) async throws -> SaveOutcome {
        let before = FeatureSnapshot(found.feature)
        let text = FieldText(layer: found.layer)
        var changes: [String] = []
        for (name, value) in values.sorted(by: { $0.key < $1.key }) {
            guard let field = found.layer.field(named: name) else { continue }
            let old = found.feature.attributeValue(forKey: name)
            guard StoredValue(old) != StoredValue(value) else { continue }
            let typeID = text.typeID(of: found.feature)
            let from = text.text(old, field: field, typeID: typeID)
            let to = text.text(value, field: field, typeID: typeID)
            changes.append("\(AttributeForm.label(field)) from \(from.prefix(40)) to \(to.prefix(40))")
            found.feature.setAttributeValue(value, forKey: name)
        }
        guard !changes.isEmpty else { return .unchanged }
        do {
            return .saved(
                try await map.update(
                    found, kind: .update, before: before, session: session, detail: changes.joined(separator: ", ")))
        } catch {
            // The object is shared with what is on show: it must not keep what wasn't saved.
            for name in values.keys {
                let old = before.attributes[name] ?? .null
                found.feature.setAttributeValue(old.value(for: found.layer.field(named: name)?.type), forKey: name)
            }
            throw error
        }
    }

    private func movePage(_ request: Request, _ context: CollectContext) async throws -> Response {
        let map = try await workspace.map()
        let found = try await map.find(try context.reference())
        return try await movePage(found, error: nil, request: request, map: map)
    }

    private func movePage(
        _ found: FoundFeature, error: String?, request: Request, map: OpenMap
    ) async throws -> Response {
        guard found.layer.geometry == .point, found.layer.table.canUpdate(found.feature),
            found.layer.table.canEditGeometry(of: found.feature), let place = found.place
        else { throw CollectError(.notAllowed, "This \(found.layer.noun) can't be moved.") }
        let title = FeatureTitle(layer: found.layer, feature: found.feature)
        return try await pages.respond(
            PageRenderer.Panel(
                template: "place", kind: "sheet", tab: "map", title: "Move \(title.title)",
                values: [
                    "heading": "Move \(found.layer.noun)", "subheading": "\(title.title) · \(title.id)",
                    "mode": "move", "layer": found.layer.id, "action": "\(found.reference.address)/move",
                    "back": found.reference.mapAddress, "session": UUID().uuidString, "kinds": false,
                    "error": error.orFalse, "open": error != nil,
                    "lon": FeatureViews.degrees(place.longitude), "lat": FeatureViews.degrees(place.latitude),
                ],
                status: error == nil ? .ok : .unprocessableContent),
            to: request, map: map)
    }

    private func move(_ request: Request, _ context: CollectContext) async throws -> Response {
        let map = try await workspace.map()
        let form = try await FormValues.read(request)
        let reference = try context.reference()
        if let known = map.journal.entry(session: form["session"]) { return answer(known, map: map) }
        let place: Place
        do {
            place = try DataRoutes.place(form)
        } catch let error as CollectError {
            return try await movePage(
                try await map.find(reference), error: error.description, request: request, map: map)
        }
        let entry = try await workspace.oneByOne { () -> EditEntry in
            let found = try await map.find(reference)
            guard found.layer.geometry == .point, found.layer.table.canEditGeometry(of: found.feature) else {
                throw CollectError(.notAllowed, "This \(found.layer.noun) can't be moved.")
            }
            let before = FeatureSnapshot(found.feature)
            let old = found.feature.geometry
            found.feature.geometry = try map.point(at: place, in: found.layer, like: old)
            let way = found.place.map { FieldText.distance($0.distance(to: place).metres) } ?? ""
            let direction = found.place.map { $0.distance(to: place).direction } ?? ""
            do {
                return try await map.update(
                    found, kind: .move, before: before, session: form["session"], detail: "Moved \(way) \(direction)")
            } catch {
                found.feature.geometry = old
                throw error
            }
        }
        return await sent(entry, map: map)
    }

    private func delete(_ request: Request, _ context: CollectContext) async throws -> Response {
        let map = try await workspace.map()
        let form = try await FormValues.read(request)
        let reference = try context.reference()
        if let known = map.journal.entry(session: form["session"]) { return answer(known, map: map) }
        let entry = try await workspace.oneByOne {
            try await map.delete(try await map.find(reference), session: form["session"])
        }
        return await sent(entry, map: map)
    }

    /// Gives the server a moment to answer, then shows where the edit is.
    func sent(_ entry: EditEntry, map: OpenMap) async -> Response {
        await map.outbox.send(patience: .milliseconds(Limits.sendPatienceMilliseconds))
        workspace.hub.send("map", MapChanged(layers: []))
        workspace.hub.send("stale", PanelsStale(panels: ["changes"], why: "edit"))
        return answer(map.journal.entry(id: entry.id) ?? entry, map: map)
    }

    func answer(_ entry: EditEntry, map: OpenMap) -> Response {
        let edit = "edit=\(entry.id.uuidString.lowercased())"
        let reference = map.journal.current(entry.feature)
        guard entry.kind != .delete else { return PageRenderer.redirect("/map?\(edit)") }
        let hasPlace = map.layer(reference.layer)?.geometry != nil
        return PageRenderer.redirect("\(hasPlace ? reference.mapAddress : reference.address)?\(edit)")
    }
}

extension OpenMap {
    /// The place as a point in the layer's own reference, with the old point's height and measure.
    func point(at place: Place, in layer: MapLayer, like old: Geometry? = nil) throws -> Geometry {
        let plane = Point(x: place.x, y: place.y, spatialReference: .webMercator)
        let reference = layer.table.spatialReference ?? .webMercator
        guard let own = GeometryEngine.project(plane, into: reference) else {
            throw CollectError(.badForm, "This place can't be written in the layer's coordinates.")
        }
        guard let old = old as? Point, old.z != nil || old.m != nil else { return own }
        return Point(x: own.x, y: own.y, z: old.z, m: old.m, spatialReference: reference)
    }
}
