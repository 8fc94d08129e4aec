import Fieldwork
import Foundation
import HTTPTypes
import Hummingbird

/// The search: its page, what it answers while one types, and the places that were chosen.
struct SearchRoutes: Sendable {
    let pages: PageRenderer
    var workspace: Workspace { pages.workspace }

    func add(to router: Router<CollectContext>) {
        router.get("search") { request, _ in try await page(request, map: try await workspace.map()) }
        router.get("search/place") { request, _ in try await suggested(request, map: try await workspace.map()) }
        router.get("search/feature/:layer/:key") { request, context in
            let map = try await workspace.map()
            let found = try await map.find(try context.reference())
            let title = FeatureTitle(layer: found.layer, feature: found.feature).title
            let address = found.place == nil ? found.reference.address : found.reference.mapAddress
            workspace.settings.rememberSearch(.init(text: title, address: address), of: map.key)
            return PageRenderer.redirect(address)
        }
        router.post("search/forget") { _, _ in
            workspace.settings.forgetSearches(of: try await workspace.map().key)
            return PageRenderer.redirect("/search")
        }
        router.get("map/at") { request, _ in try await place(request, map: try await workspace.map()) }
        router.get("data/search/places") { request, _ in
            let (map, text) = (try await workspace.map(), Self.text(request))
            let found = Self.isSearched(text) ? try await search(map).suggestions(text) : MapSearch.Places()
            return try pages.part(places(found, map: map))
        }
        router.get("data/search/features") { request, _ in
            let (map, text) = (try await workspace.map(), Self.text(request))
            return try pages.part(try await features(text, map: map))
        }
        router.get("data/address") { request, _ in
            let form = FormValues(pairs: request.uri.queryParameters.map { (String($0.key), String($0.value)) })
            let outcome = try await workspace.locators.address(
                at: try DataRoutes.place(form), on: try await workspace.map(), isForStorage: false)
            return try pages.json(AddressText(outcome))
        }
    }

    /// The address of a place for the page's script.
    private struct AddressText: Encodable {
        var address: String?
        var source: String?
        var reason: String?

        init(_ outcome: AddressOutcome) {
            switch outcome {
            case .address(let address, let source): (self.address, self.source) = (address, source)
            case .none(let reason): self.reason = reason
            }
        }
    }

    private static func text(_ request: Request) -> String {
        let text = request.uri.queryParameters["q"].map(String.init) ?? ""
        return String(text.trimmingCharacters(in: .whitespacesAndNewlines).prefix(Limits.searchCharacters))
    }

    private static func isSearched(_ text: String) -> Bool { text.count >= Limits.searchLeastCharacters }

    private func search(_ map: OpenMap) -> MapSearch {
        let view = workspace.settings.view(of: map.key) ?? map.authoredView
        return MapSearch(
            map: map, locators: workspace.locators,
            middle: view.flatMap { Place(longitude: $0.lon, latitude: $0.lat) })
    }

    // MARK: The page

    private func page(_ request: Request, map: OpenMap) async throws -> Response {
        let text = Self.text(request)
        let isSearched = Self.isSearched(text)
        let places = places(isSearched ? try await search(map).places(text) : MapSearch.Places(), map: map)
        let features = try await features(text, map: map)
        let recent = text.isEmpty ? workspace.settings.recentSearches(of: map.key) : []
        let isNothing = isSearched && !places.hasRows && !features.hasRows
        let panel = SearchPanel(
            query: text, scope: await scope(map),
            tooShort: text.isEmpty || isSearched ? nil : "Type \(Limits.searchLeastCharacters) letters or more.",
            features: features, places: places, nothing: isNothing ? "Nothing found for '\(text)'." : nil,
            recent: recent.map { SearchPanel.Recent(text: $0.text, address: $0.address) },
            hasRecent: !recent.isEmpty)
        return try await pages.respond(
            PageRenderer.Panel(
                panel, kind: "side", tab: "map", title: text.isEmpty ? "Search" : "Search: \(text)"),
            to: request, map: map)
    }

    /// What is searched, in words.
    private func scope(_ map: OpenMap) async -> String {
        let area = map.offline.map { workspace.shelf.name(of: $0.area) }
        let locators = (try? await workspace.locators.locators(of: map, near: nil)) ?? []
        let own = area.map { "\($0), on this device" } ?? "the features of \(map.title)"
        guard let locator = locators.first else { return "Searching \(own). It has no locator for addresses." }
        return "Searching \(own), and \(locator.isOnDevice ? "its addresses" : "the addresses of \(locator.name)")."
    }

    private func features(_ text: String, map: OpenMap) async throws -> SearchFeatures {
        guard Self.isSearched(text) else { return SearchFeatures([]) }
        do {
            let views = FeatureViews(map: map)
            return SearchFeatures(
                try await search(map).features(text).map { found in
                    views.row(found, address: "/search/feature/\(found.reference.text)")
                })
        } catch let error as CancellationError {
            throw error
        } catch {
            return SearchFeatures([], note: "The server doesn't answer: its features were not searched.")
        }
    }

    private func places(_ places: MapSearch.Places, map: OpenMap) -> SearchPlaces {
        let middle = search(map).middle
        let rows = places.found.map { found in
            let distance = found.place.flatMap { place in middle.map { $0.distance(to: place) } }
            return SearchPlaces.Row(
                name: found.name, detail: found.detail, address: Self.address(found),
                distance: distance.map { FieldText.distance($0.metres) } ?? "",
                direction: distance.map { $0.metres < 0.05 ? "" : $0.direction } ?? "")
        }
        return SearchPlaces(
            rows: rows, hasRows: !rows.isEmpty, count: rows.count,
            source: places.source.isEmpty ? "" : "From \(places.source)", note: places.reason)
    }

    /// A place that is known is shown; one that isn't yet is asked for.
    private static func address(_ found: MapSearch.Found) -> String {
        let escaped = ChooseRoutes.escaped
        guard let place = found.place else {
            let text = found.detail.isEmpty ? found.name : "\(found.name), \(found.detail)"
            return "/search/place?text=\(escaped(text))&key=\(escaped(found.key))"
        }
        return "/map/at?lat=\(FeatureViews.degrees(place.latitude))&lon=\(FeatureViews.degrees(place.longitude))"
            + "&name=\(escaped(found.name))&detail=\(escaped(found.detail))&z=\(Int(found.zoom))"
    }

    // MARK: Chosen places

    private func suggested(_ request: Request, map: OpenMap) async throws -> Response {
        let query = request.uri.queryParameters
        let text = String((query["text"].map(String.init) ?? "").prefix(Limits.searchCharacters))
        let key = query["key"].map(String.init) ?? ""
        guard let found = try await search(map).place(of: text, key: key) else {
            return PageRenderer.redirect("/search?q=\(ChooseRoutes.escaped(text))")
        }
        return PageRenderer.redirect(Self.address(found))
    }

    /// A place on the map, with a pin and what can be done there.
    private func place(_ request: Request, map: OpenMap) async throws -> Response {
        let query = request.uri.queryParameters
        let form = FormValues(pairs: query.map { (String($0.key), String($0.value)) })
        let place = try DataRoutes.place(form)
        func text(_ name: String) -> String { String((form[name] ?? "").prefix(Limits.searchCharacters)) }
        let digits = "\(FeatureViews.degrees(place.latitude)), \(FeatureViews.degrees(place.longitude))"
        let name = text("name").isEmpty ? digits : text("name")
        let zoom = min(max(form.number("z") ?? MapSearch.houseZoom, 3), 20)
        let address = Self.address(
            MapSearch.Found(name: name, detail: text("detail"), place: place, zoom: zoom))
        let detail = text("detail")
        workspace.settings.rememberSearch(
            .init(text: detail.isEmpty || detail == "Coordinates" ? name : "\(name), \(detail)", address: address),
            of: map.key)
        let ground = GroundCallout(map: map, settings: workspace.settings).view(place)
        var panel = try await NearbyList(map: map, pages: pages).panel(request)
        panel.title = name
        panel.selection = try pages.templates.render(
            FoundPlaceView(
                placeName: name, detail: detail, zoom: zoom, coordinates: digits, lon: ground.lon, lat: ground.lat,
                session: ground.session, first: ground.first))
        panel.over = FeatureViews.over(request, map: map, back: "/map")
        return try await pages.respond(panel, to: request, map: map)
    }
}
