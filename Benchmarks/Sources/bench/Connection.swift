import Foundation
import Glibc

struct ConnectionError: Error {
    var message: String
}

/// A keep-alive connection that sends one request at a time and reads the whole answer: the leanest client that a load
/// can come from, so that the measurement shows the server.
final class Connection {
    private let descriptor: Int32
    private var buffer = [UInt8](repeating: 0, count: 1 << 18)
    private var start = 0
    private var end = 0

    init(port: UInt16) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard status == 0 else {
            close(descriptor)
            throw ConnectionError(message: "can't connect to port \(port)")
        }
        var one: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
    }

    deinit { close(descriptor) }

    func get(_ target: String) throws -> [UInt8] {
        try send(Array("GET \(target) HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".utf8))
        return try answer()
    }

    func post(_ target: String, form: [UInt8]) throws -> [UInt8] {
        let head = """
            POST \(target) HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/x-www-form-urlencoded\r\n\
            Content-Length: \(form.count)\r\n\r\n
            """
        try send(Array(head.utf8) + form)
        return try answer()
    }

    private func send(_ bytes: [UInt8]) throws {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes { buffer in
                let rest = UnsafeRawBufferPointer(rebasing: buffer[sent...])
                return Glibc.send(descriptor, rest.baseAddress, rest.count, 0)
            }
            guard count > 0 else { throw ConnectionError(message: "the server closed the connection") }
            sent += count
        }
    }

    private func fill() throws {
        if start == end { (start, end) = (0, 0) }
        if end == buffer.count {
            buffer.removeFirst(start)
            end -= start
            start = 0
            buffer.append(contentsOf: repeatElement(0, count: max(0, (1 << 18) - buffer.count)))
            if end == buffer.count { buffer.append(contentsOf: repeatElement(0, count: buffer.count)) }
        }
        let room = buffer.count - end
        let count = buffer.withUnsafeMutableBytes { buffer in
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[end...])
            return recv(descriptor, rest.baseAddress, room, 0)
        }
        guard count > 0 else { throw ConnectionError(message: "the server closed the connection") }
        end += count
    }

    private func line() throws -> String {
        var search = start
        while true {
            while search < end {
                if buffer[search] == 0x0A {
                    let text = String(decoding: buffer[start..<max(start, search - 1)], as: UTF8.self)
                    start = search + 1
                    return text
                }
                search += 1
            }
            let scanned = search - start
            try fill()
            search = start + scanned
        }
    }

    private func take(_ count: Int, into body: inout [UInt8]) throws {
        var left = count
        while left > 0 {
            if start == end { try fill() }
            let part = min(left, end - start)
            body.append(contentsOf: buffer[start..<start + part])
            start += part
            left -= part
        }
    }

    /// Sends a request as it is written, and reads the answer whatever it is; the fields' names in lower case.
    func exchange(_ request: String) throws -> (status: String, head: [String: String], body: [UInt8]) {
        try send(Array(request.utf8))
        let (status, head) = try self.head()
        return (status, head, try body(head))
    }

    private func answer() throws -> [UInt8] {
        let (status, head) = try self.head()
        guard status.hasPrefix("HTTP/1.1 200") else { throw ConnectionError(message: status) }
        return try body(head)
    }

    private func head() throws -> (status: String, fields: [String: String]) {
        let status = try line()
        var fields: [String: String] = [:]
        while true {
            let header = try line()
            if header.isEmpty { return (status, fields) }
            let halves = header.split(separator: ":", maxSplits: 1)
            guard halves.count == 2 else { continue }
            fields[halves[0].lowercased()] = halves[1].trimmingCharacters(in: .whitespaces)
        }
    }

    private func body(_ head: [String: String]) throws -> [UInt8] {
        var body: [UInt8] = []
        if let length = head["content-length"].flatMap({ Int($0) }) {
            body.reserveCapacity(length)
            try take(length, into: &body)
            return body
        }
        while true {
            guard let size = Int(try line(), radix: 16) else { throw ConnectionError(message: "bad chunk") }
            if size == 0 {
                _ = try line()
                return body
            }
            try take(size, into: &body)
            _ = try line()
        }
    }
}
