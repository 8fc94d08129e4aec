import Fieldwork
import FieldworkTiles
import Foundation
import Hummingbird

/// The map and what is selected on it.
struct MapRoutes: Sendable {
    let pages: PageRenderer
    var workspace: Workspace { pages.workspace }

    func add(to router: Router<CollectContext>) {
        router.get("/") { _, _ in PageRenderer.redirect("/map") }
        router.get("map") { request, _ in
            do {
                return try await page(request, map: try await workspace.map())
            } catch let error as CollectError {
                throw error
            } catch {
                // The map of last time can't be opened: the first page says why and offers the others.
                return PageRenderer.redirect("/start?problem=unanswered")
            }
        }
        router.get("map/f/:layer/:key") { request, context in
            let map = try await workspace.map()
            return try await selected(request, reference: try context.reference(), map: map)
        }
    }

    private func page(_ request: Request, map: OpenMap) async throws -> Response {
        var panel = try await NearbyList(map: map, pages: pages).panel(request)
        panel.over = FeatureViews.over(request, map: map, back: "/map")
        return try await pages.respond(panel, to: request, map: map)
    }

    private func selected(_ request: Request, reference: FeatureReference, map: OpenMap) async throws -> Response {
        // A tap leads here with what it has just found.
        let tap = request.headers[.fragment] == nil ? nil : map.takeTap()
        let found: FoundFeature
        do {
            if let tapped = tap?.found.first(where: { $0.reference == reference }) {
                found = tapped
            } else {
                found = try await map.find(reference)
            }
        } catch let error as CollectError where error.code == .notFound {
            guard request.headers[.fragment] == "selection" else { throw error }
            return PageRenderer.redirect("/map")
        }
        let views = FeatureViews(map: map)
        let here = try await siblings(of: found, tap: tap, request: request, map: map)
        let related = try await map.relatedIfAnswered(found)
        let selection =
            found.place == nil
            ? .empty
            : try pages.templates.render(views.selection(found, related: related, here: here))
        var panel = try await NearbyList(map: map, pages: pages).panel(request, selected: found)
        panel.selection = selection
        panel.title = FeatureTitle(layer: found.layer, feature: found.feature).title
        panel.over = FeatureViews.over(request, map: map, back: "/map")
        return try await pages.respond(panel, to: request, map: map)
    }

    /// What else lies under the tap: `here` holds the place and the tolerance.
    private func siblings(
        of found: FoundFeature, tap: TapMemory?, request: Request, map: OpenMap
    ) async throws -> SelectionView.Here? {
        guard let text = request.uri.queryParameters["here"].map(String.init) else { return nil }
        let numbers = text.split(separator: ",").compactMap { Double($0) }
        guard numbers.count == 3, let place = Place(longitude: numbers[0], latitude: numbers[1]),
            numbers[2] > 0, numbers[2] < 1e6
        else { return nil }
        let all: [FoundFeature]
        if let tap, tap.isAbout(place, numbers[2]) {
            all = tap.found
        } else {
            let scale = workspace.settings.view(of: map.key).map { WebMercator.scale / exp2($0.zoom) }
            all = try await map.identify(
                place, tolerance: numbers[2], hidden: map.hidden(in: workspace.settings), scale: scale)
        }
        guard let index = all.firstIndex(where: { $0.reference == found.reference }), all.count > 1 else { return nil }
        let next = all[(index + 1) % all.count]
        return SelectionView.Here(
            text: "\(index + 1) of \(all.count) here",
            next: "\(next.reference.mapAddress)?here=\(numbers.map { "\($0)" }.joined(separator: ","))")
    }
}

/// The features in view, nearest to the middle first.
struct NearbyList {
    let map: OpenMap
    let pages: PageRenderer

    static func heading(_ map: OpenMap) -> String {
        "\(map.layers.last(where: \.hasPopups)?.name ?? map.title) in this view"
    }

    /// The map's own panel, for a page that shows something on the map.
    func panel(_ request: Request, selected: FoundFeature? = nil) async throws -> PageRenderer.Panel {
        // A script that picks on the map leaves the list as it is, and a page with a script fills it when the map rests.
        let isFragment = request.headers[.fragment] != nil
        let rows =
            isFragment
            ? NearbyRows() : try await rows(selected: selected, patience: pages.workspace.framePatience)
        return PageRenderer.Panel(
            NearbyPanel(heading: Self.heading(map), list: rows), kind: "nearby", tab: "map", title: "Map")
    }

    /// - Parameter patience: how long what is in view may take; without it the page says that it is still looked for.
    func rows(selected: FoundFeature? = nil, patience: Duration? = nil) async throws -> NearbyRows {
        let settings = pages.workspace.settings
        let hidden = map.hidden(in: settings)
        guard let layer = map.layers.last(where: { $0.hasPopups && !hidden.contains($0.id) }) else {
            return NearbyRows(empty: "All layers are switched off.")
        }
        let view = settings.view(of: map.key)
        let place = view.flatMap { Place(longitude: $0.lon, latitude: $0.lat) }
        do {
            let key = NearbyKeeper.Key(
                layer: layer.id, generation: await map.tiles.generation(of: layer.id),
                unsent: await map.outbox.report.unsent, view: view)
            let found = try await map.nearby.found(key, patience: patience) { [map] in
                try await map.nearest(
                    layer, to: place, within: view.flatMap(Self.envelope), limit: Limits.nearbyRows)
            }
            guard let found else { return NearbyRows(count: "Counting…", again: true) }
            await pages.workspace.noteReachable(true)
            let views = FeatureViews(map: map)
            return NearbyRows(
                count: try await count(found, layer: layer, view: view),
                rows: found.features.map { found in
                    var row = views.row(found)
                    row.selected = found.reference == selected?.reference
                    return row
                },
                empty: "No \(layer.noun == "feature" ? "features" : layer.name.lowercased()) in this view.")
        } catch let error as CancellationError {
            throw error
        } catch {
            await pages.workspace.noteReachable(false)
            return NearbyRows(note: "The list didn't load: the server doesn't answer. Your edits are on this device.")
        }
    }

    /// "78 trees, nearest to the middle first"; and, where the map shows fewer, that it does.
    private func count(_ found: FoundFeatures, layer: MapLayer, view: DeviceSettings.View?) async throws -> String {
        let total = found.count ?? found.features.count
        let count = FieldText.count(total, layer.noun)
        guard let view, total > 0 else { return count }
        let level = Int(min(max(view.zoom, 0), Double(Limits.tileLevel)))
        if try await map.tiles.isThinned(layer, level: level) { return "\(count), not all drawn: zoom in for all" }
        return "\(count), nearest to the middle first"
    }

    static func envelope(_ view: DeviceSettings.View) -> Envelope? {
        let numbers = [view.west, view.east, view.south, view.north]
        guard numbers.allSatisfy(\.isFinite), view.west < view.east, view.south < view.north else { return nil }
        return Envelope(
            xMin: WebMercator.x(longitude: max(view.west, -180)), yMin: WebMercator.y(latitude: view.south),
            xMax: WebMercator.x(longitude: min(view.east, 180)), yMax: WebMercator.y(latitude: view.north),
            spatialReference: .webMercator)
    }
}

extension CollectContext {
    /// The feature that the address names.
    func reference() throws -> FeatureReference {
        guard let layer = parameters.get("layer"), let key = parameters.get("key"),
            let reference = FeatureReference(layer: layer, key: key)
        else { throw CollectError(.notFound, "There is no such page.") }
        return reference
    }

    func layer(in map: OpenMap) throws -> MapLayer {
        guard let id = parameters.get("layer").flatMap({ Int($0) }), let layer = map.layer(id) else {
            throw CollectError(.notFound, "The map has no such layer.")
        }
        return layer
    }
}
