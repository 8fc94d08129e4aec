import Foundation

/// A request to a service.
struct ServiceRequest: Sendable {
    var url: URL
    var parameters: [(name: String, value: String)]
    /// A read is tried again after a failure of the connection; a write is not, since it may have been done.
    var isRead: Bool
    /// A file that goes with the parameters; the request is then a form of several parts.
    var file: MultipartForm.File?
    /// Whether a long form is compressed: for services that say that they take that.
    var isCompressed = false
    /// Whether it goes without a token, whatever is known: what is asked anonymously is answered so.
    var isAnonymous = false

    init(_ url: URL, _ parameters: [(name: String, value: String)] = [], isRead: Bool = true) {
        self.url = url
        self.parameters = parameters
        self.isRead = isRead
    }

    /// The parameters as a form, percent-encoded.
    var form: String {
        parameters.map { "\(Self.escaped($0.name))=\(Self.escaped($0.value))" }.joined(separator: "&")
    }

    private static let plain: CharacterSet = {
        var set = CharacterSet(charactersIn: "a"..."z")
        set.insert(charactersIn: "A"..."Z")
        set.insert(charactersIn: "0"..."9")
        set.insert(charactersIn: "-._~")
        return set
    }()

    private static func escaped(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: plain) ?? ""
    }
}

/// The bytes of an answer, complete.
struct ServiceAnswer: Sendable {
    var bytes: [UInt8]
    var contentType: String?
    /// The HTTP status.
    var status = 200
    /// When the service wants to be asked again.
    var retryAfter: String?
    /// How HTTP wants to know who asks.
    var authenticate: String?
}

/// The way to services. Tests put something in between that loses answers.
protocol ServiceClient: Sendable {
    /// Sends a request and waits for the whole answer. Throws `ServiceError.connectionFailed` when there is none,
    /// `ServiceError.serverFailure` for an answer that is no success, `CancellationError`.
    func answer(to request: ServiceRequest) async throws -> ServiceAnswer

    /// Waits before something that broke off is gone on with.
    func wait(beforeAttempt attempt: Int) async throws
}

extension ServiceClient {
    func wait(beforeAttempt attempt: Int) async throws {
        try await Task.sleep(for: .milliseconds(50 << min(max(attempt, 0), 7)))
    }
}
