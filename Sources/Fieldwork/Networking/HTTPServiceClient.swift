import AsyncHTTPClient
import FieldworkREST
import Foundation
import NIOCore
import NIOHTTP1

/// Requests over HTTP: GET while the address is short, else a form by POST; gzip both ways; reads are tried again.
struct HTTPServiceClient: ServiceClient {
    /// Longer addresses are refused by some servers and proxies.
    private static let addressLengthMax = 1_800

    /// One pool of connections for the process. It is never shut down: it lives as long as the process.
    static let http: HTTPClient = {
        var configuration = HTTPClient.Configuration.singletonConfiguration
        // A server that refuses connections is away now; the caller decides when to ask again.
        configuration.connectionPool.retryConnectionEstablishment = false
        // Answers are expanded here, up to the bytes that an answer may have, however much they shrank.
        configuration.decompression = .disabled
        configuration.timeout = .init(connect: .seconds(Limits.connectSeconds), read: .seconds(Limits.requestSeconds))
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }()

    /// Waits between attempts.
    var pause: @Sendable (_ attempt: Int) async throws -> Void = { attempt in
        try await Task.sleep(for: .milliseconds(100 << attempt))
    }

    func answer(to request: ServiceRequest) async throws -> ServiceAnswer {
        var attempt = 0
        while true {
            attempt += 1
            do {
                return try await send(request)
            } catch let error as ServiceError {
                guard case .connectionFailed = error, request.isRead, attempt < Limits.readAttempts else { throw error }
                try await pause(attempt)
            }
        }
    }

    private func send(_ request: ServiceRequest) async throws -> ServiceAnswer {
        do {
            let response = try await Self.http.execute(
                Self.request(for: request), timeout: .seconds(Self.seconds(for: request)))
            let body = try await response.body.collect(upTo: Limits.answerBytes)
            var bytes = Array(body.readableBytesView)
            if response.headers.first(name: "Content-Encoding")?.lowercased() == "gzip" {
                bytes = try GzipReader.expanded(bytes, maximum: Limits.answerBytes)
            }
            let contentType = response.headers.first(name: "Content-Type")
            let answer = ServiceAnswer(bytes: bytes, contentType: contentType)
            try Self.check(response.status, answer)
            return answer
        } catch let error as ServiceError {
            throw error
        } catch {
            if Task.isCancelled || error is CancellationError { throw CancellationError() }
            throw ServiceError.connectionFailed(
                details: "\(request.url.host() ?? "The service") gave no complete answer: \(error)")
        }
    }

    private static func seconds(for request: ServiceRequest) -> Int64 {
        Limits.requestSeconds + (request.file?.size ?? 0) / Limits.slowestBytesPerSecond
    }

    private static func request(for request: ServiceRequest) throws -> HTTPClientRequest {
        let form = request.form
        let address = request.url.absoluteString
        var result: HTTPClientRequest
        if let file = request.file {
            let form = MultipartForm(request.parameters, file: file)
            result = HTTPClientRequest(url: address)
            result.method = .POST
            result.headers.add(name: "Content-Type", value: form.contentType)
            result.body = .stream(form, length: .known(form.length))
        } else if request.isRead, address.utf8.count + form.utf8.count < addressLengthMax {
            result = HTTPClientRequest(url: form.isEmpty ? address : "\(address)?\(form)")
        } else {
            result = HTTPClientRequest(url: address)
            result.method = .POST
            result.headers.add(name: "Content-Type", value: "application/x-www-form-urlencoded")
            if request.isCompressed, form.utf8.count >= Limits.compressedRequestBytes {
                result.headers.add(name: "Content-Encoding", value: "gzip")
                result.body = .bytes(ByteBuffer(bytes: try GzipStream.compressed(Array(form.utf8))))
            } else {
                result.body = .bytes(ByteBuffer(string: form))
            }
        }
        result.headers.add(name: "Accept-Encoding", value: "gzip")
        result.headers.add(name: "User-Agent", value: "Fieldwork")
        return result
    }

    /// The protocol says what went wrong in the body, with status 200 as a rule: a status speaks only without one. A
    /// gateway that answers for a service that is down counts as no answer.
    private static func check(_ status: HTTPResponseStatus, _ answer: ServiceAnswer) throws {
        guard !(200..<300).contains(status.code), answer.bytes.first != UInt8(ascii: "{") else { return }
        if [502, 503, 504].contains(status.code) {
            throw ServiceError.connectionFailed(details: "The service is not available (status \(status.code)).")
        }
        throw ServiceError.serverFailure(details: "The service answered with status \(status.code).")
    }
}
