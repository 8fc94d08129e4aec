import FieldworkREST
import FieldworkStore
import Foundation

/// Where uploads are kept until they are used or have expired: a folder beside the files of a store, or its database. What a
/// call has acknowledged outlives the process.
protocol UploadKeeper: Sendable {
    /// Where files of forms are received: a folder of this machine.
    var incoming: URL { get }

    // MARK: Items

    /// Keeps a new upload.
    func keep(_ item: UploadItem) async throws
    /// An upload that has not expired; nil when there is none.
    func item(_ id: String, now: Date) async throws -> UploadItem?
    func remove(_ id: String) async throws
    /// Keeps an upload that came in one piece.
    func keep(_ item: UploadItem, content file: ReceivedFile) async throws -> UploadItem
    /// The file of a complete upload on this machine, for as long as it is held.
    func file(of item: UploadItem) async throws -> FetchedUpload?

    // MARK: Parts

    /// The same part again replaces the one that is there.
    func keepPart(_ number: Int, _ file: ReceivedFile, of item: UploadItem) async throws
    /// The numbers of the parts that are there, in their order.
    func parts(of item: UploadItem) async throws -> [Int]
    /// How many bytes are there without a gap from the first one on: where the client goes on.
    func received(of item: UploadItem) async throws -> Int
    /// Takes what comes now.
    func beginStretch(of item: UploadItem, at offset: Int) async throws -> any UploadStretchSink
    /// Joins parts, or stretches where there are any, to the content. A commit that was done before gives what it gave.
    /// - Parameter numbers: nil for all that is there.
    func commit(_ item: UploadItem, parts numbers: [Int]?, as announced: UploadAnnouncement) async throws -> UploadItem

    // MARK: Room

    /// How many uploads there are.
    func count() async throws -> Int
    /// Removes uploads that have expired, and what broken requests left.
    func sweep(now: Date) async throws
}

/// A stretch that is arriving. It stays where it is, complete or not.
protocol UploadStretchSink: Sendable {
    func write(_ bytes: [UInt8]) async throws
    /// Has all that was written where it stays, also when its request broke.
    func finish() async throws
}

/// What a client says of the content that it has sent.
struct UploadAnnouncement: Sendable {
    var size: Int?
    var sha256: String?

    func names(_ content: UploadItem.Content) -> Bool {
        (size ?? content.size) == content.size && (sha256?.lowercased() ?? content.sha256) == content.sha256
    }

    /// What a client is told whose content is another.
    static func refusal(_ content: UploadItem.Content) -> ServiceError {
        ServiceError(
            code: 409, message: "The upload is not what was announced.",
            details: ["\(content.size) bytes have arrived, with the SHA-256 \(content.sha256)."])
    }
}

/// The content of an upload in a file of this machine, which goes with its last reference when it was made for that.
final class FetchedUpload: Sendable {
    let file: UploadedFile
    private let copy: URL?

    /// - Parameter copy: a file that was made for this request alone.
    init(_ file: UploadedFile, copy: URL? = nil) {
        self.file = file
        self.copy = copy
    }

    deinit {
        if let copy { try? FileManager.default.removeItem(at: copy) }
    }
}
