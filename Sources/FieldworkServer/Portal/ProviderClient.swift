import AsyncHTTPClient
import FieldworkGeometry
import Foundation
import NIOCore
import NIOHTTP1
import NIOSSL

/// Why a provider could not be asked, or what it answered can't be used. The words are for the operator's log; people learn that
/// the sign-in did not work.
struct ProviderFailure: Error, Sendable, CustomStringConvertible {
    enum Kind: Sendable, Hashable {
        /// It does not answer, or not in time, or not what the protocol says.
        case unavailable
        /// It says that the sign-in is not good, or its token is not.
        case refused
        case busy
    }

    var kind: Kind
    var description: String

    init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }
}

/// Asks a provider: with limits on the time and on the bytes of each answer, and following no redirect anywhere.
actor ProviderClient {
    private let authorities: URL?
    private let patience: Duration
    /// Made with the first request.
    private var http: HTTPClient?
    private var underWay = 0
    private var isClosed = false

    init(authorities: URL?, patience: Duration) {
        self.authorities = authorities
        self.patience = patience
    }

    func get(_ address: ProviderAddress) async throws -> JSONObject {
        try await send(HTTPClientRequest(url: address.text))
    }

    func post(
        _ form: [(String, String)], to address: ProviderAddress, authorization: String?
    ) async throws -> JSONObject {
        var request = HTTPClientRequest(url: address.text)
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/x-www-form-urlencoded")
        if let authorization { request.headers.add(name: "Authorization", value: authorization) }
        request.body = .bytes(ByteBuffer(string: AuthorizationRequest.query(form)))
        return try await send(request)
    }

    func close() async {
        isClosed = true
        try? await http?.shutdown()
        http = nil
    }

    private func send(_ plain: HTTPClientRequest) async throws -> JSONObject {
        guard underWay < Limits.providerRequests else {
            throw ProviderFailure(.busy, "\(Limits.providerRequests) requests wait for the provider already.")
        }
        underWay += 1
        defer { underWay -= 1 }
        let client = try client()
        var request = plain
        request.headers.add(name: "Accept", value: "application/json")
        request.headers.add(name: "User-Agent", value: "Fieldwork")
        do {
            return try await withThrowingTaskGroup(of: JSONObject.self) { [request, patience] group in
                group.addTask { try await Self.answer(of: client, request, patience) }
                group.addTask {
                    try await Task.sleep(for: patience)
                    throw ProviderFailure(.unavailable, "\(request.url) did not answer within \(patience).")
                }
                defer { group.cancelAll() }
                guard let first = try await group.next() else {
                    throw ProviderFailure(.unavailable, "\(request.url) was not asked.")
                }
                return first
            }
        } catch let error as ProviderFailure {
            throw error
        } catch let error as CancellationError {
            throw error
        } catch {
            throw ProviderFailure(.unavailable, "\(plain.url) does not answer: \(error)")
        }
    }

    private static func answer(
        of client: HTTPClient, _ request: HTTPClientRequest, _ patience: Duration
    ) async throws -> JSONObject {
        let response = try await client.execute(request, deadline: .now() + TimeAmount(patience))
        let buffer: ByteBuffer
        do {
            buffer = try await response.body.collect(upTo: Limits.providerBytes)
        } catch is NIOTooManyBytesError {
            throw ProviderFailure(
                .unavailable, "\(request.url) answers with more than \(Limits.providerBytes) bytes.")
        }
        let json = (try? JSONParser.parse(Array(buffer.readableBytesView)))?.objectValue
        guard response.status == .ok else {
            let reason = json?["error"]?.stringValue.map { ": \($0.prefix(200))" } ?? ""
            let isRefusal = (400..<500).contains(response.status.code) && json?["error"] != nil
            throw ProviderFailure(
                isRefusal ? .refused : .unavailable, "\(request.url) answers \(response.status.code)\(reason)")
        }
        guard let json else { throw ProviderFailure(.unavailable, "\(request.url) answers with no object in JSON.") }
        return json
    }

    private func client() throws -> HTTPClient {
        if let http { return http }
        guard !isClosed else { throw ProviderFailure(.unavailable, "The server is being stopped.") }
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        configuration.timeout = .init(connect: TimeAmount(patience), read: TimeAmount(patience))
        if let authorities {
            var tls = TLSConfiguration.makeClientConfiguration()
            do {
                tls.additionalTrustRoots = [.certificates(try NIOSSLCertificate.fromPEMFile(authorities.path))]
            } catch {
                throw ProviderFailure(.unavailable, "\(authorities.path) holds no certificates in PEM.")
            }
            configuration.tlsConfiguration = tls
        }
        let made = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        http = made
        return made
    }
}
