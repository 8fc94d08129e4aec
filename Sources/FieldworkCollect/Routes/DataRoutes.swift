import Fieldwork
import FieldworkTiles
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// What the map's script asks for.
struct DataRoutes: Sendable {
    let pages: PageRenderer
    var workspace: Workspace { pages.workspace }

    func add(to router: Router<CollectContext>) {
        let data = router.group("data")
        data.get("map") { _, _ in try pages.json(try await mapDocument(try await workspace.map())) }
        data.get("keys") { _, _ in try pages.json(KeyBinding.all.filter { $0.key != nil }) }
        data.get("tiles/:layer/:level/:column/:row") { request, context in
            try await tile(request, context, map: try await workspace.map())
        }
        StyleRoutes(pages: pages).add(to: data)
        BasemapRoutes(pages: pages).add(to: data)
        data.get("overlay") { _, _ in try pages.json(await Overlay.make(try await workspace.map())) }
        data.get("geometry/:layer/:key") { _, context in
            let found = try await workspace.map().find(try context.reference())
            return try pages.json(Overlay.Feature(geometry: GeoJSONGeometry(found.feature.geometry)))
        }
        data.post("identify") { request, _ in
            try await identify(try await FormValues.read(request), map: try await workspace.map())
        }
        data.post("view") { request, _ in
            try await view(try await FormValues.read(request), map: try await workspace.map())
        }
        data.post("near-pin") { request, _ in
            try await nearPin(try await FormValues.read(request), map: try await workspace.map())
        }
    }

    // MARK: The map

    private struct MapDocument: Encodable {
        struct Layer: Encodable {
            let id: Int
            let name: String
            let geometry: GeometryKind
            let visible: Bool
            let generation: Int
            /// Layers of a style, as JSON.
            let drawing: String
            let labels: String
        }

        let title: String
        /// Whether the layers' styles name pictures.
        let hasPictures: Bool
        /// What lies under the layers; another text where it is another one.
        let basemap: String
        let layers: [Layer]
        let view: DeviceSettings.View?
        let whole: [[Double]]
    }

    private func mapDocument(_ map: OpenMap) async throws -> MapDocument {
        let hidden = map.hidden(in: workspace.settings)
        var layers: [MapDocument.Layer] = []
        for layer in map.layers {
            guard let geometry = layer.geometry else { continue }
            layers.append(
                MapDocument.Layer(
                    id: layer.id, name: layer.name, geometry: geometry, visible: !hidden.contains(layer.id),
                    generation: await map.tiles.generation(of: layer.id), drawing: layer.style.drawing,
                    labels: layer.style.labels))
        }
        var view = workspace.settings.view(of: map.key)
        if view == nil { view = map.authoredView }
        if view == nil, let first = await workspace.initialView {
            view = DeviceSettings.View(
                lon: first.longitude, lat: first.latitude, zoom: first.zoom, west: 0, south: 0, east: 0, north: 0)
        }
        let whole = map.whole ?? [-125, 24, -66, 50]
        return MapDocument(
            title: map.title, hasPictures: !LayerSprites(map.layers.map(\.style)).isEmpty,
            basemap: map.basemaps.drawn(workspace.settings.basemap(of: map.key)), layers: layers, view: view,
            whole: [[whole[0], whole[1]], [whole[2], whole[3]]])
    }

    private func tile(_ request: Request, _ context: CollectContext, map: OpenMap) async throws -> Response {
        guard let layer = context.parameters.get("layer", as: Int.self),
            let level = context.parameters.get("level", as: Int.self),
            let column = context.parameters.get("column", as: Int.self),
            let row = context.parameters.get("row", as: Int.self),
            let address = TileAddress(level: level, column: column, row: row)
        else { throw CollectError(.notFound, "There is no such tile.") }
        let tile = try await map.tiles.tile(layer: layer, at: address)
        var headers: HTTPFields = [.cacheControl: "private, no-cache", .eTag: tile.tag]
        if request.headers[.ifNoneMatch] == tile.tag { return Response(status: .notModified, headers: headers) }
        guard !tile.bytes.isEmpty else { return Response(status: .noContent, headers: headers) }
        headers[.contentType] = "application/vnd.mapbox-vector-tile"
        return Response(status: .ok, headers: headers, body: .init(byteBuffer: ByteBuffer(bytes: tile.bytes)))
    }

    // MARK: Picking

    /// Leads on to what was found, or gives the call-out for empty ground.
    private func identify(_ form: FormValues, map: OpenMap) async throws -> Response {
        let place = try Self.place(form)
        guard let tolerance = form.number("tolerance"), tolerance > 0, tolerance < 1e7 else {
            throw CollectError(.badForm, "A tolerance is missing.")
        }
        let zoom = form.number("zoom").flatMap { (0...30).contains($0) ? $0 : nil }
        let found = try await map.identify(
            place, tolerance: tolerance, hidden: map.hidden(in: workspace.settings),
            scale: zoom.map { WebMercator.scale / exp2($0) })
        await workspace.noteReachable(true)
        if let first = found.first {
            map.remember(TapMemory(place: place, tolerance: tolerance, found: found))
            let here = "\(FeatureViews.degrees(place.longitude)),\(FeatureViews.degrees(place.latitude)),\(tolerance)"
            let query = found.count > 1 ? "?here=\(here)" : ""
            return PageRenderer.redirect(first.reference.mapAddress + query)
        }
        return try pages.part(GroundCallout(map: map, settings: workspace.settings).view(place))
    }

    static func place(_ form: FormValues) throws -> Place {
        guard let longitude = form.number("lon"), let latitude = form.number("lat"),
            let place = Place(longitude: longitude, latitude: latitude)
        else {
            throw CollectError(.badForm, "The place isn't on the map.", nextStep: "Type degrees: 38.9, \u{2212}98.5.")
        }
        return place
    }

    // MARK: Where the map looks

    private func view(_ form: FormValues, map: OpenMap) async throws -> Response {
        let names = ["lon", "lat", "zoom", "west", "south", "east", "north"]
        let numbers = names.compactMap { form.number($0) }
        guard numbers.count == names.count else { throw CollectError(.badForm, "The view isn't complete.") }
        workspace.settings.setView(
            DeviceSettings.View(
                lon: numbers[0], lat: numbers[1], zoom: numbers[2], west: numbers[3], south: numbers[4],
                east: numbers[5], north: numbers[6]),
            of: map.key)
        return try pages.part(try await NearbyList(map: map, pages: pages).rows())
    }

    /// What is near the pin, with a warning about a feature that may be the same.
    private func nearPin(_ form: FormValues, map: OpenMap) async throws -> Response {
        let place = try Self.place(form)
        guard let layer = form["layer"].flatMap({ Int($0) }).flatMap({ map.layer($0) }) else {
            throw CollectError(.notFound, "The map has no such layer.")
        }
        let reach = 250 * WebMercator.stretch(y: place.y)
        let area = Envelope(
            xMin: place.x - reach, yMin: place.y - reach, xMax: place.x + reach, yMax: place.y + reach,
            spatialReference: .webMercator)
        let except = form["except"] ?? ""
        let near = try await map.nearest(layer, to: place, within: area, limit: 9).features
            .filter { !except.contains($0.reference.text) }
        let views = FeatureViews(map: map)
        let close = near.first.flatMap { first -> NearPinView.Close? in
            guard let distance = first.distance, distance < Limits.closeMetres else { return nil }
            return NearPinView.Close(
                text: distance < 0.1
                    ? "A \(layer.noun) is already at this spot:"
                    : "A \(layer.noun) is already \(FieldText.distance(distance)) from here:",
                title: FeatureTitle(layer: layer, feature: first.feature).title, address: first.reference.address)
        }
        return try pages.part(
            NearPinView(
                close: close, rows: near.prefix(8).map { views.row($0, address: $0.reference.address) },
                hasRows: !near.isEmpty))
    }
}
