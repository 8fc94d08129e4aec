import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The built app, and a visitor of its page.
struct CollectVisitor {
    let process: FieldworkProcess
    let root: String
    /// The printed address, with the key.
    let door: String
    let session: URLSession

    static func start(map: String, data: URL) async throws -> CollectVisitor {
        try await start(["--map", map], data: data)
    }

    static func start(_ arguments: [String], data: URL) async throws -> CollectVisitor {
        let process = try FieldworkProcess.start(["collect"] + arguments + ["--data", data.path, "--port", "0"])
        let line = try await process.readyLine()
        let address = try #require(line.components(separatedBy: "app ").last)
        let parts = try #require(URLComponents(string: address.trimmingCharacters(in: .whitespaces)))
        let app = CollectVisitor(
            process: process, root: "http://127.0.0.1:\(try #require(parts.port))",
            door: address.trimmingCharacters(in: .whitespaces),
            session: URLSession(configuration: .ephemeral))
        // The printed address has the key; the session keeps the cookie that it gives.
        _ = try await app.page("/?\(try #require(parts.query))")
        return app
    }

    func page(_ path: String) async throws -> String { String(decoding: try await bytes(path), as: UTF8.self) }

    func bytes(_ path: String) async throws -> Data {
        let url = try #require(URL(string: root + path))
        return try await session.data(for: URLRequest(url: url, timeoutInterval: 300)).0
    }

    @discardableResult
    func post(_ path: String, _ form: [String: String] = [:]) async throws -> String {
        let pairs = form.map { "\($0)=\($1.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")" }
        return try await send(
            path, Data(pairs.joined(separator: "&").utf8), contentType: "application/x-www-form-urlencoded")
    }

    /// Posts a form with a file.
    @discardableResult
    func post(_ path: String, _ form: [String: String], file: Data, named name: String) async throws -> String {
        let mark = "----fieldwork-\(UUID().uuidString)"
        var body = Data()
        for (field, value) in form {
            body += Data("--\(mark)\r\nContent-Disposition: form-data; name=\"\(field)\"\r\n\r\n\(value)\r\n".utf8)
        }
        body += Data(
            ("--\(mark)\r\nContent-Disposition: form-data; name=\"files\"; filename=\"\(name)\"\r\n"
                + "Content-Type: application/octet-stream\r\n\r\n").utf8)
        body += file + Data("\r\n--\(mark)--\r\n".utf8)
        return try await send(path, body, contentType: "multipart/form-data; boundary=\(mark)")
    }

    private func send(_ path: String, _ body: Data, contentType: String) async throws -> String {
        var request = URLRequest(url: try #require(URL(string: root + path)), timeoutInterval: 300)
        request.httpMethod = "POST"
        request.setValue(root, forHTTPHeaderField: "Origin")
        request.setValue(contentType, forHTTPHeaderField: "Content-Type")
        request.httpBody = body
        return String(decoding: try await session.data(for: request).0, as: UTF8.self)
    }

    /// Looks at a page until it says something.
    func wait(_ path: String, for text: String) async throws {
        for _ in 0..<1_200 {
            if try await page(path).contains(text) { return }
            try await Task.sleep(for: .milliseconds(50))
        }
        Issue.record("\(path) never said \(text).")
    }
}
