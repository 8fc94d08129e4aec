import Fieldwork
import Foundation
import HTTPTypes
import Hummingbird

/// Adding: choose what, place the pin, and only where the layer needs more than its template gives, a form.
struct AddRoutes: Sendable {
    let pages: PageRenderer
    let edits: EditRoutes
    var workspace: Workspace { pages.workspace }

    func add(to router: Router<CollectContext>) {
        router.get("add") { request, _ in try await choose(request) }
        router.get("add/:layer") { request, context in
            let map = try await workspace.map()
            return try await place(request, layer: try context.layer(in: map), form: nil, error: nil, map: map)
        }
        router.post("add/:layer") { request, context in try await create(request, context) }
    }

    private func choose(_ request: Request) async throws -> Response {
        let map = try await workspace.map()
        let layers = map.layers.reversed().filter { $0.isAddable && $0.geometry == .point }
        if layers.count == 1 { return PageRenderer.redirect("/add/\(layers[0].id)") }
        let groups = layers.map { layer -> Values in
            [
                "name": layer.name,
                "kinds": layer.kinds.map { kind -> Values in
                    [
                        "name": kind.name, "address": "/add/\(layer.id)?template=\(kind.key)",
                        "symbol": kind.symbol.map(\.values).orFalse,
                    ]
                },
            ]
        }
        return try await pages.respond(
            PageRenderer.Panel(
                template: "add", kind: "side", tab: "map", title: "Add a feature",
                values: ["heading": "Add a feature", "groups": groups]),
            to: request, map: map)
    }

    private func place(
        _ request: Request, layer: MapLayer, form: FormValues?, error: String?, map: OpenMap
    ) async throws -> Response {
        guard layer.isAddable, layer.geometry == .point else {
            throw CollectError(.notAllowed, "\(layer.name) doesn't let you add here.")
        }
        let asked = form?["template"] ?? request.uri.queryParameters["template"].map(String.init)
        let preferred = workspace.settings.kind(of: map.key)
        let chosen =
            layer.kinds.first { $0.key == asked } ?? layer.kinds.first { "\(layer.id)/\($0.key)" == preferred }
            ?? layer.kinds.first
        let options = layer.kinds.map { kind -> Values in
            [
                "value": kind.key, "text": kind.name, "current": kind.key == chosen?.key,
                "symbol": kind.symbol.map(\.values).orFalse,
            ]
        }
        return try await pages.respond(
            PageRenderer.Panel(
                template: "place", kind: "sheet", tab: "map", title: "New \(layer.noun)",
                values: [
                    "heading": "New \(layer.noun)", "subheading": "Choose the place", "mode": "add",
                    "layer": layer.id, "action": "/add/\(layer.id)", "back": "/map", "session": UUID().uuidString,
                    "error": error.orFalse, "open": error != nil, "lon": (form?["lon"]).orFalse,
                    "lat": form?["lat"] ?? "",
                    "kinds": layer.kinds.count > 1
                        ? ["options": options] as Values : false, "kindsLabel": "What it is",
                ],
                status: error == nil ? .ok : .unprocessableContent),
            to: request, map: map)
    }

    private enum CreateOutcome: Sendable {
        case saved(EditEntry)
        case incomplete([AttributeForm.Problem], Feature)
    }

    private func create(_ request: Request, _ context: CollectContext) async throws -> Response {
        let map = try await workspace.map()
        let layer = try context.layer(in: map)
        let form = try await FormValues.read(request)
        if let known = map.journal.entry(session: form["session"]) { return edits.answer(known, map: map) }
        let place: Place
        do {
            place = try DataRoutes.place(form)
        } catch let error as CollectError {
            return try await self.place(request, layer: layer, form: form, error: error.description, map: map)
        }
        guard let kind = layer.kinds.first(where: { $0.key == form["template"] }) ?? layer.kinds.first else {
            throw CollectError(.notAllowed, "\(layer.name) doesn't let you add.")
        }
        let point = try map.point(at: place, in: layer)
        let outcome = try await workspace.oneByOne { () -> CreateOutcome in
            let feature = layer.make(kind, geometry: point)
            let rules = AttributeForm(layer: layer)
            let reading = rules.read(form, feature: feature)
            for (name, value) in reading.values { feature.setAttributeValue(value, forKey: name) }
            let asked = Set(reading.problems.map(\.field))
            let problems = reading.problems + rules.missing(feature).filter { !asked.contains($0.field) }
            guard problems.isEmpty else { return .incomplete(problems, feature) }
            return .saved(try await map.create(feature, in: layer, session: form["session"]))
        }
        switch outcome {
        case .saved(let entry):
            workspace.settings.setKind("\(layer.id)/\(kind.key)", of: map.key)
            return await edits.sent(entry, map: map)
        case .incomplete(let problems, let feature):
            let shown = form.pairs.contains { $0.name.hasPrefix(AttributeForm.prefix) } ? form : nil
            return try await values(
                request, layer: layer, feature: feature, form: form, posted: shown, problems: problems, map: map)
        }
    }

    /// The form of a new feature whose template leaves something out that the layer needs.
    private func values(
        _ request: Request, layer: MapLayer, feature: Feature, form: FormValues, posted: FormValues?,
        problems: [AttributeForm.Problem], map: OpenMap
    ) async throws -> Response {
        let hidden = ["lon", "lat", "template"].compactMap { name in
            form[name].map { ["name": name, "value": $0] as Values }
        }
        let rules = AttributeForm(layer: layer)
        return try await pages.respond(
            PageRenderer.Panel(
                template: "edit", kind: "wide", tab: "map", title: "New \(layer.noun)",
                values: [
                    "heading": "New \(layer.noun)", "subheading": "Step 2 of 2: its values",
                    "action": "/add/\(layer.id)", "back": "/add/\(layer.id)",
                    "session": form["session"] ?? UUID().uuidString, "hidden": hidden,
                    "problems": EditRoutes.summary(problems),
                    "fields": rules.controls(feature: feature, posted: posted, problems: problems).filter {
                        $0["fixed"] == nil
                    },
                ],
                status: .unprocessableContent),
            to: request, map: map)
    }
}

extension MapLayer {
    func make(_ kind: Kind, geometry: Geometry?) -> Feature {
        switch kind.source {
        case .type(let type): table.makeFeature(type: type, geometry: geometry)
        case .template(let template): table.makeFeature(template: template, geometry: geometry)
        case .plain: table.makeFeature(attributes: [:], geometry: geometry)
        }
    }
}
