import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Requests as `curl` sends them. All throw when there was no whole answer, for the server was killed, or none that says what
/// became of the request; and `Busy`.
enum PlainRequest {
    /// The server says that it could not do it now, and that nothing was done.
    struct Busy: Error {}

    private static func answer(_ request: URLRequest) async throws -> Data {
        let (data, response) = try await URLSession.shared.data(for: request)
        let head = response as? HTTPURLResponse
        if head?.statusCode == 504 { throw URLError(.timedOut) }
        if head?.value(forHTTPHeaderField: "Retry-After") != nil { throw Busy() }
        return data
    }

    /// Posts a form and reads the JSON of the answer.
    static func post(_ address: String, _ form: [(String, String)]) async throws -> [String: Any] {
        guard let json = try JSONSerialization.jsonObject(with: try await data(address, form)) as? [String: Any] else {
            throw URLError(.cannotParseResponse)
        }
        return json
    }

    /// Gets the JSON of an answer and its status, also where the server says that it is busy.
    static func reply(_ address: String) async throws -> (status: Int?, json: [String: Any]) {
        guard let url = URL(string: address) else { throw URLError(.badURL) }
        let (data, response) = try await URLSession.shared.data(for: URLRequest(url: url, timeoutInterval: 300))
        guard let json = try JSONSerialization.jsonObject(with: data) as? [String: Any] else {
            throw URLError(.cannotParseResponse)
        }
        return ((response as? HTTPURLResponse)?.statusCode, json)
    }

    /// Gets a page, as a browser does.
    static func page(_ address: String) async throws -> Data {
        guard let url = URL(string: address) else { throw URLError(.badURL) }
        return try await answer(URLRequest(url: url, timeoutInterval: 300))
    }

    /// Posts bytes and reads the JSON of the answer.
    static func octets(_ address: String, _ bytes: Data) async throws -> [String: Any] {
        guard let url = URL(string: address) else { throw URLError(.badURL) }
        var request = URLRequest(url: url, timeoutInterval: 300)
        request.httpMethod = "POST"
        request.setValue("application/octet-stream", forHTTPHeaderField: "Content-Type")
        request.httpBody = Data(bytes)
        guard let json = try JSONSerialization.jsonObject(with: try await answer(request)) as? [String: Any] else {
            throw URLError(.cannotParseResponse)
        }
        return json
    }

    /// Posts a form with one file and reads the JSON of the answer.
    static func file(_ address: String, _ content: Data, field: String) async throws -> [String: Any] {
        guard let url = URL(string: address) else { throw URLError(.badURL) }
        let boundary = "fieldwork-end-to-end"
        var request = URLRequest(url: url, timeoutInterval: 300)
        request.httpMethod = "POST"
        request.setValue("multipart/form-data; boundary=\(boundary)", forHTTPHeaderField: "Content-Type")
        var body = Data("--\(boundary)\r\nContent-Disposition: form-data; name=\"f\"\r\n\r\njson\r\n".utf8)
        body += Data("--\(boundary)\r\nContent-Disposition: form-data; name=\"\(field)\"; ".utf8)
        body += Data("filename=\"bark.jpg\"\r\nContent-Type: image/jpeg\r\n\r\n".utf8)
        body += content + Data("\r\n--\(boundary)--\r\n".utf8)
        request.httpBody = body
        guard let json = try JSONSerialization.jsonObject(with: try await answer(request)) as? [String: Any] else {
            throw URLError(.cannotParseResponse)
        }
        return json
    }

    /// Gets a part of a file.
    static func part(_ address: String, _ range: String) async throws -> Data {
        guard let url = URL(string: address) else { throw URLError(.badURL) }
        var request = URLRequest(url: url, timeoutInterval: 300)
        request.setValue(range, forHTTPHeaderField: "Range")
        return try await answer(request)
    }

    static func data(_ address: String, _ form: [(String, String)]) async throws -> Data {
        guard let url = URL(string: address) else { throw URLError(.badURL) }
        var request = URLRequest(url: url, timeoutInterval: 300)
        request.httpMethod = "POST"
        request.setValue("application/x-www-form-urlencoded", forHTTPHeaderField: "Content-Type")
        let allowed = CharacterSet.alphanumerics
        request.httpBody = Data(
            form.map { "\($0)=\($1.addingPercentEncoding(withAllowedCharacters: allowed) ?? "")" }
                .joined(separator: "&").utf8)
        return try await answer(request)
    }
}

/// A folder that is gone when the test is over.
struct TemporaryFolder: ~Copyable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appending(
            path: "fieldwork-end-\(UUID().uuidString)", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }
}
