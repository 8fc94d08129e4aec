import Foundation

#if canImport(Glibc)
    import Glibc
#endif

/// A port of this machine that nobody else can have, with the port before it free. Both lie below the ports that the system gives to
/// connections by itself: no connection that happens to be open takes the free one.
final class HeldPort {
    struct NoneFree: Error {}

    let number: Int
    var before: Int { number - 1 }
    private let descriptor: Int32

    init() throws {
        for _ in 0..<100 {
            let first = Int.random(in: 10_000..<Self.firstOfSystem() - 1)
            guard let free = Self.listening(on: first) else { continue }
            let held = Self.listening(on: first + 1)
            close(free)
            guard let held else { continue }
            (number, descriptor) = (first + 1, held)
            return
        }
        throw NoneFree()
    }

    deinit { close(descriptor) }

    /// The first port that the system gives to a connection.
    private static func firstOfSystem() -> Int {
        let range = try? String(contentsOfFile: "/proc/sys/net/ipv4/ip_local_port_range", encoding: .utf8)
        let first = range?.split(whereSeparator: \.isWhitespace).first.flatMap { Int($0) } ?? 32_768
        return max(first, 10_100)
    }

    private static func listening(on port: Int) -> Int32? {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
        let isTaken = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) != 0
            }
        }
        guard !isTaken, listen(descriptor, 1) == 0 else {
            close(descriptor)
            return nil
        }
        return descriptor
    }
}
