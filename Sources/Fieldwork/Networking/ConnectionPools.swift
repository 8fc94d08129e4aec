import AsyncHTTPClient
import Synchronization

/// The pools of connections of this process, one for each way out of it. Connections are used again.
final class ConnectionPools: Sendable {
    static let shared = ConnectionPools()

    private let known = Mutex<[(way: NetworkSettings.Way, http: HTTPClient)]>([])

    func http(_ way: NetworkSettings.Way) -> HTTPClient {
        let (http, old) = known.withLock { known -> (HTTPClient, HTTPClient?) in
            if let index = known.firstIndex(where: { $0.way == way }) {
                if index > 0 { known.insert(known.remove(at: index), at: 0) }
                return (known[0].http, nil)
            }
            known.insert((way, HTTPClient(eventLoopGroupProvider: .singleton, configuration: way.configuration)), at: 0)
            return (known[0].http, known.count > Limits.connectionPools ? known.removeLast().http : nil)
        }
        // What still goes that way fails as if the connection had broken.
        if let old { Task { try? await old.shutdown() } }
        return http
    }
}
