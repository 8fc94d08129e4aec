import HummingbirdCore
import Logging
import NIOCore
import Synchronization

/// The connections that are open. When there are too many, the one that has been idle for the longest gives way to a new
/// one: whoever opens connections and sends nothing shuts nobody out.
final class OpenConnections: Sendable {
    private struct State {
        var entries: [ObjectIdentifier: ConnectionEntry] = [:]
        var counts: [NetworkAddress: Int] = [:]
        /// All are taken and none is idle: further ones wait in the system's queue.
        var isFull = false

        mutating func admit(_ entry: ConnectionEntry, of client: NetworkAddress?) {
            entries[ObjectIdentifier(entry)] = entry
            if let client { counts[client.client, default: 0] += 1 }
        }
    }

    let maximum: Int
    private let perAddress: Int
    private let isProxy: @Sendable (NetworkAddress) -> Bool
    private let logger: Logger
    private let state = Mutex(State())

    init(
        maximum: Int, perAddress: Int, logger: Logger, isProxy: @escaping @Sendable (NetworkAddress) -> Bool
    ) {
        self.maximum = maximum
        self.perAddress = perAddress
        self.logger = logger
        self.isProxy = isProxy
    }

    /// Takes a connection up, and lets another go for it where there are too many.
    /// - Returns: whether it may stay: a client whose connections are all at work has enough.
    func opened(_ entry: ConnectionEntry) -> Bool {
        let (stays, idle) = state.withLock { state -> (Bool, ConnectionEntry?) in
            if let client = entry.client, !isProxy(client) {
                let count = state.counts[client.client, default: 0]
                if count >= perAddress {
                    let idle = Self.longestIdle(state.entries.values.filter { $0.client?.client == client.client })
                    guard let idle else { return (false, nil) }
                    idle.choose()
                    state.admit(entry, of: client)
                    return (true, idle)
                }
            }
            let idle = state.entries.count >= maximum ? Self.longestIdle(state.entries.values) : nil
            idle?.choose()
            state.admit(entry, of: entry.client.flatMap { isProxy($0) ? nil : $0 })
            return (true, idle)
        }
        if !stays {
            logger.notice(
                "A client has too many connections",
                metadata: ["connections": "\(perAddress)", "client": "\(entry.clientText)"])
        }
        idle?.giveWay()
        return stays
    }

    func closed(_ entry: ConnectionEntry) {
        state.withLock { state in
            guard state.entries.removeValue(forKey: ObjectIdentifier(entry)) != nil else { return }
            guard let client = entry.client?.client, let count = state.counts[client] else { return }
            state.counts[client] = count > 1 ? count - 1 : nil
        }
    }

    /// A connection has nothing to do any more: it gives way at once where others wait for it.
    func becameIdle(_ entry: ConnectionEntry) {
        let isFull = state.withLock { state in
            defer { state.isFull = false }
            return state.isFull
        }
        if isFull { entry.giveWay() }
    }

    /// Whether one more can be taken up. One beyond the limit lets an idle one go.
    func hasRoom() -> Bool {
        state.withLock { state in
            if state.entries.count < maximum { return true }
            state.isFull = Self.longestIdle(state.entries.values) == nil
            return !state.isFull
        }
    }

    /// How many there are.
    var count: Int { state.withLock { $0.entries.count } }

    private static func longestIdle(_ entries: some Sequence<ConnectionEntry>) -> ConnectionEntry? {
        var longest: (entry: ConnectionEntry, since: UInt64)?
        for entry in entries {
            let since = entry.idleSince
            guard since > 0, since < longest?.since ?? .max else { continue }
            longest = (entry, since)
        }
        return longest?.entry
    }
}

/// Lets the server accept connections as long as there is room, or an idle one to give it.
struct AcceptedConnections: AvailableConnectionsDelegate {
    let connections: OpenConnections

    func connectionOpened() {}
    func connectionClosed() {}
    func isAcceptingNewConnections() -> Bool { connections.hasRoom() }
}
