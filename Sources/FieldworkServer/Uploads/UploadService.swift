import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation

/// Files that clients send before the request that uses them (rest-api §4.11).
struct UploadService: Sendable {
    let folder: UploadFolder
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

    func answer(
        _ resource: UploadResource, of service: ServiceDefinition, _ request: ServiceRequest
    ) async throws -> Answer {
        guard Self.isAllowed(service) else { throw ServiceError.notSupported }
        if resource.isWrite { try request.requirePost() }
        let format = try request.format() == .prettyJSON ? AnswerFormat.prettyJSON : .json
        return .json(try json(resource, service, request), format: format)
    }

    private func json(
        _ resource: UploadResource, _ service: ServiceDefinition, _ request: ServiceRequest
    ) throws -> JSONValue {
        switch resource {
        case .info:
            let megabytes = JSONValue(FieldworkREST.Limits.attachmentBytes / (1_024 * 1_024))
            return ["maxUploadFileSize": megabytes, "maxUploadFileSizeInMB": megabytes]
        case .upload:
            let file = try Self.file("file", request)
            try checkRoom()
            let name = try Self.name(request.parameters["filename"] ?? file.name)
            let kept = try folder.keep(
                newItem(name, contentType: file.contentType, service, request), content: file)
            return ["success": true, "item": kept.json]
        case .register:
            guard let text = request.parameters["itemName"] else {
                throw ServiceError.invalidParameter("'itemName' is required.")
            }
            try checkRoom()
            let item = newItem(try Self.name(text), contentType: nil, service, request)
            try folder.keep(item)
            return ["success": true, "item": described(item)]
        case .item(let id): return described(try item(id, service, request))
        case .uploadPart(let id):
            let item = try item(id, service, request)
            guard let number = try request.parameters.integer("partId") ?? request.parameters.integer("partNum"),
                (1...Limits.uploadParts).contains(number)
            else { throw ServiceError.invalidParameter("'partId' must be a number from 1 to \(Limits.uploadParts).") }
            try folder.keepPart(number, try Self.file("file", request), of: item)
            return ["success": true, "partId": JSONValue(number)]
        case .append(let id):
            let item = try item(id, service, request)
            guard request.hasStretch else {
                throw ServiceError.invalidParameter("'append' takes bytes, as application/octet-stream.")
            }
            return ["success": true, "item": described(item)]
        case .parts(let id):
            let parts = folder.parts(of: try item(id, service, request))
            return ["parts": .array(parts.map { JSONValue($0) })]
        case .commit(let id):
            let item = try item(id, service, request)
            let parts = try request.parameters.objectIDs("parts")?.map { Int(clamping: $0) }
            let announced = UploadFolder.Announcement(
                size: try request.parameters.integer("size"), sha256: request.parameters["sha256"])
            let kept = try folder.commit(item, parts: parts, as: announced)
            return ["success": true, "item": kept.json]
        case .delete(let id):
            folder.remove(try item(id, service, request).id)
            return ["success": true, "status": "success"]
        }
    }

    /// An upload that is not complete tells where it goes on.
    private func described(_ item: UploadItem) -> JSONValue {
        guard item.content == nil, var object = item.json.objectValue else { return item.json }
        object.append("received", JSONValue(folder.stretches(of: item).received))
        return .object(object)
    }

    private func newItem(
        _ name: String, contentType: String?, _ service: ServiceDefinition, _ request: ServiceRequest
    ) -> UploadItem {
        UploadItem(
            id: makeID(), name: name, contentType: contentType, description: request.parameters["description"] ?? "",
            service: service.name, editor: request.editor, date: now())
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

    private func checkRoom() throws(ServiceError) {
        guard folder.count >= Limits.uploads else { return }
        folder.sweep(now: now())
        guard folder.count < Limits.uploads else {
            throw ServiceError(code: 503, message: "The service keeps too many uploads. Try again later.")
        }
    }

    private func item(
        _ id: String, _ service: ServiceDefinition, _ request: ServiceRequest
    ) throws(ServiceError) -> UploadItem {
        guard let item = folder.item(id, now: now()), item.service == service.name, item.editor == request.editor else {
            throw .notFound("There is no upload '\(id.prefix(64))' (any more).")
        }
        return item
    }

    /// Finds the files that a request names by the id of their upload.
    func finder(_ service: ServiceName, editor: String?) -> UploadedFile.Finder {
        { id in
            guard let item = folder.item(id, now: now()), item.service == service, item.editor == editor else {
                return nil
            }
            return folder.file(of: item)
        }
    }
}
