import FieldworkTiles
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// What the map's style names: the glyphs of its labels, from the fonts of this device, and the pictures of symbols.
struct StyleRoutes: Sendable {
    let pages: PageRenderer

    func add(to data: RouterGroup<CollectContext>) {
        data.get("fonts/:stack/:range") { _, context in try glyphs(context) }
        data.get("pictures/:name") { _, context in
            try await pictures(context, map: try await pages.workspace.map())
        }
    }

    private func glyphs(_ context: CollectContext) throws -> Response {
        let stack = context.parameters.get("stack")?.removingPercentEncoding ?? ""
        let parts = (context.parameters.get("range") ?? "").split(separator: "-")
        guard parts.count == 2, let start = Int(parts[0]),
            let bytes = try? GlyphRange.bytes(stack: String(stack.prefix(Limits.fontName)), start: start)
        else { throw HTTPError(.notFound) }
        return Self.response(bytes, "application/x-protobuf", maximumAge: 86_400)
    }

    /// `sheet.json`, `sheet.png`, and with `@2x` for fine screens.
    private func pictures(_ context: CollectContext, map: OpenMap) async throws -> Response {
        let parts = (context.parameters.get("name") ?? "").split(separator: ".").map(String.init)
        guard parts.count == 2, ["sheet", "sheet@2x"].contains(parts[0]), ["json", "png"].contains(parts[1]) else {
            throw HTTPError(.notFound)
        }
        let sheet = try LayerSprites(map.layers.map(\.style)).sheet(scale: parts[0] == "sheet" ? 1 : 2)
        // The map's author may change them: the browser asks each time.
        return parts[1] == "json"
            ? Self.response(Array(sheet.index.utf8), "application/json")
            : Self.response(sheet.png, "image/png")
    }

    private static func response(_ bytes: [UInt8], _ type: String, maximumAge: Int = 0) -> Response {
        let caching = maximumAge > 0 ? "private, max-age=\(maximumAge)" : "no-store"
        return Response(
            status: .ok, headers: [.contentType: type, .cacheControl: caching],
            body: .init(byteBuffer: ByteBuffer(bytes: bytes)))
    }
}
