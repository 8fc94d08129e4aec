import Foundation
import Glibc
import Synchronization

/// A server on a free loopback port that does what a test says, byte for byte, good or bad. Each connection has a thread.
final class LoopbackServer: Sendable {
    struct Request: Sendable {
        var method: String
        /// The path and the query, or what a proxy is asked to connect to.
        var target: String
        /// By lower-case name.
        var headers: [String: String]
        var body: Data

        var path: String { String(target.prefix { $0 != "?" }) }

        /// The parameters of the address or of the form.
        var parameters: [String: String] {
            let query = target.firstIndex(of: "?").map { String(target[target.index(after: $0)...]) }
            let text = method == "POST" ? String(decoding: body, as: UTF8.self) : query ?? ""
            let pairs = text.split(separator: "&").map { pair in
                let parts = pair.split(separator: "=", maxSplits: 1).map { $0.removingPercentEncoding ?? "" }
                return (parts.first ?? "", parts.count > 1 ? parts[1] : "")
            }
            return Dictionary(pairs) { $1 }
        }
    }

    enum Action: Sendable {
        case answer(status: Int, headers: [(String, String)], body: Data)
        /// Says nothing until the client goes.
        case silence
        /// One byte after the other with pauses, without an end.
        case trickle
        /// The beginning of an answer, and then the connection breaks.
        case breakOff
        /// Has a server at another port answer this request: what a gateway does.
        case forward(port: UInt16)
        /// Passes everything on to another port: what a proxy does.
        case tunnel(port: UInt16)

        static func json(_ text: String, status: Int = 200) -> Action {
            .answer(status: status, headers: [("Content-Type", "application/json")], body: Data(text.utf8))
        }
    }

    private struct State {
        var requests: [Request] = []
        var abandoned = 0
        var connections: Set<Int32> = []
    }

    let port: UInt16
    private let listener: Int32
    private let handler: @Sendable (Request) -> Action
    private let state = Mutex(State())

    init(_ handler: @escaping @Sendable (Request) -> Action) throws {
        self.handler = handler
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = listener
        let isOpen = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, size) == 0 && listen(descriptor, 64) == 0
                    && getsockname(descriptor, $0, &size) == 0
            }
        }
        guard isOpen else { throw CocoaError(.fileNoSuchFile) }
        port = UInt16(bigEndian: address.sin_port)
        Thread.detachNewThread { [weak self] in
            // Nobody else closes it: its number may be another server's at once, whose clients would end up here.
            defer { close(descriptor) }
            while true {
                let connection = accept(descriptor, nil, nil)
                guard connection >= 0 else { return }
                guard let self else {
                    close(connection)
                    return
                }
                self.state.withLock { _ = $0.connections.insert(connection) }
                Thread.detachNewThread { self.serve(connection) }
            }
        }
    }

    func url(_ path: String) throws -> URL {
        guard let url = URL(string: "http://127.0.0.1:\(port)\(path)") else { throw CocoaError(.fileNoSuchFile) }
        return url
    }

    /// The requests that came, in order.
    var requests: [Request] { state.withLock { $0.requests } }

    /// How many clients went before their answer was there.
    var abandoned: Int { state.withLock { $0.abandoned } }

    /// Ends the listening; a thread that waits for a client ends with it.
    func stop() {
        shutdown(listener, Int32(SHUT_RDWR))
        state.withLock { for connection in $0.connections { shutdown(connection, Int32(SHUT_RDWR)) } }
    }

    /// Runs a test with a server, which is gone afterwards.
    static func with<Result>(
        _ handler: @escaping @Sendable (Request) -> Action, _ test: (LoopbackServer) async throws -> Result
    ) async throws -> Result {
        let server = try LoopbackServer(handler)
        defer { server.stop() }
        return try await test(server)
    }

    // MARK: One connection

    private func serve(_ connection: Int32) {
        var buffer = Data()
        while let request = Self.read(from: connection, &buffer) {
            state.withLock { $0.requests.append(request) }
            switch handler(request) {
            case .answer(let status, let headers, let body):
                guard
                    Self.send(Self.head(status, headers + [("Content-Length", "\(body.count)")]) + body, to: connection)
                else { return end(connection, isAbandoned: true) }
            case .silence:
                _ = Self.receive(from: connection)
                return end(connection, isAbandoned: true)
            case .trickle:
                var isThere = Self.send(Self.head(200, [("Content-Length", "1000000")]), to: connection)
                while isThere {
                    Thread.sleep(forTimeInterval: 0.02)
                    isThere = Self.send(Data(" ".utf8), to: connection)
                }
                return end(connection, isAbandoned: true)
            case .breakOff:
                _ = Self.send(Self.head(200, [("Content-Length", "1000")]) + Data("{".utf8), to: connection)
                return end(connection, isAbandoned: false)
            case .forward(let port):
                guard let other = Self.connect(to: port) else { return end(connection, isAbandoned: false) }
                _ = Self.send(request.passedOn, to: other)
                var isFirst = true
                while var piece = Self.receive(from: other) {
                    // A client that is not told would send its next request on a connection that ends here.
                    if isFirst, let line = piece.range(of: Data("\r\n".utf8)) {
                        piece.insert(contentsOf: Data("Connection: close\r\n".utf8), at: line.upperBound)
                    }
                    isFirst = false
                    guard Self.send(piece, to: connection) else { break }
                }
                close(other)
                return end(connection, isAbandoned: false)
            case .tunnel(let port):
                guard let other = Self.connect(to: port) else { return end(connection, isAbandoned: false) }
                _ = Self.send(Self.head(200, []), to: connection)
                let isBack = DispatchSemaphore(value: 0)
                Thread.detachNewThread {
                    Self.copy(from: other, to: connection)
                    isBack.signal()
                }
                Self.copy(from: connection, to: other)
                shutdown(other, Int32(SHUT_RDWR))
                isBack.wait()
                close(other)
                return end(connection, isAbandoned: false)
            }
        }
        end(connection, isAbandoned: false)
    }

    private func end(_ connection: Int32, isAbandoned: Bool) {
        state.withLock { state in
            state.connections.remove(connection)
            if isAbandoned { state.abandoned += 1 }
        }
        close(connection)
    }

    private static func head(_ status: Int, _ headers: [(String, String)]) -> Data {
        let lines = headers.map { "\($0.0): \($0.1)\r\n" }.joined()
        return Data("HTTP/1.1 \(status) Said\r\n\(lines)\r\n".utf8)
    }

    private static func read(from connection: Int32, _ buffer: inout Data) -> Request? {
        let gap = Data("\r\n\r\n".utf8)
        while buffer.range(of: gap) == nil {
            guard let piece = receive(from: connection) else { return nil }
            buffer += piece
        }
        guard let end = buffer.range(of: gap) else { return nil }
        let lines = String(decoding: buffer[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
        buffer = Data(buffer[end.upperBound...])
        let words = (lines.first ?? "").split(separator: " ").map(String.init)
        guard words.count == 3 else { return nil }
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { continue }
            headers[line[..<colon].lowercased()] =
                line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
        }
        let length = headers["content-length"].flatMap { Int($0) } ?? 0
        while buffer.count < length {
            guard let piece = receive(from: connection) else { return nil }
            buffer += piece
        }
        defer { buffer = Data(buffer.dropFirst(length)) }
        return Request(method: words[0], target: words[1], headers: headers, body: Data(buffer.prefix(length)))
    }

    private static func receive(from connection: Int32) -> Data? {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = recv(connection, &bytes, bytes.count, 0)
        return count > 0 ? Data(bytes[..<count]) : nil
    }

    private static func send(_ data: Data, to connection: Int32) -> Bool {
        var rest = [UInt8](data)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    private static func copy(from one: Int32, to other: Int32) {
        while let piece = receive(from: one), send(piece, to: other) {}
        shutdown(other, Int32(SHUT_WR))
    }

    private static func connect(to port: UInt16) -> Int32? {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        return status == 0 ? descriptor : nil
    }
}

extension LoopbackServer.Request {
    /// The request as a gateway sends it on, for one answer.
    fileprivate var passedOn: Data {
        let kept = headers.filter { !["connection", "x-esri-authorization"].contains($0.key) }
        let lines = kept.map { "\($0.key): \($0.value)\r\n" }.joined()
        return Data("\(method) \(target) HTTP/1.1\r\n\(lines)connection: close\r\n\r\n".utf8) + body
    }
}
