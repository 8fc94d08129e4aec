import FieldworkGeometry
import FieldworkREST
import Synchronization

/// Bounds the memory that all requests hold together: their bodies, or these and all that is made of them.
final class BodyBudget: MemoryAccount {
    private let maximum: Int
    /// The larger budget that this one is part of.
    private let whole: BodyBudget?
    private let used = Mutex(0)

    init(maximum: Int, within whole: BodyBudget? = nil) {
        self.maximum = maximum
        self.whole = whole
    }

    func take(_ bytes: Int) -> Bool {
        let isGranted = used.withLock { used in
            guard bytes <= maximum - used else { return false }
            used += bytes
            return true
        }
        guard isGranted else { return false }
        if whole?.take(bytes) == false {
            used.withLock { $0 -= bytes }
            return false
        }
        return true
    }

    func giveBack(_ bytes: Int) {
        used.withLock { $0 -= bytes }
        whole?.giveBack(bytes)
    }

    func reserve(_ count: Int) throws(ServiceError) {
        guard take(count) else {
            throw ServiceError(code: 503, message: "The server is busy with large requests. Try again.")
        }
    }

    func release(_ count: Int) { giveBack(count) }

    /// Bytes that are reserved now.
    var reserved: Int { used.withLock { $0 } }
}

/// What one request holds of the budget. Its end gives it back.
struct BodyLease: ~Copyable {
    private let budget: BodyBudget
    private(set) var count = 0

    init(budget: BodyBudget) { self.budget = budget }

    deinit { if count > 0 { budget.release(count) } }

    mutating func extend(by more: Int) throws(ServiceError) {
        try budget.reserve(more)
        count += more
    }
}
