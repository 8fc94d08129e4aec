import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation

/// Chooses how the edits of a sync travel: within its request, or, when they are many, as an upload before it.
/// Such a document stays beside the file until the service has answered: an upload that was cut goes on with the same one.
struct EditsSender: Sendable {
    let session: GeodatabaseSession
    let service: FeatureServiceClient

    /// The parameter of a request that gives the edits.
    typealias Member = (name: String, value: String)

    private var folder: URL { session.file.url.appendingPathExtension("edits") }

    /// - Parameter edits: the document; nil for none.
    func member(_ edits: String?, _ record: inout ReplicaRecord) async throws -> Member? {
        guard let edits else { return nil }
        guard let id = record.pendingUpload?.id, edits.utf8.count > Limits.inlineEditsBytes else {
            return ("edits", edits)
        }
        let file = folder.appending(path: "\(id.uuidString.lowercased()).json")
        try keep(edits, at: file, isCompressed: record.acceptsGzip)
        let size = try file.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0
        let content = MultipartForm.File(
            part: "file", url: file, name: "edits.json", contentType: "application/json", size: Int64(size), offset: 0)
        let key = "edits-\(GUID.normalForm(id))"
        do {
            let item = try await ResumableUpload(service: service, file: content).send(
                begunID: record.contentUploads[key]
            ) {
                record.contentUploads[key] = $0
                try await session.keep(record)
            }
            return ("editsUploadId", item)
        } catch let error as ServiceError {
            // A service that takes no uploads gets them at once.
            guard case .serverFailure = error, !error.asksForSignIn, record.contentUploads[key] == nil else {
                throw error
            }
            return ("edits", edits)
        }
    }

    private func keep(_ edits: String, at file: URL, isCompressed: Bool) throws {
        // What was begun goes on as it was.
        if FileManager.default.fileExists(atPath: file.path) { return }
        do {
            discard()
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let bytes = Array(edits.utf8)
            try Data(isCompressed ? GzipStream.compressed(bytes) : bytes).write(to: file, options: .atomic)
        } catch {
            throw CommonError.io(details: "The edits could not be written down for sending: \(error)")
        }
    }

    /// Forgets what the service has by now.
    func discard() { try? FileManager.default.removeItem(at: folder) }
}
