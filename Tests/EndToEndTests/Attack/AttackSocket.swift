import Foundation

#if canImport(Glibc)
    import Glibc
#endif

/// A connection to a server of this machine that sends bytes as they are, whatever HTTP says of them, and reads one answer after
/// the other.
final class AttackSocket {
    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    struct Answer {
        var status: Int
        var size: Int
        /// The first bytes of the body.
        var beginning: [UInt8]
        var isLast: Bool

        /// The code of the protocol's error, which comes with status 200.
        var errorCode: Int? {
            guard beginning.starts(with: #"{"error":"#.utf8) else { return nil }
            let text = String(decoding: beginning, as: UTF8.self)
            guard let start = text.range(of: #""code":"#)?.upperBound else { return nil }
            return Int(text[start...].prefix { $0.isNumber || $0 == "-" })
        }

        var text: String { String(decoding: beginning, as: UTF8.self) }
    }

    private static let kept = 2_000
    private let descriptor: Int32
    private var buffer: [UInt8] = []
    private var start = 0

    /// - Parameter source: the last number of the loopback address that the connection comes from: another client's is another.
    init(port: Int, patience: Duration = AttackForm.patience, from source: UInt32 = 1) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw Failure(description: "There is no socket: \(errno).") }
        var wait = timeval(tv_sec: Int(patience.components.seconds), tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(descriptor, SOL_SOCKET, option, &wait, socklen_t(MemoryLayout<timeval>.size))
        }
        guard Self.with(0x7F00_0000 + source, 0, { bind(descriptor, $0, $1) }) == 0 else {
            throw Failure(description: "The address 127.0.0.\(source) can't be used: \(errno).")
        }
        guard Self.with(0x7F00_0001, port, { connect(descriptor, $0, $1) }) == 0 else {
            throw Failure(description: "The server takes no connection: \(errno).")
        }
    }

    deinit { close(descriptor) }

    private static func with(
        _ host: UInt32, _ port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(truncatingIfNeeded: port).bigEndian
        address.sin_addr.s_addr = host.bigEndian
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    func write(_ bytes: [UInt8]) throws {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else {
                throw Failure(description: "The server took \(sent) of \(bytes.count) bytes: \(errno).")
            }
            sent += count
        }
    }

    /// Reads an answer to its end.
    func answer(to method: String = "GET") throws -> Answer {
        let (status, headers) = try head()
        var answer = Answer(status: status, size: 0, beginning: [], isLast: headers["connection"] == "close")
        if headers["transfer-encoding"]?.contains("chunked") == true {
            while true {
                let size = Int(try line().prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces), radix: 16)
                guard let size else { throw Failure(description: "A chunk has no size.") }
                try take(size, into: &answer)
                _ = try line()
                if size == 0 { return answer }
            }
        }
        if method == "HEAD" || status == 204 || status == 304 { return answer }
        if let length = headers["content-length"].flatMap(Int.init) {
            try take(length, into: &answer)
        } else {
            while try fill() {}
            try take(buffer.count - start, into: &answer)
            answer.isLast = true
        }
        return answer
    }

    // MARK: Reading

    private func head() throws -> (Int, [String: String]) {
        while true {
            let parts = try line().split(separator: " ")
            guard parts.count > 1, parts[0].hasPrefix("HTTP/1."), let status = Int(parts[1]) else {
                throw Failure(description: "The answer does not begin as HTTP: \(parts).")
            }
            var headers: [String: String] = [:]
            while case let text = try line(), !text.isEmpty {
                guard let colon = text.firstIndex(of: ":") else { continue }
                headers[text[..<colon].lowercased()] = text[text.index(after: colon)...]
                    .trimmingCharacters(in: .whitespaces).lowercased()
            }
            if status >= 200 { return (status, headers) }
        }
    }

    private func line() throws -> String {
        while true {
            if let end = buffer[start...].firstIndex(of: 0x0A) {
                let text = String(decoding: buffer[start..<end], as: UTF8.self)
                start = end + 1
                return text.hasSuffix("\r") ? String(text.dropLast()) : text
            }
            guard try fill() else { throw Failure(description: "The server ended the connection within an answer.") }
        }
    }

    private func take(_ count: Int, into answer: inout Answer) throws {
        var rest = count
        while rest > 0 {
            if start == buffer.count {
                guard try fill() else {
                    throw Failure(description: "The server ended the connection within an answer.")
                }
            }
            let part = min(rest, buffer.count - start)
            let kept = min(part, Self.kept - answer.beginning.count)
            if kept > 0 { answer.beginning += buffer[start..<start + kept] }
            start += part
            rest -= part
            answer.size += part
        }
    }

    /// Reads what has come; false at the end.
    private func fill() throws -> Bool {
        if start == buffer.count { (buffer, start) = ([], 0) }
        var piece = [UInt8](repeating: 0, count: 65_536)
        let count = piece.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress, $0.count, 0) }
        guard count >= 0 else {
            let isLate = errno == EAGAIN || errno == EWOULDBLOCK
            throw Failure(description: isLate ? "The server did not answer in time." : "Reading failed: \(errno).")
        }
        buffer += piece[..<count]
        return count > 0
    }
}

/// Requests one after the other, on one connection for as long as it lasts.
struct AttackLine {
    let port: Int
    private let source: UInt32
    private var socket: AttackSocket?

    init(port: Int, from source: UInt32 = 1) {
        self.port = port
        self.source = source
    }

    mutating func answer(to request: [UInt8]) throws -> AttackSocket.Answer {
        if let known = socket {
            socket = nil
            // A server may end a connection between two requests.
            if let answer = try? Self.exchange(request, on: known) {
                socket = answer.isLast ? nil : known
                return answer
            }
        }
        let fresh = try AttackSocket(port: port, from: source)
        let answer = try Self.exchange(request, on: fresh)
        socket = answer.isLast ? nil : fresh
        return answer
    }

    private static func exchange(_ request: [UInt8], on socket: AttackSocket) throws -> AttackSocket.Answer {
        // A server that refuses a body need not read it to its end.
        try? socket.write(request)
        return try socket.answer()
    }
}
