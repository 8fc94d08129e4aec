import Fieldwork
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// The photos and files of a feature: their list, one of them, its bytes.
struct PhotoRoutes: Sendable {
    let pages: PageRenderer
    var workspace: Workspace { pages.workspace }

    func add(to router: Router<CollectContext>) {
        let photos = router.group("f/:layer/:key/photos")
        photos.get { request, context in try await list(request, context) }
        photos.get(":photo") { request, context in try await photo(request, context) }
        photos.get(":photo/content") { request, context in try await content(request, context) }
        router.get("drafts/:draft/photos/:photo") { request, context in try await staged(request, context) }
    }

    private func list(_ request: Request, _ context: CollectContext) async throws -> Response {
        let map = try await workspace.map()
        let found = try await map.find(try context.reference())
        guard found.layer.hasPhotos else {
            throw CollectError(.notFound, "\(found.layer.name) has no photos and files.")
        }
        let title = FeatureTitle(layer: found.layer, feature: found.feature).title
        let attachments = try await map.photosIfAnswered(found)
        let views = PhotoViews(pages: pages, map: map)
        let count = attachments?.count ?? 0
        let start = min(max(0, request.uri.queryParameters["start"].flatMap { Int($0) } ?? 0), max(0, count - 1))
        let end = min(start + Limits.listedPhotos, count)
        let facts = (attachments ?? [])[start..<end].map { views.facts($0, of: found) }
        let pictures = facts.compactMap(Self.picture)
        let files = facts.filter { $0.thumbnail == nil }.map {
            PhotosPanel.File(name: $0.name, content: $0.content, size: $0.size, state: $0.state)
        }
        let base = "\(found.reference.address)/photos"
        let canEdit = found.layer.hasPopups && found.layer.table.canUpdate(found.feature)
        let panel = PhotosPanel(
            subheading: title, back: found.reference.address, again: base,
            count: attachments.map { FieldText.grouped($0.count) } ?? "", failed: attachments == nil,
            part: count > Limits.listedPhotos
                ? "\(FieldText.grouped(start + 1)) to \(FieldText.grouped(end)) of \(FieldText.grouped(count))"
                : nil,
            hasPictures: !pictures.isEmpty, pictures: pictures, hasFiles: !files.isEmpty, files: files,
            isEmpty: attachments?.isEmpty ?? false,
            previous: start > 0 ? "\(base)?start=\(max(0, start - Limits.listedPhotos))" : nil,
            next: end < count ? "\(base)?start=\(end)" : nil,
            edit: canEdit ? "\(found.reference.address)/edit#photos" : nil)
        return try await pages.respond(
            PageRenderer.Panel(
                panel, kind: "side", tab: "map", title: "Photos and files of \(title)", marked: MarkedPlace(found)),
            to: request, map: map)
    }

    /// nil for what isn't a picture.
    private static func picture(_ photo: PhotoFacts) -> PhotosPanel.Picture? {
        photo.thumbnail.map {
            PhotosPanel.Picture(
                name: photo.name, address: photo.address, thumbnail: $0, size: photo.size, state: photo.state)
        }
    }

    private func photoID(_ context: CollectContext) throws -> Int {
        guard let id = context.parameters.get("photo").flatMap({ Int($0) }) else {
            throw CollectError(.notFound, "There is no such photo or file.")
        }
        return id
    }

    private func photo(_ request: Request, _ context: CollectContext) async throws -> Response {
        let map = try await workspace.map()
        let found = try await map.find(try context.reference())
        let id = try photoID(context)
        let all = try await map.photosIfAnswered(found) ?? []
        guard let index = all.firstIndex(where: { $0.id == id }) else {
            throw CollectError(.notFound, "This photo or file isn't there any more.")
        }
        let photo = PhotoViews(pages: pages, map: map).facts(all[index], of: found)
        let word = all[index].isLocal && !map.isPlainFile ? ", not sent" : ""
        let alternative = "Photo \(index + 1) of \(all.count): \(photo.name)\(word)."
        let panel = PhotoPanel(
            heading: photo.name, subheading: "\(index + 1) of \(all.count) · \(photo.title)", back: photo.list,
            picture: photo.thumbnail == nil
                ? nil : PhotoPanel.Picture(content: photo.content, alternative: alternative),
            size: photo.size, state: photo.state,
            previous: index > 0 ? "\(photo.list)/\(all[index - 1].id)" : nil,
            next: index + 1 < all.count ? "\(photo.list)/\(all[index + 1].id)" : nil,
            save: "\(photo.content)?save=yes")
        return try await pages.respond(
            PageRenderer.Panel(
                panel, kind: "wide", tab: "map", title: photo.name, marked: MarkedPlace(found)),
            to: request, map: map)
    }

    // MARK: Bytes

    private func content(_ request: Request, _ context: CollectContext) async throws -> Response {
        let map = try await workspace.map()
        let found = try await map.find(try context.reference())
        let attachment = try await map.photo(try photoID(context), of: found)
        let url = try await attachment.fileURL
        // The attachment holds the file as long as the answer is under way.
        return try answer(
            url, name: attachment.name, claimed: attachment.contentType, holder: attachment, request: request)
    }

    private func staged(_ request: Request, _ context: CollectContext) async throws -> Response {
        let map = try await workspace.map()
        guard let draft = context.parameters.get("draft").flatMap({ map.drafts.draft(id: $0) }),
            let id = context.parameters.get("photo").flatMap({ UUID(uuidString: $0) }),
            let photo = map.drafts.photos.photos(of: draft.id).first(where: { $0.id == id })
        else { throw CollectError(.notFound, "This photo isn't kept any more.") }
        return try answer(
            map.drafts.photos.file(id, of: draft.id), name: photo.name, claimed: photo.contentType, holder: nil,
            request: request)
    }

    /// A picture is shown in the page; anything else is offered for saving only, under a type that nothing runs.
    private func answer(
        _ url: URL, name: String, claimed: String, holder: Attachment?, request: Request
    ) throws -> Response {
        let file = try FileHandle(forReadingFrom: url)
        let count = try file.seekToEnd()
        try file.seek(toOffset: 0)
        let kind = FileKind(try file.read(upToCount: 64) ?? Data())
        let edge = request.uri.queryParameters["edge"].flatMap { Int($0) }
        if kind.isJPEG, let edge, edge > 0, edge <= Limits.thumbnailEdge, count <= Limits.thumbnailSourceBytes,
            let small = PhotoScaler.scaled(try Data(contentsOf: url), longerEdge: edge, keepsNotes: false)
        {
            return Response(
                status: .ok, headers: [.contentType: "image/jpeg"], body: .init(byteBuffer: ByteBuffer(bytes: small)))
        }
        try file.seek(toOffset: 0)
        let isSaved = request.uri.queryParameters["save"] != nil || !kind.isPicture
        let encoded = name.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "file"
        var headers: HTTPFields = [:]
        switch kind {
        case .picture(let type): headers[.contentType] = type
        case .other: headers[.contentType] = "application/octet-stream"
        }
        headers[.contentDisposition] = "\(isSaved ? "attachment" : "inline"); filename*=UTF-8''\(encoded)"
        let body = ResponseBody(contentLength: Int(count)) { writer in
            while let piece = try file.read(upToCount: 64 * 1_024), !piece.isEmpty {
                try await writer.write(ByteBuffer(bytes: piece))
            }
            try file.close()
            try await writer.finish(nil)
            withExtendedLifetime(holder) {}
        }
        return Response(status: .ok, headers: headers, body: body)
    }
}
