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
            let layer = try context.layer(in: map)
            if layer.geometry == .line || layer.geometry == .polygon {
                return PageRenderer.redirect("/add/\(layer.id)/sketch")
            }
            return try await place(request, layer: layer, form: nil, error: nil, map: map)
        }
        router.post("add/:layer") { request, context in try await create(request, context) }
        router.get("add/:layer/form") { request, context in try await form(request, context) }
        router.post("add/:layer/form") { request, context in try await saveForm(request, context) }
        router.get("data/fill/:layer") { request, context in
            let map = try await workspace.map()
            return try await awaited(request, layer: try context.layer(in: map), map: map)
        }
    }

    private func choose(_ request: Request) async throws -> Response {
        let map = try await workspace.map()
        let layers = map.layers.reversed().filter { $0.isAddable && $0.geometry != nil }
        if layers.count == 1, layers[0].geometry == .point || layers[0].kinds.count == 1 {
            return PageRenderer.redirect("/add/\(layers[0].id)")
        }
        let groups = layers.map { layer in
            let way = layer.geometry == .point ? "" : "/sketch"
            let kinds = layer.kinds.map { kind in
                AddPanel.Kind(
                    name: kind.name, address: "/add/\(layer.id)\(way)?template=\(kind.key)",
                    symbol: kind.symbol?.view())
            }
            return AddPanel.Group(name: layer.name, kinds: kinds)
        }
        return try await pages.respond(
            PageRenderer.Panel(AddPanel(groups: groups), kind: "side", tab: "map", title: "Add a feature"),
            to: request, map: map)
    }

    private func place(
        _ request: Request, layer: MapLayer, form: FormValues?, error: String?, map: OpenMap
    ) async throws -> Response {
        guard layer.isAddable, layer.geometry == .point else {
            throw CollectError(.notAllowed, "\(layer.name) doesn't let you add here.")
        }
        let like = form?["like"] ?? request.uri.queryParameters["like"].map(String.init)
        let asked = form?["template"] ?? request.uri.queryParameters["template"].map(String.init)
        let preferred = workspace.settings.kind(of: map.key)
        let chosen =
            layer.kinds.first { $0.key == asked } ?? layer.kinds.first { "\(layer.id)/\($0.key)" == preferred }
            ?? layer.kinds.first
        let options = layer.kinds.map { kind in
            FormOption(
                value: kind.key, text: kind.name, current: kind.key == chosen?.key, symbol: kind.symbol?.view())
        }
        let panel = PlacePanel(
            heading: "New \(layer.noun)", subheading: "Choose the place", mode: "add", layer: layer.id,
            action: "/add/\(layer.id)", back: "/map", session: UUID().uuidString, hasPlace: form?["lon"] != nil,
            lon: form?["lon"] ?? "", lat: form?["lat"] ?? "",
            like: like.flatMap { UUID(uuidString: $0)?.uuidString }, error: error, open: error != nil,
            kinds: options.count > 1 ? PlacePanel.Kinds(options: options) : nil)
        return try await pages.respond(
            PageRenderer.Panel(
                panel, kind: "sheet", tab: "map", title: "New \(layer.noun)",
                status: error == nil ? .ok : .unprocessableContent),
            to: request, map: map)
    }

    private enum CreateOutcome: Sendable {
        case saved(EditEntry)
        case incomplete(FormSubject, FormPages.Reading)
    }

    private var forms: FormPages { FormPages(pages: pages) }

    /// The place and the kind are chosen. Where the map's author made a pop-up the form follows, as the seed has it; else
    /// the feature is made at once of its template, and the form follows only where the layer needs more.
    private func create(_ request: Request, _ context: CollectContext) async throws -> Response {
        let map = try await workspace.map()
        let layer = try context.layer(in: map)
        let form = try await FormValues.read(request)
        if let known = map.journal.entry(session: form["session"]) { return edits.answer(known, map: map) }
        do {
            try map.checkArea(try DataRoutes.place(form))
        } catch let error as CollectError {
            return try await self.place(request, layer: layer, form: form, error: error.description, map: map)
        }
        let subject = try await subject(form, layer: layer, map: map)
        guard layer.popup == nil else { return PageRenderer.redirect(subject.address) }
        let reading = try await forms.read(form, subject: subject, map: map)
        guard reading.problems.isEmpty else { return PageRenderer.redirect(subject.address) }
        return try await save(form, layer: layer, request: request, map: map)
    }

    private func form(_ request: Request, _ context: CollectContext) async throws -> Response {
        let map = try await workspace.map()
        let pairs = request.uri.queryParameters.map { (name: String($0.key), value: String($0.value)) }
        var subject = try await subject(FormValues(pairs: pairs), layer: try context.layer(in: map), map: map)
        subject.awaited = await fills.begin(subject, map: map)
        return try await forms.page(subject, posted: nil, reading: nil, request: request, map: map)
    }

    private var fills: FormAddresses { FormAddresses(workspace: workspace) }

    /// The address that a form waits for, once it is found.
    private func awaited(_ request: Request, layer: MapLayer, map: OpenMap) async throws -> Response {
        let pairs = request.uri.queryParameters.map { (name: String($0.key), value: String($0.value)) }
        let address = Self.formAddress(FormValues(pairs: pairs), layer: layer)
        return try pages.json(await fills.told(address, layer: layer, map: map))
    }

    private func saveForm(_ request: Request, _ context: CollectContext) async throws -> Response {
        let map = try await workspace.map()
        let layer = try context.layer(in: map)
        let form = try await FormValues.read(request)
        if let known = map.journal.entry(session: form["session"]) { return edits.answer(known, map: map) }
        let subject = try await subject(form, layer: layer, map: map)
        if let detour = try await forms.detour(form, subject: subject, request: request, map: map) { return detour }
        return try await save(form, layer: layer, request: request, map: map)
    }

    private func save(_ posted: FormValues, layer: MapLayer, request: Request, map: OpenMap) async throws -> Response {
        let form = await fills.completed(
            posted, address: Self.formAddress(posted, layer: layer), layer: layer, map: map)
        let outcome = try await workspace.oneByOne { () -> CreateOutcome in
            let subject = try await subject(form, layer: layer, map: map)
            let reading = try await forms.read(form, subject: subject, map: map)
            guard reading.problems.isEmpty else { return .incomplete(subject, reading) }
            let entry = try await forms.create(form, subject: subject, reading: reading, map: map)
            forms.remember(reading, subject: subject, map: map)
            return .saved(entry)
        }
        switch outcome {
        case .saved(let entry):
            if let kind = Self.kind(form, layer: layer) {
                workspace.settings.setKind("\(layer.id)/\(kind.key)", of: map.key)
            }
            map.drafts.remove(Self.formAddress(form, layer: layer))
            return await edits.sent(entry, map: map)
        case .incomplete(let subject, let reading):
            try map.drafts.keep(form, of: subject.address, title: subject.draftTitle)
            return try await forms.page(subject, posted: form, reading: reading, request: request, map: map)
        }
    }

    private static func kind(_ form: FormValues, layer: MapLayer) -> MapLayer.Kind? {
        layer.kinds.first { $0.key == form["template"] } ?? layer.kinds.first
    }

    /// What a new feature is made of: its place, its kind and the edit that made the one before it.
    private static let makings = ["lon", "lat", "template", "like"]

    /// Holds the place and the kind, so that the form opens again from its address alone.
    private static func formAddress(_ form: FormValues, layer: MapLayer) -> String {
        let parts = makings.compactMap { name in
            form[name].map { "\(name)=\(ChooseRoutes.escaped($0))" }
        }
        return "/add/\(layer.id)/form?" + parts.joined(separator: "&")
    }

    /// The new feature at its place, made of its template, with the values that the map's rules fill.
    private func subject(_ form: FormValues, layer: MapLayer, map: OpenMap) async throws -> FormSubject {
        guard layer.isAddable, let kind = Self.kind(form, layer: layer) else {
            throw CollectError(.notAllowed, "\(layer.name) doesn't let you add.")
        }
        let place = try DataRoutes.place(form)
        let feature = layer.make(kind, geometry: try map.point(at: place, in: layer))
        let filled = try await map.fill(feature, in: layer)
        try await relate(feature, like: form["like"], layer: layer, map: map)
        let action = "/add/\(layer.id)/form"
        return FormSubject(
            layer: layer, feature: feature, address: Self.formAddress(form, layer: layer), action: action,
            back: "/map", heading: "New \(layer.noun)",
            subheading: layer.kinds.count > 1 ? kind.name : "",
            hidden: Self.makings.compactMap { name in form[name].map { (name, $0) } },
            parents: try await map.parents(of: feature, in: layer), filled: filled,
            marked: MarkedPlace(layer: layer, place: place))
    }

    /// Lets a new feature refer to what the one before it refers to: the next tree of a row is of the same species. What of
    /// that isn't known any more is left to be chosen.
    private func relate(_ feature: Feature, like edit: String?, layer: MapLayer, map: OpenMap) async throws {
        guard let entry = edit.flatMap({ UUID(uuidString: $0) }).flatMap({ map.journal.entry(id: $0) }),
            entry.feature.layer == layer.id, let feature = feature as? ArcGISFeature
        else { return }
        do {
            let last = try await map.find(entry.feature)
            for parent in try await map.related(to: last).parents {
                guard let record = parent.record?.feature as? ArcGISFeature else { continue }
                try feature.relate(to: record, using: parent.info)
            }
        } catch let error as CancellationError {
            throw error
        } catch {
            return
        }
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
