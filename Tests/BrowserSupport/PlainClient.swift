import Foundation

/// A client that sends exactly the header fields it is told to, as a stranger's program or a page of another site would.
package struct PlainClient: Sendable {
    package struct Answer: Sendable {
        package let status: Int
        package let fields: [(name: String, value: String)]
        package let body: [UInt8]

        package subscript(name: String) -> String? {
            fields.first { $0.name.lowercased() == name.lowercased() }?.value
        }

        /// The answer as text. A page comes without the line breaks and indentation of its templates; `body` has them.
        package var text: String {
            let text = String(decoding: body, as: UTF8.self)
            guard self["Content-Type"]?.hasPrefix("text/html") == true else { return text }
            return text.replacing(/(>?)\s*\n\s*(<?)/) { line in
                line.1.isEmpty && line.2.isEmpty ? " " : "\(line.1)\(line.2)"
            }
        }
    }

    package let port: Int
    package var cookie: String?

    package init(port: Int, cookie: String? = nil) {
        self.port = port
        self.cookie = cookie
    }

    package func get(_ path: String, fields: [String: String] = [:]) async throws -> Answer {
        try await send("GET", path, fields: fields)
    }

    /// Posts a form as the app's own page does.
    package func post(_ path: String, _ form: KeyValuePairs<String, String>, fields: [String: String] = [:])
        async throws
        -> Answer
    {
        let body = form.map { "\(Self.escape($0.key))=\(Self.escape($0.value))" }.joined(separator: "&")
        let own = [
            "Origin": "http://127.0.0.1:\(port)", "Content-Type": "application/x-www-form-urlencoded",
        ].merging(fields) { $1 }
        return try await send("POST", path, fields: own, body: body)
    }

    package func send(
        _ method: String, _ path: String, fields: [String: String] = [:], body: String? = nil, bytes: [UInt8]? = nil
    ) async throws -> Answer {
        let content = bytes ?? body.map { Array($0.utf8) }
        var all = ["Host": "127.0.0.1:\(port)", "Connection": "close"]
        if let cookie { all["Cookie"] = cookie }
        all.merge(fields) { $1 }
        if let content { all["Content-Length"] = String(content.count) }
        let head = "\(method) \(path) HTTP/1.1\r\n" + all.map { "\($0): \($1)\r\n" }.joined() + "\r\n"
        let request = Array(head.utf8) + (content ?? [])
        let port = port
        return try await onThread {
            let socket = try LoopbackSocket(port: port)
            try socket.write(request)
            let lines = try socket.readHead().split(separator: "\r\n")
            let status = lines.first?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
            let fields = lines.dropFirst().compactMap { line -> (name: String, value: String)? in
                let parts = line.split(separator: ":", maxSplits: 1)
                guard parts.count == 2 else { return nil }
                return (String(parts[0]), parts[1].trimmingCharacters(in: .whitespaces))
            }
            let length = fields.first { $0.name.lowercased() == "content-length" }.flatMap { Int($0.value) }
            let body = try length.map { try socket.read($0) } ?? socket.readToEnd()
            return Answer(status: status, fields: fields, body: body)
        }
    }

    package static func escape(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    }
}
