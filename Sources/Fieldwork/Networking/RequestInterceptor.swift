public import Foundation

/// Sees each request before it is sent and what came of it: for headers that a gateway wants, for counting, for tests. Set
/// interceptors with `ArcGISEnvironment.urlSession`. Not part of the vendor's API.
public protocol RequestInterceptor: Sendable {
    /// May change a request, before each attempt. What it throws is thrown to who asked, and nothing is sent.
    func willSend(_ request: inout OutgoingRequest) async throws
    /// Sees what came of an attempt.
    func didFinish(_ record: RequestRecord) async
}

extension RequestInterceptor {
    /// Leaves the request as it is.
    public func willSend(_ request: inout OutgoingRequest) async throws {}
    /// Looks away.
    public func didFinish(_ record: RequestRecord) async {}
}

/// A request on its way out.
public struct OutgoingRequest: Sendable {
    /// The address, without the parameters.
    public var url: URL
    /// The parameters, which go into the address or into the body.
    public var parameters: [(name: String, value: String)]
    /// Headers besides those that the SDK sets; of two with one name the last holds.
    public var headers: [(name: String, value: String)] = []
    /// Whether it only reads, and so may be sent again.
    public let isRead: Bool

    init(url: URL, parameters: [(name: String, value: String)], isRead: Bool) {
        self.url = url
        self.parameters = parameters
        self.isRead = isRead
    }
}

/// What came of one attempt of a request. It holds no secrets: it may be written to a log.
public struct RequestRecord: Sendable, Hashable {
    /// The address with its parameters; of those that are not the protocol's own, the name alone. Of a request that writes it is
    /// the address without parameters.
    public let address: String
    /// Which attempt it was, from 1.
    public let attempt: Int
    /// The HTTP status of the answer; nil when there was none.
    public let status: Int?
    /// How many bytes the answer had, decompressed.
    public let bytes: Int
    /// How long it took.
    public let duration: Duration
    /// Why there was no answer; nil when there was one.
    public let failure: String?
}
