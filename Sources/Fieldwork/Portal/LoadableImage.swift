public import Foundation
import Synchronization

/// A picture of a portal, such as the thumbnail of an item. Load it to have its bytes.
///
/// What changes is behind a lock or in `Streamed`, which locks for itself.
public final class LoadableImage: Loadable, @unchecked Sendable {
    /// How far the loading has come.
    @Streamed public internal(set) var loadStatus = LoadStatus.notLoaded
    /// Where the picture lies.
    public let url: URL
    private let client: any ServiceClient
    private let loading: LoadOnce
    private let bytes = Mutex<Data?>(nil)

    init(url: URL, client: any ServiceClient) {
        self.url = url
        self.client = client
        loading = LoadOnce(status: _loadStatus)
    }

    /// Why the last attempt failed.
    public var loadError: (any Error)? { loading.error }

    /// Fetches the picture. Throws `ServiceError`.
    public func load() async throws { try await load(retries: false) }

    /// Like `load`, but starts again after a failure.
    public func retryLoad() async throws { try await load(retries: true) }

    /// Makes a load that is under way fail with `CancellationError`.
    public func cancelLoad() { loading.cancel() }

    private func load(retries: Bool) async throws {
        try await loading.load(retries: retries) { [self] in
            let answer = try await client.answer(to: ServiceRequest(url))
            guard answer.bytes.first != UInt8(ascii: "{") else {
                throw ServiceError.unknown(details: "\(Redaction.address(url)) is no picture.")
            }
            bytes.withLock { $0 = Data(answer.bytes) }
        }
    }

    /// The picture as it was fetched, PNG or JPEG as a rule; nil before it is loaded. The vendor's API has a picture of its
    /// platform here.
    public var data: Data? { bytes.withLock { $0 } }
}
