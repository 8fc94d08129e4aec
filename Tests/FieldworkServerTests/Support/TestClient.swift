import AsyncHTTPClient
import FieldworkGeometry
import Foundation
import NIOCore
import NIOHTTP1

/// A client as a stranger writes it: addresses and bodies as text, answers as bytes.
struct TestClient: Sendable {
    var base: String

    struct Answer: Sendable {
        var status: Int
        var headers: HTTPHeaders
        var body: [UInt8]

        /// The values of a header field, joined as HTTP allows.
        func header(_ name: String) -> String? {
            let values = headers[name]
            return values.isEmpty ? nil : values.joined(separator: ", ")
        }

        var text: String { String(decoding: body, as: UTF8.self) }
        var json: JSONValue {
            get throws { try JSONParser.parse(body) }
        }
        /// The code of the protocol's error; nil when the answer is none.
        var errorCode: Int? { (try? json)?["error"]?["code"]?.integerValue.map(Int.init) }
    }

    /// Not the library's shared client, which takes compression off and follows redirects before a test sees them.
    static let http = HTTPClient(configuration: HTTPClient.Configuration(redirectConfiguration: .disallow))

    static let answerBytesMax = 256 * 1_024 * 1_024

    /// - Parameters:
    ///   - path: below `base`, or from the root of the server when it starts with a slash.
    ///   - announcesLength: whether the head of the request says how long the body is; otherwise it goes in chunks.
    func send(
        _ method: String, _ path: String, headers: [(String, String)] = [], body: [UInt8]? = nil,
        announcesLength: Bool = true
    ) async throws -> Answer {
        var request = HTTPClientRequest(url: address(path))
        request.method = HTTPMethod(rawValue: method)
        request.headers = HTTPHeaders(headers)
        if let body { request.body = announcesLength ? .bytes(body) : .bytes(body, length: .unknown) }
        let response: HTTPClientResponse
        do {
            response = try await Self.http.execute(request, timeout: .seconds(300))
        } catch  where method == "GET" && Self.isOfOldConnection(error) {
            // The client may still have had a connection to a server of another test, which had this port and has just ended, or
            // one that this server has just closed.
            response = try await Self.http.execute(request, timeout: .seconds(300))
        }
        var bytes: [UInt8] = []
        for try await piece in response.body {
            bytes.append(contentsOf: piece.readableBytesView)
            precondition(bytes.count <= Self.answerBytesMax, "The answer does not end.")
        }
        return Answer(status: Int(response.status.code), headers: response.headers, body: bytes)
    }

    /// Whether a request went out on a kept connection that the other side had closed already.
    private static func isOfOldConnection(_ error: any Error) -> Bool {
        if let error = error as? ChannelError, case .ioOnClosedChannel = error { return true }
        return (error as? HTTPClientError) == .remoteConnectionClosed
    }

    func get(_ path: String, _ parameters: KeyValuePairs<String, String> = [:], headers: [(String, String)] = [])
        async throws -> Answer
    {
        try await send("GET", parameters.isEmpty ? path : "\(path)?\(Self.form(parameters))", headers: headers)
    }

    /// Posts a form as it stands.
    func post(_ path: String, body: String, headers: [(String, String)] = []) async throws -> Answer {
        try await send(
            "POST", path, headers: headers + [("Content-Type", "application/x-www-form-urlencoded")],
            body: Array(body.utf8))
    }

    func post(_ path: String, _ parameters: KeyValuePairs<String, String>, headers: [(String, String)] = [])
        async throws -> Answer
    {
        try await post(path, body: Self.form(parameters), headers: headers)
    }

    /// Posts as the vendor's Python client does.
    func postMultipart(_ path: String, _ parameters: KeyValuePairs<String, String>) async throws -> Answer {
        let boundary = "fieldwork-test-boundary"
        var text = ""
        for (name, value) in parameters {
            text += "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(name)\"\r\n\r\n\(value)\r\n"
        }
        text += "--\(boundary)--\r\n"
        return try await send(
            "POST", path, headers: [("Content-Type", "multipart/form-data; boundary=\(boundary)")],
            body: Array(text.utf8))
    }

    static func form(_ parameters: KeyValuePairs<String, String>) -> String {
        parameters.map { "\(escape($0.key))=\(escape($0.value))" }.joined(separator: "&")
    }

    static func escape(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    }

    private func address(_ path: String) -> String {
        guard path.hasPrefix("/"), let root = URL(string: base), let host = root.host, let port = root.port else {
            return "\(base)/\(path)"
        }
        return "http://\(host):\(port)\(path)"
    }
}
