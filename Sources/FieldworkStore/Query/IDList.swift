import CListedIDs
import GRDBSQLite

/// Ids that a statement of SQLite reads as a table, without the way over JSON. Belongs to one statement.
class IDList {
    static let pointerType: StaticString = "fieldwork_candidates"
    private static let firstCapacity = 4_096

    private var ids: UnsafeMutablePointer<Int64>?
    private var capacity = 0
    private var count = 0

    init(_ list: [Int64]) {
        guard !list.isEmpty else { return }
        let room = UnsafeMutableBufferPointer<Int64>.allocate(capacity: list.count)
        _ = room.initialize(from: list)
        (ids, capacity, count) = (room.baseAddress, list.count, list.count)
    }

    deinit { ids?.deallocate() }

    static func register(on connection: StoreConnection) throws {
        guard let pointer = connection.pointer else { return }
        let type = UnsafeRawPointer(pointerType.utf8Start).assumingMemoryBound(to: CChar.self)
        let code = fieldwork_addListedIDs(UnsafeMutableRawPointer(pointer), type) { owner, ids, count in
            guard let owner, let ids, let count else { return SQLITE_MISUSE }
            let list = Unmanaged<IDList>.fromOpaque(owner).takeUnretainedValue()
            let code = list.read()
            (ids.pointee, count.pointee) = (UnsafePointer(list.ids), Int64(list.count))
            return code
        }
        guard code == SQLITE_OK else { throw connection.error(code) }
    }

    /// Makes the list if it isn't there yet.
    /// - Returns: SQLite's code.
    func read() -> Int32 { SQLITE_OK }

    func removeAll() { count = 0 }

    func sort() {
        var list = UnsafeMutableBufferPointer(start: ids, count: count)
        list.sort()
    }

    /// - Parameter holds: whether so many bytes more may be held.
    /// - Returns: false when there may be no more room.
    @inline(__always)
    final func add(_ id: Int64, growing holds: (Int) -> Bool) -> Bool {
        if count == capacity, !grow(holds) { return false }
        ids?[count] = id
        count += 1
        return true
    }

    private func grow(_ holds: (Int) -> Bool) -> Bool {
        let larger = max(Self.firstCapacity, 2 * capacity)
        // A list of many counts for as long as the work goes on.
        if capacity > 0, !holds((larger - capacity) * MemoryLayout<Int64>.stride) { return false }
        let room = UnsafeMutablePointer<Int64>.allocate(capacity: larger)
        if let ids {
            room.initialize(from: ids, count: count)
            ids.deallocate()
        }
        (ids, capacity) = (room, larger)
        return true
    }
}
