import FieldworkREST
import Synchronization

/// Bounds the memory that the bodies of all requests hold together.
final class BodyBudget: Sendable {
    private let maximum: Int
    private let used = Mutex(0)

    init(maximum: Int) { self.maximum = maximum }

    func reserve(_ count: Int) throws(ServiceError) {
        let isGranted = used.withLock { used in
            guard used + count <= maximum else { return false }
            used += count
            return true
        }
        guard isGranted else {
            throw ServiceError(code: 503, message: "The server is busy with large requests. Try again.")
        }
    }

    func release(_ count: Int) { used.withLock { $0 -= count } }

    /// Bytes that are reserved now.
    var reserved: Int { used.withLock { $0 } }
}

/// What one request holds of the budget. Its end gives it back.
struct BodyLease: ~Copyable {
    private let budget: BodyBudget
    private var count = 0

    init(budget: BodyBudget) { self.budget = budget }

    deinit { if count > 0 { budget.release(count) } }

    mutating func extend(by more: Int) throws(ServiceError) {
        try budget.reserve(more)
        count += more
    }
}
