import Fieldwork
import Foundation
import HTTPTypes
import Hummingbird

/// Editing lines and areas vertex by vertex: each step is a post, so that pointer, keyboard and typed coordinates do
/// the same, with and without a script.
struct SketchRoutes: Sendable {
    let pages: PageRenderer
    let edits: EditRoutes
    var workspace: Workspace { pages.workspace }

    /// What is drawn: the shape of a feature, or of one that is added.
    private struct Subject: Sendable {
        let layer: MapLayer
        let kind: GeometryKind
        /// nil for a new one.
        let found: FoundFeature?
        let key: String
        let address: String
        let back: String
    }

    func add(to router: Router<CollectContext>) {
        router.get("f/:layer/:key/geometry") { request, context in
            let map = try await workspace.map()
            return try await page(try await feature(context, map), request: request, map: map)
        }
        router.post("f/:layer/:key/geometry") { request, context in
            let map = try await workspace.map()
            return try await act(try await feature(context, map), request: request, map: map)
        }
        router.get("add/:layer/sketch") { request, context in
            let map = try await workspace.map()
            return try await page(try new(context, map), request: request, map: map)
        }
        router.post("add/:layer/sketch") { request, context in
            let map = try await workspace.map()
            return try await act(try new(context, map), request: request, map: map)
        }
    }

    private func feature(_ context: CollectContext, _ map: OpenMap) async throws -> Subject {
        let found = try await map.find(try context.reference())
        guard let kind = found.layer.geometry, kind != .point, found.layer.hasPopups,
            found.layer.table.canUpdate(found.feature), found.layer.table.canEditGeometry(of: found.feature)
        else { throw CollectError(.notAllowed, "The shape of this \(found.layer.noun) can't be changed.") }
        let address = "\(found.reference.address)/geometry"
        return Subject(
            layer: found.layer, kind: kind, found: found, key: address, address: address,
            back: found.reference.mapAddress)
    }

    private func new(_ context: CollectContext, _ map: OpenMap) throws -> Subject {
        let layer = try context.layer(in: map)
        guard let kind = layer.geometry, kind != .point, layer.isAddable else {
            throw CollectError(.notAllowed, "\(layer.name) doesn't let you draw here.")
        }
        let address = "/add/\(layer.id)/sketch"
        return Subject(layer: layer, kind: kind, found: nil, key: address, address: address, back: "/map")
    }

    /// The editing that was begun, or a new one. A shape with true curves isn't taken apart.
    private func begun(_ subject: Subject, template: String?, map: OpenMap) throws -> SketchSession {
        let reference = subject.layer.table.spatialReference
        if var known = SketchShelf(map).session(subject.key, kind: subject.kind, reference: reference) {
            if let template { known.template = template }
            return known
        }
        guard let found = subject.found else {
            return SketchSession(key: subject.key, template: template, kind: subject.kind)
        }
        guard let session = SketchSession(key: subject.key, shape: found.feature.geometry),
            session.vertices.count <= Limits.sketchVertices
        else {
            throw CollectError(
                .notAllowed, "This shape can't be edited by hand.",
                nextStep: "It has true curves, or more than \(Limits.sketchVertices) vertices.")
        }
        return session
    }

    // MARK: A step

    private func act(_ subject: Subject, request: Request, map: OpenMap) async throws -> Response {
        let form = try await FormValues.read(request)
        let words = (form["do"] ?? "").split(separator: ":", maxSplits: 1).map(String.init)
        let spot = words.count > 1 ? SketchSpot(words[1]) : nil
        let outcome = try await workspace.oneByOne { () -> Outcome in
            var session = try begun(subject, template: form["template"], map: map)
            switch words.first {
            case "save": return try await save(session, subject, map: map)
            case "cancel":
                SketchShelf(map).remove(subject.key)
                return .leave(subject.back)
            default:
                if let error = try await step(words.first ?? "", spot, form, subject, &session, map: map) {
                    return .wrong(error)
                }
                try SketchShelf(map).put(session)
                return .stay
            }
        }
        switch outcome {
        case .stay: return PageRenderer.redirect(subject.address)
        case .leave(let address): return PageRenderer.redirect(address)
        case .wrong(let error): return try await page(subject, error: error, posted: form, request: request, map: map)
        case .saved(let entry):
            let answer = await edits.sent(entry, map: map)
            // The shape is kept already; where the map's author made a pop-up the form follows, as it does for a point.
            guard subject.found == nil, subject.layer.popup != nil else { return answer }
            let reference = map.journal.current(entry.feature)
            // A layer may take new features and allow no changes to them, or not answer now.
            guard let made = try? await map.find(reference), made.layer.table.canUpdate(made.feature) else {
                return answer
            }
            return PageRenderer.redirect("\(reference.address)/edit?edit=\(entry.id.uuidString.lowercased())")
        }
    }

    private enum Outcome: Sendable {
        case stay
        case leave(String)
        case wrong(String)
        case saved(EditEntry)
    }

    /// - Returns: why the step can't be done; nil when it is done.
    private func step(
        _ word: String, _ spot: SketchSpot?, _ form: FormValues, _ subject: Subject, _ session: inout SketchSession,
        map: OpenMap
    ) async throws -> String? {
        let vertices = session.vertices
        // Only one that is there can be moved or deleted.
        let chosen = (spot ?? vertices.chosen).flatMap { vertices[$0] == nil ? nil : $0 }
        switch word {
        case "choose": session.choose(spot)
        case "undo": session.undo()
        case "redo": session.redo()
        case "snap": session.snaps.toggle()
        case "part":
            if !session.apply("new part", { $0.addPart() }) { return "Begin with the first vertex." }
        case "repair": return repair(&session)
        case "delete":
            guard let chosen else { return "Choose the vertex to delete." }
            session.apply("delete vertex \(vertices.number(of: chosen))") { editor in
                editor.choose(chosen)
                editor.deleteSelectedElement()
            }
        case "insert" where chosen == nil && (spot ?? vertices.chosen) != nil:
            return "Choose the vertex before the new one."
        case "move", "insert", "add":
            return try await put(word, chosen, form, subject, &session, map: map)
        default: return "Choose what to do."
        }
        return nil
    }

    /// The steps that need a place.
    private func put(
        _ word: String, _ chosen: SketchSpot?, _ form: FormValues, _ subject: Subject, _ session: inout SketchSession,
        map: OpenMap
    ) async throws -> String? {
        let place: Place
        do {
            place = try DataRoutes.place(form)
            try map.checkArea(place)
        } catch let error as CollectError {
            return error.description
        }
        let vertices = session.vertices
        guard word == "move" || vertices.count < Limits.sketchVertices else {
            return "A shape drawn by hand has at most \(Limits.sketchVertices) vertices."
        }
        let moving = word == "move" ? chosen.flatMap { vertices[$0] } : nil
        let hit = session.snaps ? try await snap(place, form, subject, session, moving: moving, map: map) : nil
        let target = hit.flatMap { Place(x: $0.x, y: $0.y) } ?? place
        guard let point = try map.point(at: target, in: subject.layer) as? Point else { return "Type a place." }
        let number = chosen.map { vertices.number(of: $0) } ?? 0
        switch (word, chosen) {
        case ("move", let chosen?):
            session.apply("move vertex \(number)") { editor in
                editor.choose(chosen)
                editor.moveSelectedElement(to: point)
            }
        case ("move", nil): return "Choose the vertex to move."
        case ("insert", let chosen?):
            session.apply("add vertex \(number + 1)") { editor in
                editor.choose(chosen)
                editor.insertVertex(point)
            }
        default: session.append(point)
        }
        session.snapped = hit?.says
        return nil
    }

    private func snap(
        _ place: Place, _ form: FormValues, _ subject: Subject, _ session: SketchSession, moving: Point?, map: OpenMap
    ) async throws -> Snapping.Hit? {
        // Metres of the map's plane under 16 pixels; a page without a script doesn't snap.
        guard let tolerance = form.number("tolerance"), tolerance > 0, tolerance < Limits.snapMetres,
            let shape = session.editor.geometry
        else { return nil }
        let own = moving.flatMap { GeometryEngine.project($0, into: .webMercator) }
        let snapping = Snapping(map: map, hidden: map.hidden(in: workspace.settings), tolerance: tolerance)
        return try await snapping.hit(place, sketch: shape, except: subject.found?.reference, moving: own)
    }

    private func repair(_ session: inout SketchSession) -> String? {
        guard let shape = session.editor.geometry,
            let repaired = GeometryEngine.simplify(shape) as? Multipart, !repaired.hasCurves
        else { return "The crossing can't be removed by itself: move a vertex." }
        session.apply("remove the crossing") { $0.replaceGeometry(with: repaired) }
        return nil
    }

    private func save(_ session: SketchSession, _ subject: Subject, map: OpenMap) async throws -> Outcome {
        let text = session.id.uuidString
        if let known = map.journal.entry(session: text) {
            SketchShelf(map).remove(subject.key)
            return .saved(known)
        }
        let shape = session.editor.geometry
        if let problem = SketchProblem(shape, subject.kind) { return .wrong(problem.text(subject.kind)) }
        let entry: EditEntry
        do {
            if let found = subject.found {
                guard session.isChanged else { return .leave(subject.back) }
                let before = FeatureSnapshot(found.feature)
                let old = found.feature.geometry
                found.feature.geometry = shape
                do {
                    entry = try await map.update(
                        found, kind: .move, before: before, session: text, detail: "Shape changed")
                } catch {
                    found.feature.geometry = old
                    throw error
                }
            } else {
                guard
                    let kind = subject.layer.kinds.first(where: { $0.key == session.template })
                        ?? subject.layer.kinds.first
                else { return .wrong("\(subject.layer.name) doesn't let you add.") }
                entry = try await map.create(
                    subject.layer.make(kind, geometry: shape), in: subject.layer, session: text)
            }
        } catch let error as GeodatabaseError {
            // The sketch stays as it is: it can be mended.
            return .wrong(error.details)
        }
        SketchShelf(map).remove(subject.key)
        return .saved(entry)
    }

    // MARK: The page

    private func page(
        _ subject: Subject, error: String? = nil, posted: FormValues? = nil, request: Request, map: OpenMap
    ) async throws -> Response {
        let template = request.uri.queryParameters["template"].map(String.init)
        let session = try begun(subject, template: template, map: map)
        if template != nil { try SketchShelf(map).put(session) }
        let isNew = subject.found == nil
        let view = SketchView(session: session, kind: subject.kind, posted: posted)
        let panel = view.panel(
            heading: isNew ? "New \(subject.layer.noun)" : "Edit shape",
            subheading: subject.found.map { FeatureTitle(layer: $0.layer, feature: $0.feature).title }
                ?? (subject.kind == .line ? "Draw its line" : "Draw its edge"),
            action: subject.address, new: isNew, error: error,
            stale: subject.found.map { $0.feature.geometry?.toJSON() != session.base } ?? false)
        return try await pages.respond(
            PageRenderer.Panel(
                panel, kind: "side", tab: "map", title: isNew ? "Draw" : "Edit shape",
                status: error == nil ? .ok : .unprocessableContent),
            to: request, map: map)
    }
}
