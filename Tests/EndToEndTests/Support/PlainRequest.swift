import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Requests as `curl` sends them.
enum PlainRequest {
    /// Posts a form and reads the JSON of the answer. Throws when there was no whole answer: the server was killed.
    static func post(_ address: String, _ form: [(String, String)]) async throws -> [String: Any] {
        guard let json = try JSONSerialization.jsonObject(with: try await data(address, form)) as? [String: Any] else {
            throw URLError(.cannotParseResponse)
        }
        return json
    }

    /// Gets a page, as a browser does.
    static func page(_ address: String) async throws -> Data {
        guard let url = URL(string: address) else { throw URLError(.badURL) }
        return try await URLSession.shared.data(for: URLRequest(url: url, timeoutInterval: 20)).0
    }

    /// Posts bytes and reads the JSON of the answer.
    static func octets(_ address: String, _ bytes: Data) async throws -> [String: Any] {
        guard let url = URL(string: address) else { throw URLError(.badURL) }
        var request = URLRequest(url: url, timeoutInterval: 20)
        request.httpMethod = "POST"
        request.setValue("application/octet-stream", forHTTPHeaderField: "Content-Type")
        request.httpBody = Data(bytes)
        let answer = try await URLSession.shared.data(for: request).0
        guard let json = try JSONSerialization.jsonObject(with: answer) as? [String: Any] else {
            throw URLError(.cannotParseResponse)
        }
        return json
    }

    /// Gets a part of a file.
    static func part(_ address: String, _ range: String) async throws -> Data {
        guard let url = URL(string: address) else { throw URLError(.badURL) }
        var request = URLRequest(url: url, timeoutInterval: 20)
        request.setValue(range, forHTTPHeaderField: "Range")
        return try await URLSession.shared.data(for: request).0
    }

    static func data(_ address: String, _ form: [(String, String)]) async throws -> Data {
        guard let url = URL(string: address) else { throw URLError(.badURL) }
        var request = URLRequest(url: url, timeoutInterval: 20)
        request.httpMethod = "POST"
        request.setValue("application/x-www-form-urlencoded", forHTTPHeaderField: "Content-Type")
        let allowed = CharacterSet.alphanumerics
        request.httpBody = Data(
            form.map { "\($0)=\($1.addingPercentEncoding(withAllowedCharacters: allowed) ?? "")" }
                .joined(separator: "&").utf8)
        return try await URLSession.shared.data(for: request).0
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
