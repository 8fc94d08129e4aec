import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation

/// Files that clients send before the request that uses them.
struct UploadService: Sendable {
    let keeper: any UploadKeeper
    /// The moment of a request.
    var now: @Sendable () -> Date = { Date() }
    /// Names uploads.
    var makeID: @Sendable () -> String = UploadItem.newID

    /// Whether a service takes uploads: it says so, or its layers take attachments.
    static func isAllowed(_ service: ServiceDefinition) -> Bool {
        if service.capabilities.contains(.uploads) { return true }
        return service.layers.contains { layer in
            let permissions = Permissions(service: service, layer: layer)
            return layer.hasAttachments && (permissions.allow(.create) || permissions.allow(.update))
        }
    }

    /// What the server takes.
    static let info: JSONValue = {
        let megabytes = JSONValue(FieldworkREST.Limits.attachmentBytes / (1_024 * 1_024))
        return ["maxUploadFileSize": megabytes, "maxUploadFileSizeInMB": megabytes]
    }()

    /// A file that comes whole.
    func upload(_ context: RouteContext) async throws -> JSONValue {
        let file = try Self.file("file", context.request)
        try await checkRoom()
        let name = try Self.name(context.request.parameters["filename"] ?? file.name)
        let kept = try await keeper.keep(newItem(name, contentType: file.contentType, context), content: file)
        return ["success": true, "item": kept.json]
    }

    /// Announces a file that comes in parts.
    func register(_ context: RouteContext) async throws -> JSONValue {
        guard let text = context.request.parameters["itemName"] else {
            throw ServiceError.invalidParameter("'itemName' is required.")
        }
        try await checkRoom()
        let item = try newItem(Self.name(text), contentType: nil, context)
        try await keeper.keep(item)
        return ["success": true, "item": try await described(item)]
    }

    func info(of context: RouteContext) async throws -> JSONValue { try await described(item(context)) }

    func uploadPart(_ context: RouteContext) async throws -> JSONValue {
        let item = try await item(context)
        let parameters = context.request.parameters
        guard let number = try parameters.integer("partId") ?? parameters.integer("partNum"),
            (1...Limits.uploadParts).contains(number)
        else { throw ServiceError.invalidParameter("'partId' must be a number from 1 to \(Limits.uploadParts).") }
        try await keeper.keepPart(number, try Self.file("file", context.request), of: item)
        return ["success": true, "partId": JSONValue(number)]
    }

    /// The next bytes of an upload, which have been written where they belong while they were read.
    func append(_ context: RouteContext) async throws -> JSONValue {
        let item = try await item(context)
        guard context.request.hasStretch else {
            throw ServiceError.invalidParameter("'append' takes bytes, as application/octet-stream.")
        }
        return ["success": true, "item": try await described(item)]
    }

    func parts(_ context: RouteContext) async throws -> JSONValue {
        let parts = try await keeper.parts(of: item(context))
        // As texts: that is how clients write them into the commit.
        return ["parts": .array(parts.map { .string(String($0)) })]
    }

    func commit(_ context: RouteContext) async throws -> JSONValue {
        let item = try await item(context)
        let parameters = context.request.parameters
        let parts = try parameters.objectIDs("parts")?.map { Int(clamping: $0) }
        let announced = UploadAnnouncement(size: try parameters.integer("size"), sha256: parameters["sha256"])
        let kept = try await keeper.commit(item, parts: parts, as: announced)
        return ["success": true, "item": kept.json]
    }

    func delete(_ context: RouteContext) async throws -> JSONValue {
        try await keeper.remove(item(context).id)
        return ["success": true, "status": "success"]
    }

    /// An upload that is not complete tells where it goes on.
    private func described(_ item: UploadItem) async throws -> JSONValue {
        guard item.content == nil, var object = item.json.objectValue else { return item.json }
        object.append("received", JSONValue(try await keeper.received(of: item)))
        return .object(object)
    }

    private func newItem(_ name: String, contentType: String?, _ context: RouteContext) throws -> UploadItem {
        UploadItem(
            id: makeID(), name: name, contentType: contentType,
            description: context.request.parameters["description"] ?? "",
            service: try context.service.definition.name, editor: context.request.editor, date: now())
    }

    private static func name(_ text: String) throws(ServiceError) -> String {
        guard let name = AttachmentTypes.plainName(text) else {
            throw .invalidParameter("The file needs a name.")
        }
        return name
    }

    static func file(_ field: String, _ request: ServiceRequest) throws(ServiceError) -> ReceivedFile {
        guard let file = request.files[field] else {
            throw .invalidParameter("'\(field)' (a file of a multipart form) is required.")
        }
        return file
    }

    private func checkRoom() async throws {
        guard try await keeper.count() >= Limits.uploads else { return }
        try await keeper.sweep(now: now())
        guard try await keeper.count() < Limits.uploads else {
            throw ServiceError(code: 503, message: "The service keeps too many uploads. Try again later.")
        }
    }

    /// The upload of the address.
    private func item(_ context: RouteContext) async throws -> UploadItem {
        let id = try context.name
        guard
            let item = try await item(id, of: context.service.definition.name, editor: context.request.editor)
        else {
            throw ServiceError.notFound("There is no upload '\(id.prefix(64))' (any more).")
        }
        return item
    }

    /// An upload of a service and of whoever asks; nobody finds another's.
    private func item(_ id: String, of service: ServiceName, editor: String?) async throws -> UploadItem? {
        guard let item = try await keeper.item(id, now: now()), item.service == service, item.editor == editor else {
            return nil
        }
        return item
    }

    // MARK: Use

    /// Reads a request that may name files by the ids of their uploads.
    ///
    /// Files that are kept elsewhere are fetched when the request is found to name them, and it is read again with them:
    /// a request that names none is read once, and nothing is looked up for it.
    /// - Returns: what was read, and what has to be held until the files have been used.
    func reading<Request>(
        _ service: ServiceName, editor: String?, _ read: (@escaping UploadedFile.Finder) throws -> Request
    ) async throws -> (request: Request, files: FoundUploads) {
        let found = FoundUploads()
        if let folder = keeper as? UploadFolder {
            let now = now
            return (
                try read { id in
                    guard let item = folder.item(id, now: now()), item.service == service, item.editor == editor else {
                        return nil
                    }
                    return folder.localFile(of: item)
                }, found
            )
        }
        while true {
            let outcome = Result { try read(found.finder) }
            let wanted = found.takeWanted()
            guard !wanted.isEmpty else { return (try outcome.get(), found) }
            for id in wanted {
                guard let item = try await item(id, of: service, editor: editor) else {
                    found.note(nil, for: id)
                    continue
                }
                found.note(try await keeper.file(of: item), for: id)
            }
        }
    }
}
