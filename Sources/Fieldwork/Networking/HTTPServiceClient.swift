import AsyncHTTPClient
import FieldworkREST
import Foundation
import Logging
import NIOCore
import NIOHTTP1

/// Requests over HTTP: GET while the address is short, else a form by POST; gzip both ways; reads are tried again.
struct HTTPServiceClient: ServiceClient {
    /// Waits between attempts.
    var pause: @Sendable (_ duration: Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    /// What holds for this client alone; nil for what holds in the process.
    var ownSession: ArcGISURLSession?
    /// Told of each attempt, at level debug.
    var logger = Logger(label: "fieldwork.network")
    /// Lets services know who asks; nil for requests that are made before there is a token.
    var authentication: AuthenticationManager? = ArcGISEnvironment.authenticationManager

    var session: ArcGISURLSession { ownSession ?? ArcGISEnvironment.urlSession }

    func answer(to request: ServiceRequest) async throws -> ServiceAnswer {
        guard let authentication, !request.isAnonymous else { return try await attempts(request, []).success() }
        return try await authentication.exchange(request.url) { authorization in
            let answer = try await attempts(request, authentication.headers(authorization, for: request.url))
            return Reply(
                result: Result { try answer.success() },
                refusal: Reply.Refusal(
                    answer.bytes, status: answer.status, authenticate: answer.authenticate,
                    isAnonymous: authorization == nil))
        }
    }

    /// - Parameter secrets: headers that tell who asks.
    private func attempts(
        _ request: ServiceRequest, _ secrets: [(name: String, value: String)]
    ) async throws -> ServiceAnswer {
        let session = session
        var attempt = 0
        while true {
            attempt += 1
            do {
                return try await Exchange(request, secrets, attempt: attempt, session: session, logger: logger).answer()
            } catch let failure as Exchange.NoAnswer {
                guard request.isRead, attempt < session.settings.readAttempts,
                    let pause = RetryPolicy.pause(after: attempt, retryAfter: failure.retryAfter)
                else { return try failure.result.get() }
                try await self.pause(pause)
            }
        }
    }
}

/// One attempt of a request.
struct Exchange: Sendable {
    /// There is no answer, or only one of a service that is too busy: another attempt may bring one.
    struct NoAnswer: Error {
        /// What the caller gets when there is no other attempt: an error of the protocol speaks for itself.
        var result: Result<ServiceAnswer, ServiceError>
        var retryAfter: Duration?
    }

    private let request: ServiceRequest
    private let secrets: [(name: String, value: String)]
    private let attempt: Int
    private let session: ArcGISURLSession
    private let logger: Logger

    init(
        _ request: ServiceRequest, _ secrets: [(name: String, value: String)], attempt: Int, session: ArcGISURLSession,
        logger: Logger
    ) {
        self.request = request
        self.secrets = secrets
        self.attempt = attempt
        self.session = session
        self.logger = logger
    }

    func answer() async throws -> ServiceAnswer {
        let outgoing = try await session.prepared(request)
        let watch = RequestWatch(outgoing, attempt: attempt, session: session, logger: logger)
        let host = outgoing.url.host() ?? ""
        do {
            let answer = try await withDeadline(limit) { try await receive(outgoing, host) }
            await watch.finish(status: answer.status, bytes: answer.bytes.count)
            return try checked(answer)
        } catch let error as NoAnswer {
            throw error
        } catch let error as ServiceError {
            throw error
        } catch {
            if Task.isCancelled || error is CancellationError { throw CancellationError() }
            let reason =
                (error as? DeadlineExceeded).map { "it took longer than \($0.limit)" } ?? Redaction.reason(error)
            await watch.finish(failure: reason)
            let name = host.isEmpty ? "The service" : host
            let failure = reason.hasPrefix("Connection refused") ? "can't be reached" : "gave no complete answer"
            throw NoAnswer(result: .failure(.connectionFailed(details: "\(name) \(failure): \(reason)")))
        }
    }

    private var limit: Duration {
        session.settings.requestTimeout + .seconds((request.file?.size ?? 0) / Limits.slowestBytesPerSecond)
    }

    private func receive(_ outgoing: OutgoingRequest, _ host: String) async throws -> ServiceAnswer {
        let response = try await Redirection.execute(
            message(of: outgoing, isCompressed: isCompressed(host)), session.settings)
        let body = try await response.body.collect(upTo: Limits.answerBytes)
        var bytes = Array(body.readableBytesView)
        // Expanded here, up to the bytes that an answer may have, however much they shrank.
        if response.headers.first(name: "Content-Encoding")?.lowercased() == "gzip" {
            bytes = try GzipReader.expanded(bytes, maximum: Limits.answerBytes)
        }
        return ServiceAnswer(
            bytes: bytes, contentType: response.headers.first(name: "Content-Type"),
            status: Int(response.status.code), retryAfter: response.headers.first(name: "Retry-After"),
            authenticate: response.headers.first(name: "WWW-Authenticate"))
    }

    /// Whether the answer may come in gzip. One that can't be expanded is asked for as it is, when the request may be sent
    /// again.
    private func isCompressed(_ host: String) -> Bool {
        guard attempt == 1 else { return false }
        return switch session.settings.compression {
        case .always: true
        case .never: false
        case .automatic: !["localhost", "127.0.0.1", "::1", "[::1]"].contains(host)
        }
    }

    private func message(of outgoing: OutgoingRequest, isCompressed: Bool) throws -> HTTPClientRequest {
        var message = HTTPClientRequest(url: outgoing.url.absoluteString)
        if let file = request.file {
            let form = MultipartForm(outgoing.parameters, file: file)
            message.method = .POST
            message.headers.add(name: "Content-Type", value: form.contentType)
            message.body = .stream(form, length: .known(form.length))
        } else {
            let form = ServiceRequest(outgoing.url, outgoing.parameters).form
            let address = outgoing.address(with: form)
            if request.isRead, address.utf8.count < Limits.addressLength {
                message.url = address
            } else {
                message.method = .POST
                message.headers.add(name: "Content-Type", value: "application/x-www-form-urlencoded")
                if request.isCompressed, form.utf8.count >= Limits.compressedRequestBytes {
                    message.headers.add(name: "Content-Encoding", value: "gzip")
                    message.body = .bytes(ByteBuffer(bytes: try GzipStream.compressed(Array(form.utf8))))
                } else {
                    message.body = .bytes(ByteBuffer(string: form))
                }
            }
        }
        message.headers.add(name: "Accept-Encoding", value: isCompressed ? "gzip" : "identity")
        message.add(outgoing.headers)
        message.addSecrets(secrets)
        return message
    }

    /// The protocol says what went wrong in the body, with status 200 as a rule: a status speaks only without one. A
    /// gateway that answers for a service that is down counts as no answer.
    private func checked(_ answer: ServiceAnswer) throws -> ServiceAnswer {
        let isJSON = answer.bytes.first == UInt8(ascii: "{")
        if RetryPolicy.busyStatuses.contains(UInt(answer.status)) {
            let pause = RetryPolicy.retryAfter(answer.retryAfter, now: Date.now)
            let details = "The service is not available (status \(answer.status))."
            let error: ServiceError =
                answer.status == 429
                ? .serverFailure(details: details, code: 429) : .connectionFailed(details: details)
            throw NoAnswer(result: isJSON ? .success(answer) : .failure(error), retryAfter: pause)
        }
        // So a service tells in the protocol's way that it is too busy.
        if isJSON, let pause = RetryPolicy.retryAfter(answer.retryAfter, now: Date.now) {
            throw NoAnswer(result: .success(answer), retryAfter: pause)
        }
        return answer
    }
}

extension ServiceAnswer {
    /// The answer, unless its status alone says that it is none.
    fileprivate func success() throws -> ServiceAnswer {
        guard !(200..<300).contains(status), bytes.first != UInt8(ascii: "{") else { return self }
        throw ServiceError.serverFailure(details: "The service answered with status \(status).", code: status)
    }
}

extension AuthenticationManager {
    /// The headers that tell who asks.
    func headers(_ authorization: Authorization?, for url: URL) -> [(name: String, value: String)] {
        let network = networkHeader(for: url).map { [(name: "Authorization", value: $0)] } ?? []
        return (authorization?.headers ?? []) + network
    }
}

extension OutgoingRequest {
    /// The address with more in its query.
    func address(with form: String) -> String {
        let address = url.absoluteString
        return form.isEmpty ? address : "\(address)\(address.contains("?") ? "&" : "?")\(form)"
    }
}

extension HTTPClientRequest {
    /// Adds the SDK's name and the headers of interceptors.
    mutating func add(_ others: [(name: String, value: String)]) {
        headers.add(name: "User-Agent", value: "Fieldwork")
        for (name, value) in others { headers.replaceOrAdd(name: name, value: value) }
    }

    /// Adds what tells who asks, past the interceptors: they may be written to a log. An app's own headers stay.
    mutating func addSecrets(_ others: [(name: String, value: String)]) {
        for (name, value) in others where !headers.contains(name: name) { headers.add(name: name, value: value) }
    }
}
