internal import Synchronization

/// Counts GEOS objects as they are made and freed, within one call: a test looks that an operation leaves none behind.
/// Costs one relaxed load an object while nobody counts.
package enum GEOSAccounting {
    /// What a counted call made and freed.
    package struct Count: Sendable, Hashable {
        package var made: Int
        package var freed: Int
    }

    private final class Ledger: Sendable {
        let made = Atomic<Int>(0)
        let freed = Atomic<Int>(0)
    }

    @TaskLocal private static var ledger: Ledger?
    private static let ledgersInUse = Atomic<Int>(0)

    /// Runs a body and counts what it, and no other task, makes and frees.
    package static func counting(_ body: () throws -> Void) rethrows -> Count {
        let ledger = Ledger()
        ledgersInUse.add(1, ordering: .relaxed)
        defer { ledgersInUse.subtract(1, ordering: .relaxed) }
        try $ledger.withValue(ledger) { try body() }
        return Count(made: ledger.made.load(ordering: .relaxed), freed: ledger.freed.load(ordering: .relaxed))
    }

    static func made() {
        guard ledgersInUse.load(ordering: .relaxed) > 0 else { return }
        ledger?.made.add(1, ordering: .relaxed)
    }

    static func freed() {
        guard ledgersInUse.load(ordering: .relaxed) > 0 else { return }
        ledger?.freed.add(1, ordering: .relaxed)
    }
}
