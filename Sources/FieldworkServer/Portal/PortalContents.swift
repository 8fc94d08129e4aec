import FieldworkGeometry
import FieldworkPortal
import FieldworkREST
import HTTPTypes

/// The bytes that are kept with items.
enum PortalContents {
    static func data(_ context: RouteContext) async throws -> Answer {
        try await content(ItemContent.data, context)
    }

    static func thumbnail(_ context: RouteContext) async throws -> Answer {
        try await content(ItemContent.thumbnail, context)
    }

    static func resource(_ context: RouteContext) async throws -> Answer {
        let path = [context.values.prefix, context.values.text].compactMap { $0 }.joined(separator: "/")
        return try await content(ItemContent.resources + path, context)
    }

    private static func content(_ name: String, _ context: RouteContext) async throws -> Answer {
        let operations = try await PortalOperations(context)
        let id = try operations.itemID
        let item = try await operations.portal.item(id, for: operations.principal).item
        guard let content = try await operations.portal.content(name, of: id, for: operations.principal) else {
            // An item without data answers with nothing, as clients expect of a service's item.
            if name == ItemContent.data { return Answer(contentType: Answer.jsonType, body: .bytes(Array("{}".utf8))) }
            throw ServiceError.notFound("There is no such file with the item.")
        }
        if name == ItemContent.data { try await operations.portal.noteView(of: id) }
        let isText = content.type.hasPrefix("application/json") || content.type.hasPrefix("text/plain")
        var answer = Answer(
            contentType: isText ? content.type : Self.safeType(content.type), body: .bytes(content.bytes))
        answer.isCompressible = isText
        if !isText || name != ItemContent.data {
            answer.disposition = ContentDisposition.text(
                name: content.fileName.isEmpty ? item.title : content.fileName,
                isShown: content.type.hasPrefix("image/"))
        }
        return answer.tagged()
    }

    /// What came from anybody is never shown as a page.
    private static func safeType(_ type: String) -> String {
        let known = ["image/png", "image/jpeg", "image/gif", "image/webp", "application/zip", "text/csv"]
        return known.contains(type) ? type : "application/octet-stream"
    }
}
