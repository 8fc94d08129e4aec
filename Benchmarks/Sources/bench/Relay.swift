import Foundation
import Glibc

/// Stands between a client and a server and counts the bytes that go either way. Its counts are guarded by the lock.
final class Relay: @unchecked Sendable {
    let port: UInt16
    private let listener: Int32
    private let lock = NSLock()
    private var counts = (up: 0, down: 0)

    init() throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        listener = descriptor
        var address = Self.address(0, last: 2)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(descriptor, pointer, length) == 0 && listen(descriptor, 64) == 0
                    && getsockname(descriptor, pointer, &length) == 0
            }
        }
        guard status else { throw ConnectionError(message: "can't listen") }
        port = UInt16(bigEndian: address.sin_port)
    }

    /// Carries until it is stopped.
    func start(to target: UInt16) {
        Thread.detachNewThread { [self] in
            while true {
                let near = accept(listener, nil, nil)
                guard near >= 0 else { return }
                guard let far = Self.connect(to: target) else {
                    close(near)
                    continue
                }
                Thread.detachNewThread { self.carry(near, far, isUp: true) }
                Thread.detachNewThread { self.carry(far, near, isUp: false) }
            }
        }
    }

    func stop() {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }

    /// What went since the last call.
    func take() -> (up: Int, down: Int) {
        lock.lock()
        defer { lock.unlock() }
        defer { counts = (0, 0) }
        return counts
    }

    private func carry(_ source: Int32, _ sink: Int32, isUp: Bool) {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = recv(source, &buffer, buffer.count, 0)
            guard count > 0 else { break }
            lock.lock()
            if isUp { counts.up += count } else { counts.down += count }
            lock.unlock()
            var sent = 0
            while sent < count {
                let written = buffer.withUnsafeBytes { bytes in
                    send(sink, bytes.baseAddress.map { $0 + sent }, count - sent, Int32(MSG_NOSIGNAL))
                }
                guard written > 0 else { break }
                sent += written
            }
            if sent < count { break }
        }
        // The other direction ends with this one, and closes its own source.
        shutdown(sink, Int32(SHUT_RDWR))
        shutdown(source, Int32(SHUT_RDWR))
        close(source)
    }

    /// A loopback address that the SDK does not know as its own machine: what it sends there is compressed, as on any line.
    static let host = "127.0.0.2"

    private static func address(_ port: UInt16, last: UInt32 = 1) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0000 | last).bigEndian
        return address
    }

    private static func connect(to port: UInt16) -> Int32? {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = address(port)
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard status == 0 else {
            close(descriptor)
            return nil
        }
        return descriptor
    }
}
