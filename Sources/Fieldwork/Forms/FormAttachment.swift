public import Foundation
import Synchronization

/// An attachment as a form shows it: one that the feature has, or one that is staged. Load it to have its bytes in a file.
///
/// What changes is behind a lock or in `Streamed`, which locks for itself.
public final class FormAttachment: Loadable, @unchecked Sendable {
    /// What the content is for people.
    public enum Kind: Sendable {
        /// A picture, a film, a text or the like, a sound, anything else.
        case image, video, document, audio, other
    }

    enum Content: Sendable {
        /// One that the feature has.
        case kept(Attachment)
        /// One that `finishEditing` adds.
        case staged(StagedAttachment)
    }

    /// How far the loading has come.
    @Streamed public internal(set) var loadStatus = LoadStatus.notLoaded
    let content: Content
    private let loading: LoadOnce
    private let rename = Mutex<String?>(nil)
    private let stagedFile = Mutex<StagedFile?>(nil)
    @Streamed private var file: URL?

    convenience init(_ attachment: Attachment) { self.init(.kept(attachment)) }

    convenience init(_ attachment: StagedAttachment) { self.init(.staged(attachment)) }

    private init(_ content: Content) {
        self.content = content
        loading = LoadOnce(status: _loadStatus)
    }

    // MARK: What it is

    /// The name of the file. Another one is staged until the form's `finishEditing`.
    public var name: String {
        get {
            switch content {
            case .kept(let attachment): rename.withLock { $0 } ?? attachment.name
            case .staged(let attachment): attachment.name
            }
        }
        set {
            switch content {
            case .kept(let attachment): rename.withLock { $0 = newValue == attachment.name ? nil : newValue }
            case .staged(let attachment): attachment.name = newValue
            }
        }
    }

    /// The type of the content, as a rule a MIME type.
    public var contentType: String {
        switch content {
        case .kept(let attachment): attachment.contentType
        case .staged(let attachment): attachment.contentType
        }
    }

    /// How large the content is.
    public var size: Measurement<UnitInformationStorage> {
        let bytes: Int
        switch content {
        case .kept(let attachment): bytes = attachment.size
        case .staged(let attachment): bytes = attachment.data.count
        }
        return Measurement(value: Double(bytes), unit: .bytes)
    }

    /// What the content is for people.
    public var kind: Kind {
        let type = contentType.lowercased()
        if type.hasPrefix("audio/") { return .audio }
        switch PopupAttachment.Kind(contentType: type) {
        case .image: return .image
        case .video: return .video
        case .document: return .document
        case .other: return .other
        }
    }

    /// Whether the service does not have it, or not as it is here.
    public var isLocal: Bool {
        switch content {
        case .kept(let attachment): attachment.isLocal
        case .staged: true
        }
    }

    /// The file with the bytes; nil before it is loaded. It is there as long as this object.
    public var fileURL: URL? { file }

    // MARK: Loading

    /// Why the last attempt failed.
    public var loadError: (any Error)? { loading.error }
    /// Brings the bytes into a file. Throws `ServiceError`; `CommonError.io`.
    public func load() async throws { try await load(retries: false) }
    /// Like `load`, but starts again after a failure.
    public func retryLoad() async throws { try await load(retries: true) }
    /// Makes a load that is under way fail with `CancellationError`.
    public func cancelLoad() { loading.cancel() }

    private func load(retries: Bool) async throws {
        try await loading.load(retries: retries) { [self] in
            switch content {
            case .kept(let attachment): file = try await attachment.fileURL
            case .staged(let attachment):
                let written = try StagedFile(attachment.data)
                stagedFile.withLock { $0 = written }
                file = written.url
            }
        }
    }

    // MARK: The form

    /// The name that is staged; nil for none.
    var newName: String? { rename.withLock { $0 } }

    /// The staged name is kept, or forgotten.
    func keepName() { rename.withLock { $0 = nil } }

    /// Whether it shows an attachment of the feature, as that is now.
    func shows(_ other: Attachment) -> Bool {
        guard case .kept(let attachment) = content else { return false }
        return attachment.id == other.id && attachment.edit == other.edit
    }
}

/// A file that goes with the object that names it.
private final class StagedFile: Sendable {
    let url = FileManager.default.temporaryDirectory.appending(path: "fieldwork-staged-\(UUID().uuidString)")

    init(_ data: Data) throws {
        do { try data.write(to: url) } catch {
            throw CommonError.io(details: "The attachment can't be written to a file: \(error)")
        }
    }

    deinit { try? FileManager.default.removeItem(at: url) }
}
