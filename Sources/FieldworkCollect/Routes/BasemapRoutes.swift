import Fieldwork
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// The basemap for the map library: it asks this process, which asks the services. Tokens stay here, and the page speaks to
/// nobody else.
struct BasemapRoutes: Sendable {
    let pages: PageRenderer

    func add(to data: RouterGroup<CollectContext>) {
        data.get("basemap") { request, _ in try await document(request) }
        data.get("basemap/:key/:part/tile/:level/:column/:row") { _, context in try await tile(context) }
        data.get("basemap/:key/:part/pictures/:name") { _, context in try await picture(context) }
    }

    private struct Document: Encodable {
        struct Part: Encodable {
            let address: String
            /// Another one when there are other tiles at the same addresses: the browser keeps tiles for a while.
            let version: String
            /// The layers of a MapLibre style, as JSON; nil for images.
            let style: String?
            let levels: [Int]
            let tileSize: Int
            let opacity: Double
            let isReference: Bool
            let hasPictures: Bool
        }

        var key: String?
        var parts: [Part] = []
        var attribution = ""
    }

    private func document(_ request: Request) async throws -> Response {
        let map = try await pages.workspace.map()
        var document = Document()
        guard let offer = await map.basemaps.chosen(pages.workspace.settings.basemap(of: map.key)) else {
            return try pages.json(document)
        }
        document.key = offer.key
        let look = request.uri.queryParameters["look"].map(String.init)
        let variant = look.flatMap { PageRenderer.themes.contains($0) ? $0 : nil }
        let key = offer.key.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        // A basemap whose server doesn't answer leaves the paper: the features are drawn all the same.
        try? await offer.basemap.load()
        var names: [String] = []
        for (index, part) in BasemapShelf.layers(offer.basemap).enumerated() {
            guard let drawn = try? await Self.part(part.layer, variant: variant) else {
                continue
            }
            document.parts.append(
                Document.Part(
                    address: "/data/basemap/\(key)/\(index)", version: offer.version, style: drawn.style,
                    levels: drawn.levels,
                    tileSize: drawn.tileSize, opacity: part.layer.opacity, isReference: part.isReference,
                    hasPictures: drawn.hasPictures))
            if !part.layer.attribution.isEmpty, !names.contains(part.layer.attribution) {
                names.append(part.layer.attribution)
            }
        }
        document.attribution = names.joined(separator: " · ")
        return try pages.json(document)
    }

    private struct DrawnPart {
        var style: String?
        var levels: [Int]
        var tileSize: Int
        var hasPictures = false
    }

    private struct StyleHead: Decodable {
        let sprite: String?
    }

    /// nil for a layer that can't be drawn.
    private static func part(_ layer: Layer, variant: String?) async throws -> DrawnPart? {
        try await layer.load()
        switch layer {
        case let layer as ArcGISVectorTiledLayer:
            guard let style = try await layer.style(variant: variant) else { return nil }
            let head = try? JSONDecoder().decode(StyleHead.self, from: style)
            return DrawnPart(
                style: String(decoding: style, as: UTF8.self),
                levels: [layer.levels.lowerBound, layer.levels.upperBound], tileSize: 512,
                hasPictures: head?.sprite != nil)
        case let layer as ImageTiledLayer:
            return DrawnPart(
                style: nil, levels: [layer.levels.lowerBound, layer.levels.upperBound], tileSize: layer.tileSize)
        default: return nil
        }
    }

    private func layer(_ context: CollectContext) async throws -> Layer {
        let map = try await pages.workspace.map()
        guard let key = context.parameters.get("key")?.removingPercentEncoding,
            let part = context.parameters.get("part", as: Int.self), let offer = await map.basemaps.offer(key)
        else { throw HTTPError(.notFound) }
        let layers = BasemapShelf.layers(offer.basemap)
        guard layers.indices.contains(part) else { throw HTTPError(.notFound) }
        return layers[part].layer
    }

    private func tile(_ context: CollectContext) async throws -> Response {
        guard let level = context.parameters.get("level", as: Int.self),
            let column = context.parameters.get("column", as: Int.self),
            let row = context.parameters.get("row", as: Int.self)
        else { throw HTTPError(.notFound) }
        let key = TileKey(level: level, row: row, column: column)
        switch try await layer(context) {
        case let layer as ArcGISVectorTiledLayer:
            return Self.response(try await layer.tile(at: key), "application/vnd.mapbox-vector-tile")
        case let layer as ImageTiledLayer:
            let bytes = try await layer.tile(at: key)
            return Self.response(bytes, Self.imageType(bytes))
        default: throw HTTPError(.notFound)
        }
    }

    /// `sprite.json`, `sprite.png`, and with `@2x` for fine screens.
    private func picture(_ context: CollectContext) async throws -> Response {
        let name = context.parameters.get("name") ?? ""
        guard ["sprite.json", "sprite.png", "sprite@2x.json", "sprite@2x.png"].contains(name),
            let layer = try await layer(context) as? ArcGISVectorTiledLayer
        else { throw HTTPError(.notFound) }
        let bytes = try await layer.resource("sprites/\(name)")
        return Self.response(bytes, name.hasSuffix("json") ? "application/json" : "image/png")
    }

    /// By the bytes: what a server says of them is not passed on.
    private static func imageType(_ data: Data?) -> String {
        guard let data else { return "image/png" }
        if data.starts(with: [0xFF, 0xD8]) { return "image/jpeg" }
        return data.starts(with: Array("RIFF".utf8)) ? "image/webp" : "image/png"
    }

    private static func response(_ bytes: Data?, _ type: String) -> Response {
        guard let bytes else { return Response(status: .noContent) }
        return Response(
            status: .ok,
            headers: [.contentType: type, .cacheControl: "private, max-age=\(Limits.basemapTileSeconds)"],
            body: .init(byteBuffer: ByteBuffer(bytes: bytes)))
    }
}
