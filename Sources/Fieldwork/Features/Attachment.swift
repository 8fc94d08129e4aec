import FieldworkREST
public import Foundation
import Synchronization

/// A file that belongs to a feature: a photo, a document.
///
/// What it is called and what it is stands here; its bytes are fetched when they are asked for.
public final class Attachment: Sendable {
    private struct State: Sendable {
        var edit: AttachmentEdit
        /// The file with the bytes that were fetched.
        var file: FetchedFile?
    }

    /// The id in the service; negative for an attachment that it does not have yet.
    public let id: Int
    let objectID: Int64
    private let state: Mutex<State>
    private let source: any AttachmentSource

    init(_ edit: AttachmentEdit, of objectID: Int64, source: any AttachmentSource) {
        id = Int(edit.id)
        self.objectID = objectID
        self.source = source
        state = Mutex(State(edit: edit))
    }

    /// What is known of it, as the edit that would make it.
    var edit: AttachmentEdit { state.withLock { $0.edit } }

    /// Takes over a replacement that was staged; what was fetched before is no longer its content.
    func adopt(_ edit: AttachmentEdit) {
        state.withLock { state in
            state.edit = edit
            state.file = nil
        }
    }

    /// The id that stays the same wherever the attachment goes; nil where its service gives none. Not part of the vendor's API.
    public var globalID: UUID? { edit.globalID }
    /// The name of the file.
    public var name: String { edit.name }
    /// The type of the content as it was given, as a rule a MIME type.
    public var contentType: String { edit.contentType }
    /// Bytes of the content.
    public var size: Int { Int(clamping: edit.size) }
    /// The words that forms and pop-ups find it by. Not part of the vendor's API.
    public var keywords: String { edit.keywords }
    /// Whether the service does not have it, or not as it is here. Not part of the vendor's API.
    public var isLocal: Bool { source.isLocal(edit) }

    /// Whether the bytes are on this device.
    public var hasFetchedData: Bool { state.withLock { $0.file != nil } || source.isOnDevice(edit) }

    /// The bytes; fetched when they are asked for first. Throws `ServiceError`; `CommonError.io`.
    public var data: Data {
        get async throws {
            let url = try await fileURL
            do { return try Data(contentsOf: url, options: .mappedIfSafe) } catch {
                throw CommonError.io(details: "The content of \(name) can't be read: \(error)")
            }
        }
    }

    /// The bytes, as older releases of the vendor's SDK ask for them.
    public func fetchData() async throws -> Data { try await data }

    /// A file with the bytes, for contents that do not belong into memory: it is fetched piece by piece, goes on where a
    /// connection broke, and is there as long as this object. Not part of the vendor's API.
    public var fileURL: URL {
        get async throws {
            let (edit, fetched) = state.withLock { ($0.edit, $0.file) }
            if let fetched { return fetched.url }
            if let url = source.stagedFile(of: edit) { return url }
            let file = FetchedFile()
            try await source.fetch(edit, of: objectID, to: file.url)
            return state.withLock { state in
                // Another task may have been faster.
                if state.file == nil, state.edit == edit { state.file = file }
                return state.file?.url ?? file.url
            }
        }
    }
}

/// A file that goes with the object that names it.
private final class FetchedFile: Sendable {
    let url = FileManager.default.temporaryDirectory.appending(path: "fieldwork-attachment-\(UUID().uuidString)")

    deinit { try? FileManager.default.removeItem(at: url) }
}

/// Where the attachments of a table's features are.
protocol AttachmentSource: Sendable {
    /// The attachments of a feature, with the edits on this device.
    func attachments(of feature: ArcGISFeature) async throws -> [Attachment]
    /// Keeps an edit on this device. An id of 0 stands for a new attachment.
    /// - Returns: the edit as it stands then; nil when it cancels an earlier one out.
    func stage(
        _ edit: AttachmentEdit, content: AttachmentFiles.Source?, of feature: ArcGISFeature
    ) async throws -> AttachmentEdit?
    /// The file of a content that is kept on this device until the service has it; nil for another.
    func stagedFile(of edit: AttachmentEdit) -> URL?
    /// Whether the service does not have it, or not as it is here.
    func isLocal(_ edit: AttachmentEdit) -> Bool
    /// Whether the bytes need no connection.
    func isOnDevice(_ edit: AttachmentEdit) -> Bool
    /// Fetches the bytes.
    func fetch(_ edit: AttachmentEdit, of objectID: Int64, to file: URL) async throws
}

extension AttachmentSource {
    func isLocal(_ edit: AttachmentEdit) -> Bool { stagedFile(of: edit) != nil }
    func isOnDevice(_ edit: AttachmentEdit) -> Bool { isLocal(edit) }
}
