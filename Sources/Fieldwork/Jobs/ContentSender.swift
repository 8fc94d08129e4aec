import FieldworkREST
import FieldworkStore
import Foundation

/// Brings the contents of attachments to the service before the edits that need them: small ones go within those, others
/// as uploads. The name of each stands in the file: after a cut, or in a new process, it goes on from there.
struct ContentSender: Sendable {
    let session: GeodatabaseSession
    let service: FeatureServiceClient
    var watch: SendingWatch?

    /// - Parameters:
    ///   - attachments: one that is deleted meanwhile becomes a delete.
    ///   - record: brought up to date and kept as the uploads go on.
    ///   - progress: called with the part of the bytes that is there, 0 to 1.
    /// - Returns: by attachment, how its edit names the content.
    func send(
        _ attachments: inout [OutgoingAttachment], _ record: inout ReplicaRecord, progress: @Sendable (Double) -> Void
    ) async throws -> [UUID: OutgoingAttachment.Content] {
        var contents: [UUID: OutgoingAttachment.Content] = [:]
        let carriers = attachments.filter(\.carriesContent)
        let size = carriers.reduce(0) { $0 + ($1.info?.size ?? 0) }
        let whole = max(1, size)
        watch?.expect(files: carriers.count, bytes: size)
        var (there, inline): (Int64, Int64) = (0, 0)
        for index in attachments.indices {
            let attachment = attachments[index]
            guard attachment.carriesContent, let size = attachment.info?.size else { continue }
            try Task.checkCancellation()
            let isSmall = size <= Limits.inlineContentBytes && inline + size <= Limits.attachmentBytesPerRequest
            if !isSmall { watch?.began(fileOf: size) }
            if !isSmall, let item = try await upload(attachment, &record) {
                contents[attachment.globalID] = ("uploadId", .string(item))
                watch?.ended(fileOf: size)
            } else if let bytes = try await bytes(attachment) {
                inline += size
                contents[attachment.globalID] = ("data", .string(Data(bytes).base64EncodedString()))
            } else {
                attachments[index].wasDeleted()
            }
            there += size
            progress(Double(there) / Double(whole))
        }
        return contents
    }

    /// nil when it is no longer there.
    private func bytes(_ attachment: OutgoingAttachment) async throws -> [UInt8]? {
        try await onDevice {
            try await session.file.attachmentBytes(.globalID(attachment.globalID), in: attachment.layerID)
        }
    }

    /// - Returns: the service's name for the content; nil where it takes no uploads.
    private func upload(_ attachment: OutgoingAttachment, _ record: inout ReplicaRecord) async throws -> String? {
        let id = AttachmentIdentifier.globalID(attachment.globalID)
        let digest = try await onDevice { try await session.file.attachmentDigest(id, in: attachment.layerID) }
        guard let digest, let info = attachment.info else { return nil }
        // The same content may belong to several attachments, which have names of their own.
        let key = "\(digest)-\(GUID.normalForm(attachment.globalID))"
        let copy = session.file.url.appendingPathExtension("upload")
        defer { try? FileManager.default.removeItem(at: copy) }
        guard try await onDevice({ try await session.file.copyAttachment(id, in: attachment.layerID, to: copy) }) else {
            return nil
        }
        let file = MultipartForm.File(
            part: "file", url: copy, name: info.name, contentType: info.contentType, size: info.size, offset: 0,
            watch: watch)
        do {
            return try await ResumableUpload(service: service, file: file).send(begunID: record.contentUploads[key]) {
                record.contentUploads[key] = $0
                try await session.keep(record)
            }
        } catch let error as ServiceError {
            guard case .serverFailure = error, !error.asksForSignIn, record.contentUploads[key] == nil else {
                throw error
            }
            return nil
        }
    }
}
