import Fieldwork
import Foundation
import HTTPTypes
import Hummingbird

/// Layers, settings, keys, assets, events.
struct FrameRoutes: Sendable {
    let pages: PageRenderer
    var workspace: Workspace { pages.workspace }

    func add(to router: Router<CollectContext>) {
        router.get("layers") { request, _ in try await layers(request) }
        router.post("layers") { request, _ in try await setLayers(request) }
        router.post("layers/basemap") { request, _ in try await setBasemap(request) }
        router.get("settings") { request, _ in try await settings(request) }
        router.post("settings") { request, _ in try await setTheme(request) }
        router.get("help/keys") { request, _ in try await keys(request) }
        router.get("assets/:hash/**") { _, context in
            let path = context.parameters.getCatchAll().joined(separator: "/")
            guard let hash = context.parameters.get("hash"),
                let response = pages.assets.response(path: path, hash: hash)
            else { throw HTTPError(.notFound) }
            return response
        }
        router.get("events") { request, _ in
            // A window that was away tells the last event that it has; one that is new tells when its page was asked for.
            let last = request.headers[.lastEventID] ?? request.uri.queryParameters["since"].map(String.init)
            guard let events = workspace.hub.events(after: last.flatMap { UInt64($0) }) else {
                return Response(status: .tooManyRequests)
            }
            return EventResponse.make(events)
        }
    }

    // MARK: Layers

    private func layers(_ request: Request) async throws -> Response {
        let map = try await workspace.map()
        let hidden = map.hidden(in: workspace.settings)
        let layers = map.listed.map { layer in
            let isTable = layer.geometry == nil
            let about = [isTable ? "Table, without a place on the map" : nil, Self.rights(layer)]
                .compactMap { $0 }.joined(separator: " · ")
            let symbols = isTable ? [] : layer.symbology.legend
            return LayersPanel.Layer(
                id: layer.id, name: layer.name, about: about.prefix(1).uppercased() + about.dropFirst(),
                visible: !hidden.contains(layer.id), table: isTable, hasSymbols: !symbols.isEmpty,
                symbols: symbols.map {
                    LayersPanel.Layer.Line(
                        symbol: $0.swatch.view(), label: $0.label.isEmpty ? layer.name : $0.label)
                })
        }
        let basemaps = await basemaps(of: map)
        return try await pages.respond(
            PageRenderer.Panel(
                LayersPanel(
                    layers: layers,
                    failures: map.failures.map { LayersPanel.Failure(name: $0.name, reason: $0.reason) },
                    hasBasemaps: !basemaps.isEmpty, basemaps: basemaps, source: map.url.absoluteString),
                kind: "side", tab: "map", title: "Layers"),
            to: request, map: map)
    }

    /// What can be done with a layer, and why not more: a map's author sees here why a layer can't be tapped.
    private static func rights(_ layer: MapLayer) -> String {
        if !layer.hasPopups { return "can't be tapped or edited: its pop-up is switched off in the map" }
        return layer.table.isEditable ? "can be edited" : "can't be edited"
    }

    private func setLayers(_ request: Request) async throws -> Response {
        let map = try await workspace.map()
        let visible = Set(try await FormValues.read(request).all("visible").compactMap { Int($0) })
        workspace.settings.setHidden(Set(map.layers.map(\.id)).subtracting(visible), of: map.key)
        return PageRenderer.redirect("/layers")
    }

    /// What can lie under the layers; nothing where there is no choice.
    private func basemaps(of map: OpenMap) async -> [LayersPanel.Basemap] {
        let offers = await map.basemaps.offers()
        guard !offers.isEmpty else { return [] }
        let current = await map.basemaps.chosen(workspace.settings.basemap(of: map.key))?.key
        let none = LayersPanel.Basemap(key: BasemapShelf.none, name: "None", current: current == nil)
        return offers.map { LayersPanel.Basemap(key: $0.key, name: $0.name, current: $0.key == current) } + [none]
    }

    private func setBasemap(_ request: Request) async throws -> Response {
        let map = try await workspace.map()
        let key = try await FormValues.read(request)["basemap"] ?? ""
        let offer = await map.basemaps.offer(key)
        guard key == BasemapShelf.none || offer != nil else {
            throw CollectError(.notFound, "There is no such basemap.")
        }
        workspace.settings.setBasemap(key, of: map.key)
        return PageRenderer.redirect("/layers")
    }

    // MARK: Settings

    private func settings(_ request: Request) async throws -> Response {
        let map = try await workspace.map()
        let theme = PageRenderer.theme(of: request)
        let themes = [("", "System"), ("light", "Light"), ("dark", "Dark"), ("sunlight", "Sunlight")]
        return try await pages.respond(
            PageRenderer.Panel(
                SettingsPanel(
                    themes: themes.map { value, text in
                        SettingsPanel.Theme(value: value, text: text, current: value == (theme ?? ""))
                    },
                    person: pages.seat.accounts.current?.shown),
                kind: "side", tab: "settings", title: "Settings"),
            to: request, map: map)
    }

    private func setTheme(_ request: Request) async throws -> Response {
        let theme = try await FormValues.read(request)["theme"] ?? ""
        var response = PageRenderer.redirect("/settings")
        let attributes = "Path=/; HttpOnly; SameSite=Strict"
        response.headers[.setCookie] =
            PageRenderer.themes.contains(theme)
            ? "\(PageRenderer.themeCookie)=\(theme); Max-Age=31536000; \(attributes)"
            : "\(PageRenderer.themeCookie)=; Max-Age=0; \(attributes)"
        return response
    }

    private func keys(_ request: Request) async throws -> Response {
        let keys = KeyBinding.all.map { KeysPanel.Row(key: $0.shown, does: $0.says) }
        return try await pages.respond(
            PageRenderer.Panel(KeysPanel(keys: keys), kind: "side", tab: "settings", title: "Keys"),
            to: request, map: try await workspace.map())
    }
}
