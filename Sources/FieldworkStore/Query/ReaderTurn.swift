import FieldworkGeometry
import Synchronization

/// One read's use of the readers of a pool. It begins as a short one; when it takes longer, or its answer comes in pieces, it
/// needs one of the places for long reads.
final class ReaderTurn: Sendable {
    let allowance: WorkAllowance?
    private let pool: ReaderPool
    private let hasPlace: Mutex<Bool>

    /// - Parameter allowance: nil for work without limits, whose reads may be as long as they like.
    init(_ pool: ReaderPool, _ allowance: WorkAllowance?) {
        self.pool = pool
        self.allowance = allowance
        hasPlace = Mutex(false)
    }

    var client: String { allowance?.client ?? "" }

    /// Whether it has a place among the long reads.
    var isLong: Bool { hasPlace.withLock { $0 } }

    /// Takes a place among the long reads, if there is one that nobody waits for.
    func becomesLong() -> Bool {
        if isLong { return true }
        guard pool.takePlace(for: client) else { return false }
        notePlace()
        return true
    }

    func notePlace() { hasPlace.withLock { $0 = true } }

    /// - Returns: whether it had a place, which it has no more.
    func losePlace() -> Bool {
        hasPlace.withLock { place in
            defer { place = false }
            return place
        }
    }
}
