import FieldworkREST
import Foundation

/// Attachments of features and uploaded files.
extension FeatureServiceClient {
    /// What a feature has.
    func attachments(of objectID: Int64, layerID: Int) async throws -> [AttachmentInfo] {
        let json = try await json(ServiceRequest(address(layerID, objectID, "attachments"), [("f", "json")]))
        guard let infos = AttachmentAnswer.read(json, of: objectID) else {
            throw ServiceError.unknown(details: "The answer to a question for attachments has no list of them.")
        }
        return infos
    }

    /// Where the bytes of an attachment are.
    func contentURL(of attachmentID: Int64, objectID: Int64, layerID: Int) -> URL {
        address(layerID, objectID, "attachments/\(attachmentID)")
    }

    /// The result of an edit of one attachment.
    struct AttachmentResult: Sendable {
        var id: Int64?
        var globalID: UUID?
        var error: EditError?

        init(_ json: JSONValue) {
            let result = EditAnswerReader.result(json)
            (id, globalID, error) = (result.objectID, result.globalID, result.error)
        }
    }

    func addAttachment(
        _ file: MultipartForm.File, keywords: String, to objectID: Int64, layerID: Int
    ) async throws -> AttachmentResult {
        var request = ServiceRequest(
            address(layerID, objectID, "addAttachment"), [("keywords", keywords), ("f", "json")], isRead: false)
        request.file = file
        return try await result(of: request, named: "addAttachmentResult")
    }

    func updateAttachment(
        _ id: Int64, _ file: MultipartForm.File, keywords: String, of objectID: Int64, layerID: Int
    ) async throws -> AttachmentResult {
        var request = ServiceRequest(
            address(layerID, objectID, "updateAttachment"),
            [("attachmentId", String(id)), ("keywords", keywords), ("f", "json")], isRead: false)
        request.file = file
        return try await result(of: request, named: "updateAttachmentResult")
    }

    func deleteAttachment(_ id: Int64, of objectID: Int64, layerID: Int) async throws -> AttachmentResult {
        let request = ServiceRequest(
            address(layerID, objectID, "deleteAttachments"),
            [("attachmentIds", String(id)), ("rollbackOnFailure", "false"), ("f", "json")], isRead: false)
        return try await result(of: request, named: "deleteAttachmentResults")
    }

    private func address(_ layerID: Int, _ objectID: Int64, _ operation: String) -> URL {
        root.appending(path: "\(layerID)/\(objectID)/\(operation)")
    }

    private func result(of request: ServiceRequest, named name: String) async throws -> AttachmentResult {
        let json = try await json(request)
        guard let result = json[name].flatMap({ $0.arrayValue?.first ?? ($0.objectValue == nil ? nil : $0) }) else {
            throw ServiceError.unknown(details: "The answer to an edit of an attachment has no result.")
        }
        return AttachmentResult(result)
    }
}
