/// Who waits, in the order in which it is served: clients in turn, and the waiters of each in the order in which they came. A
/// client that asks for much waits for its own.
package struct FairQueue<Waiter> {
    private struct Entry {
        var id: Int
        var waiter: Waiter
    }

    private var entries: [String: [Entry]] = [:]
    /// Clients with waiters, the next one first.
    private var clients: [String] = []

    package init() {}

    var isEmpty: Bool { clients.isEmpty }

    var count: Int { entries.values.reduce(0) { $0 + $1.count } }

    /// Whether anybody waits who may be served.
    package func hasWaiter(where mayBeServed: (_ client: String) -> Bool) -> Bool {
        clients.contains(where: mayBeServed)
    }

    package mutating func append(_ waiter: Waiter, id: Int, of client: String) {
        if entries[client] == nil { clients.append(client) }
        entries[client, default: []].append(Entry(id: id, waiter: waiter))
    }

    /// Takes the next one of a client that may be served.
    package mutating func next(where mayBeServed: (_ client: String) -> Bool = { _ in true }) -> Waiter? {
        guard let index = clients.firstIndex(where: mayBeServed) else { return nil }
        let client = clients.remove(at: index)
        guard var own = entries.removeValue(forKey: client), !own.isEmpty else { return nil }
        let first = own.removeFirst()
        if !own.isEmpty {
            entries[client] = own
            clients.append(client)
        }
        return first.waiter
    }

    mutating func remove(id: Int) -> Waiter? {
        for (client, own) in entries {
            guard let index = own.firstIndex(where: { $0.id == id }) else { continue }
            if own.count == 1 {
                entries[client] = nil
                clients.removeAll { $0 == client }
            } else {
                entries[client]?.remove(at: index)
            }
            return own[index].waiter
        }
        return nil
    }

    mutating func removeAll() -> [Waiter] {
        defer { self = FairQueue() }
        return clients.flatMap { entries[$0]?.map(\.waiter) ?? [] }
    }
}
