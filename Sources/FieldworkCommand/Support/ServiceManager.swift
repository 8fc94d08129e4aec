import Foundation

/// systemd, where it has started the process: it wants to know when the server is ready (`Type=notify`).
enum ServiceManager {
    /// Sends states such as `READY=1`. Without systemd nothing is done.
    static func notify(
        _ states: [String], unless isLeftOut: Bool = false,
        socket path: String? = ProcessInfo.processInfo.environment["NOTIFY_SOCKET"]
    ) {
        guard !isLeftOut, let path, !path.isEmpty else { return }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        // An abstract name begins with a zero, which is written as @.
        var name = Array(path.utf8)
        if name.first == 0x40 { name[0] = 0 }
        guard name.count < MemoryLayout.size(ofValue: address.sun_path) else { return }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        #if canImport(Darwin)
            let kind = SOCK_DGRAM
        #else
            let kind = Int32(SOCK_DGRAM.rawValue)
        #endif
        let descriptor = Foundation.socket(AF_UNIX, kind, 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + name.count)
        let message = Array(states.joined(separator: "\n").utf8)
        _ = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(descriptor, message, message.count, 0, $0, length)
            }
        }
    }
}
