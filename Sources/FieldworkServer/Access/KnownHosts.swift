import Synchronization

/// The hosts of requests that were admitted by their host alone, as they were written.
final class KnownHosts: Sendable {
    struct Host: Sendable {
        /// What the addresses in the answers begin with.
        var address: String
        var isLoopback: Bool
    }

    private let hosts = Mutex<[String: Host]>([:])

    subscript(authority: String) -> Host? { hosts.withLock { $0[authority] } }

    /// Beyond the limit nothing is noted: names that a client makes up take no memory.
    func note(_ authority: String, _ host: Host) {
        hosts.withLock { hosts in
            if hosts.count < Limits.knownHosts { hosts[authority] = host }
        }
    }
}
