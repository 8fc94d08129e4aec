import Foundation
import Synchronization

#if canImport(Glibc)
    import Glibc
#endif

/// A blocking connection to this machine, used from a thread of its own so that the app under test keeps all others.
package final class LoopbackSocket: Sendable {
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    private let descriptor: Int32
    private let buffer = Mutex<[UInt8]>([])

    package init(port: Int, timeoutSeconds: Int = 30) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw Failure(description: "no socket") }
        var timeout = timeval(tv_sec: timeoutSeconds, tv_usec: 0)
        let size = socklen_t(MemoryLayout<timeval>.size)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, size)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &timeout, size)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
        let connected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard connected == 0 else {
            close(descriptor)
            throw Failure(description: "nothing answers on port \(port)")
        }
    }

    deinit { close(descriptor) }

    package func write(_ bytes: [UInt8]) throws {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw Failure(description: "the connection broke while writing") }
            sent += count
        }
    }

    /// Exactly so many bytes.
    package func read(_ count: Int) throws -> [UInt8] {
        while buffer.withLock({ $0.count < count }) {
            guard try fill() else { throw Failure(description: "the connection ended early") }
        }
        return buffer.withLock { buffer in
            let result = Array(buffer.prefix(count))
            buffer.removeFirst(count)
            return result
        }
    }

    /// Up to and with the empty line.
    package func readHead() throws -> String {
        let end = Array("\r\n\r\n".utf8)
        while true {
            let found: [UInt8]? = buffer.withLock { buffer in
                guard buffer.count >= 4,
                    let at = buffer.indices.dropLast(3).first(where: { Array(buffer[$0..<$0 + 4]) == end })
                else { return nil }
                let head = Array(buffer[..<(at + 4)])
                buffer.removeFirst(at + 4)
                return head
            }
            if let found { return String(decoding: found, as: UTF8.self) }
            guard try fill() else { throw Failure(description: "the connection ended early") }
        }
    }

    /// The next whole message of a WebSocket among the bytes that have come; nil while its end has not. Nothing is taken
    /// before the message is whole: who gives up waiting leaves the connection as it was.
    package func takeMessage() -> [UInt8]? {
        buffer.withLock { buffer in
            var message: [UInt8] = []
            var position = 0
            while true {
                guard buffer.count >= position + 2 else { return nil }
                let isLast = buffer[position] & 0x80 != 0
                var length = Int(buffer[position + 1] & 0x7f)
                position += 2
                let extra = length == 126 ? 2 : length == 127 ? 8 : 0
                guard buffer.count >= position + extra else { return nil }
                if extra > 0 { length = buffer[position..<position + extra].reduce(0) { $0 << 8 | Int($1) } }
                position += extra
                guard buffer.count >= position + length else { return nil }
                message += buffer[position..<position + length]
                position += length
                guard isLast else { continue }
                buffer.removeFirst(position)
                return message
            }
        }
    }

    package func readToEnd() throws -> [UInt8] {
        while try fill() {}
        return buffer.withLock { buffer in
            let result = buffer
            buffer = []
            return result
        }
    }

    /// Waits for more bytes; false when the time is over or the connection is.
    package func waitForMore(seconds: Double) throws -> Bool {
        var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&watched, 1, Int32(max(0, seconds) * 1_000)) > 0 ? try fill() : false
    }

    /// False at the end.
    private func fill() throws -> Bool {
        var chunk = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &chunk, chunk.count, 0)
        guard count >= 0 else { throw Failure(description: "no bytes within the time") }
        buffer.withLock { $0 += chunk[..<count] }
        return count > 0
    }
}

/// Runs blocking work on a thread outside of the tasks' own.
package func onThread<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread {
            continuation.resume(with: Swift.Result { try body() })
        }
    }
}
