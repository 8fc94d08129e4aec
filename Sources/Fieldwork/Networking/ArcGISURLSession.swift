public import Foundation

/// How the SDK reaches services: settings, and who sees the requests. The session of the process is
/// `ArcGISEnvironment.urlSession`; a new one holds from the next request on.
public final class ArcGISURLSession: Sendable {
    /// The way to services and how long is waited.
    public let settings: NetworkSettings
    /// What sees each request and each answer, in this order.
    public let interceptors: [any RequestInterceptor]

    /// A session of an app's own.
    public init(settings: NetworkSettings = NetworkSettings(), interceptors: [any RequestInterceptor] = []) {
        self.settings = settings
        self.interceptors = interceptors
    }

    /// What came with the bytes of an answer.
    public struct Response: Sendable, Hashable {
        /// The HTTP status.
        public let statusCode: Int
        /// The media type that the server tells.
        public let mimeType: String?
    }

    /// The bytes at an address, up to 256 MiB, over this session's way and past its interceptors.
    /// - Throws: `ServiceError.connectionFailed` when there is no answer, `ServiceError.serverFailure` for a status that is no
    ///   success and has no JSON, `CancellationError`.
    public func data(from url: URL) async throws -> (Data, Response) {
        let answer = try await HTTPServiceClient(ownSession: self).answer(to: ServiceRequest(url))
        return (Data(answer.bytes), Response(statusCode: answer.status, mimeType: answer.contentType))
    }

    /// Sends a form once and gives the answer's bytes, over this session's way. Throws `ServiceError`, and what signing in
    /// throws.
    package func post(_ form: [(name: String, value: String)], to url: URL) async throws -> [UInt8] {
        try await HTTPServiceClient(ownSession: self).answer(to: ServiceRequest(url, form, isRead: false)).bytes
    }

    /// The request as it leaves, changed by the interceptors.
    func prepared(_ request: ServiceRequest) async throws -> OutgoingRequest {
        var outgoing = OutgoingRequest(url: request.url, parameters: request.parameters, isRead: request.isRead)
        for interceptor in interceptors { try await interceptor.willSend(&outgoing) }
        return outgoing
    }
}
