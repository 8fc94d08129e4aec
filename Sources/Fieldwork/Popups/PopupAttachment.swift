public import Foundation

/// An attachment as a pop-up shows it. Load it to have its bytes in a file.
public final class PopupAttachment: Loadable, @unchecked Sendable {
    // What changes is in `Streamed`, which locks for itself.

    /// What the content is for people.
    public enum Kind: Sendable {
        /// A picture, a film, a text or the like, anything else.
        case image, video, document, other
    }

    /// How far the loading has come.
    @Streamed public internal(set) var loadStatus = LoadStatus.notLoaded
    /// The feature's attachment.
    public let attachment: Attachment
    private let loading: LoadOnce
    @Streamed private var file: URL?

    init(_ attachment: Attachment) {
        self.attachment = attachment
        loading = LoadOnce(status: _loadStatus)
    }

    /// The name of the file.
    public var name: String { attachment.name }
    /// The type of the content, as a rule a MIME type.
    public var contentType: String { attachment.contentType }
    /// Bytes of the content.
    public var size: Int { attachment.size }
    /// Whether the service does not have it, or not as it is here.
    public var isLocal: Bool { attachment.isLocal }
    /// What the content is for people.
    public var kind: Kind { Kind(contentType: contentType) }
    /// The file with the bytes; nil before it is loaded. It is there as long as this object.
    public var fileURL: URL? { file }

    /// Why the last attempt failed.
    public var loadError: (any Error)? { loading.error }
    /// Fetches the bytes into a file.
    public func load() async throws { try await load(retries: false) }
    /// Like `load`, but starts again after a failure.
    public func retryLoad() async throws { try await load(retries: true) }
    /// Makes a load that is under way fail with `CancellationError`.
    public func cancelLoad() { loading.cancel() }

    private func load(retries: Bool) async throws {
        try await loading.load(retries: retries) { [self] in file = try await attachment.fileURL }
    }
}

extension PopupAttachment.Kind {
    init(contentType: String) {
        let type = contentType.lowercased().prefix { $0 != ";" }
        let documents = ["pdf", "msword", "officedocument", "opendocument", "ms-excel", "ms-powerpoint", "rtf", "json"]
        self =
            if type.hasPrefix("image/") {
                .image
            } else if type.hasPrefix("video/") {
                .video
            } else if type.hasPrefix("text/") || documents.contains(where: type.contains) {
                .document
            } else {
                .other
            }
    }
}

extension AttachmentsPopupElement {
    /// The attachments that the element means, those included that were staged on this device: all, or those with one of
    /// its keywords. Throws `ServiceError` when the service can't be asked.
    public var attachments: [PopupAttachment] {
        get async throws {
            guard let feature else { return [] }
            let meant = Set(keywords)
            return try await feature.attachments
                .filter { meant.isEmpty || meant.contains($0.keywords) }
                .map(PopupAttachment.init)
        }
    }
}
