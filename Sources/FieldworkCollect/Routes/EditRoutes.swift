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
        let related = try await map.relatedIfAnswered(found)
        let popup = try await map.evaluatedPopup(of: found)
        let photos = try await PhotoViews(pages: pages, map: map).strip(found)
        let panel = FeatureViews(map: map).panel(found, popup: popup, related: related, photos: photos)
        return try await pages.respond(
            PageRenderer.Panel(
                panel, kind: "side", tab: "map",
                title: FeatureTitle(layer: found.layer, feature: found.feature).title,
                selection: try selection(found, related: related, map: map),
                over: FeatureViews.over(request, map: map, back: "/map")),
            to: request, map: map)
    }

    private func selection(_ found: FoundFeature, related: RelatedRecords?, map: OpenMap) throws -> Markup {
        guard found.place != nil else { return .empty }
        return try pages.templates.render(FeatureViews(map: map).selection(found, related: related))
    }

    private func form(_ request: Request, _ context: CollectContext) async throws -> Response {
        let map = try await workspace.map()
        let found = try await map.find(try context.reference())
        return try await forms.page(
            try await subject(found, map: map), posted: nil, reading: nil, request: request, map: map)
    }

    private var forms: FormPages { FormPages(pages: pages) }

    private func subject(_ found: FoundFeature, map: OpenMap) async throws -> FormSubject {
        guard found.layer.hasPopups, found.layer.table.canUpdate(found.feature) else {
            throw CollectError(.notAllowed, "This \(found.layer.noun) can't be changed.")
        }
        let title = FeatureTitle(layer: found.layer, feature: found.feature)
        let address = "\(found.reference.address)/edit"
        let hasPlace = found.layer.geometry != nil
        return FormSubject(
            layer: found.layer, feature: found.feature, address: address, action: address,
            back: hasPlace ? found.reference.mapAddress : found.reference.address,
            heading: "Edit \(found.layer.noun)",
            subheading: found.layer.popup == nil ? "\(title.title) · \(title.id)" : title.title,
            parents: try await map.relatedIfAnswered(found)?.parents ?? [], isKnown: true,
            marked: MarkedPlace(found))
    }

    // MARK: Changing

    private func save(_ request: Request, _ context: CollectContext) async throws -> Response {
        let map = try await workspace.map()
        let form = try await FormValues.read(request)
        let reference = try context.reference()
        if let known = map.journal.entry(session: form["session"]) { return answer(known, map: map) }
        let subject = try await subject(try await map.find(reference), map: map)
        if let detour = try await forms.detour(form, subject: subject, request: request, map: map) { return detour }
        return try await save(form, reference: reference, request: request, map: map)
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
        var pairs = [(name: AttributeForm.prefix + field, value: value)]
        if let session = form["session"] { pairs.append(("session", session)) }
        return try await save(
            FormValues(pairs: pairs), only: field, reference: reference, request: request, map: map)
    }

    private enum SaveOutcome: Sendable {
        case saved(EditEntry)
        case unchanged
        case wrong(FormSubject, FormPages.Reading)
    }

    /// - Parameter only: the one field that is meant; problems of others don't count then.
    private func save(
        _ form: FormValues, only: String? = nil, reference: FeatureReference, request: Request, map: OpenMap
    ) async throws -> Response {
        let outcome = try await workspace.oneByOne { () -> SaveOutcome in
            let found = try await map.find(reference)
            let subject = try await subject(found, map: map)
            var reading = try await forms.read(form, subject: subject, map: map)
            if let only {
                guard reading.session.fieldElements.contains(where: { $0.fieldName == only && $0.isEditable }) else {
                    throw CollectError(.badForm, "\(only) can't be changed.")
                }
                reading.problems.removeAll { $0.field != only }
                reading.photos = PhotoEdits()
            }
            guard reading.problems.isEmpty else { return .wrong(subject, reading) }
            guard reading.isChanged else { return .unchanged }
            let entry = try await map.update(
                found, kind: .update, before: reading.session.before, session: form["session"],
                detail: reading.session.changes.joined(separator: ", "), photos: reading.photos)
            forms.remember(reading, subject: subject, map: map)
            return .saved(entry)
        }
        switch outcome {
        case .wrong(let subject, let reading):
            // What was typed is safe before the user is told that it isn't right.
            if only == nil { try map.drafts.keep(form, of: subject.address, title: subject.draftTitle) }
            return try await forms.page(subject, posted: form, reading: reading, request: request, map: map)
        case .unchanged:
            map.drafts.remove("\(reference.address)/edit", savedBy: form)
            let now = map.journal.current(reference)
            return PageRenderer.redirect(map.layer(now.layer)?.geometry == nil ? now.address : now.mapAddress)
        case .saved(let entry):
            if only == nil { map.drafts.remove("\(reference.address)/edit", savedBy: form) }
            return await sent(entry, map: map)
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
        let panel = PlacePanel(
            heading: "Move \(found.layer.noun)", subheading: "\(title.title) · \(title.id)", mode: "move",
            layer: found.layer.id, action: "\(found.reference.address)/move", back: found.reference.mapAddress,
            session: UUID().uuidString, hasPlace: true, lon: FeatureViews.degrees(place.longitude),
            lat: FeatureViews.degrees(place.latitude), error: error, open: error != nil)
        return try await pages.respond(
            PageRenderer.Panel(
                panel, kind: "sheet", tab: "map", title: "Move \(title.title)",
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
            try map.checkArea(place)
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
        workspace.hub.send("stale", PanelsStale(panels: ["changes", "feature"], why: "edit"))
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
