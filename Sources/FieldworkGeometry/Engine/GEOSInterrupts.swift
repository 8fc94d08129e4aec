internal import CGEOS
import Foundation
internal import Synchronization

/// Ends the work of GEOS when the task that it is for has no more time, or no more use for it.
///
/// GEOS calls one function of the process at many places within its loops, on the thread that computes. That looks at the allowance of
/// its task and asks GEOS to stop. The request is a flag of the whole process, which another thread's computation may see first and stop
/// instead: one that was stopped although its own allowance lasts is done again, and the flag is raised again at the next place.
enum GEOSInterrupts {
    private static let requests = Atomic<Int>(0)
    /// The moment of the last one, in nanoseconds, and for how long its flag may not have been seen.
    private static let lastRequest = Atomic<Int64>(.min / 2)
    private static let pendingNanoseconds: Int64 = 1_000_000_000

    private static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }

    /// Looks at the clock are cheap, but there are millions of places.
    private static let placesBetweenLooks = 16
    private static let places = Atomic<Int>(0)

    private static let registration: Void = {
        _ = GEOS_interruptRegisterCallback {
            guard let allowance = WorkAllowance.current else { return }
            let place = GEOSInterrupts.places.wrappingAdd(1, ordering: .relaxed).newValue
            guard place % GEOSInterrupts.placesBetweenLooks == 0 else { return }
            do throws(AllowanceError) { try allowance.check() } catch {
                GEOSInterrupts.disturb()
            }
        }
    }()

    /// How often a computation under an allowance is done again that was stopped for others.
    static let attempts = 20

    /// Runs a computation. One that was stopped for others too often has no result: it throws, since nil would be taken for an
    /// answer. Work without an allowance goes on until it is done.
    /// - Parameter body: gives nil where GEOS failed.
    /// - Returns: nil where GEOS failed for a reason of its own.
    static func run<Result>(_ body: () -> Result?) throws(AllowanceError) -> Result? {
        _ = registration
        var (attempt, mayBePending) = (0, true)
        while true {
            let before = requests.load(ordering: .relaxed)
            if let result = body() { return result }
            try WorkAllowance.check()
            if requests.load(ordering: .relaxed) == before {
                // A request may have been counted before, and its flag seen only now.
                guard mayBePending, now - lastRequest.load(ordering: .relaxed) < pendingNanoseconds else { return nil }
                mayBePending = false
                continue
            }
            attempt += 1
            if attempt >= attempts, WorkAllowance.current != nil { throw .disturbed }
        }
    }

    /// Asks GEOS to stop: the computation of the thread that sees it first stops, whoever's it is.
    static func disturb() {
        lastRequest.store(now, ordering: .relaxed)
        requests.wrappingAdd(1, ordering: .relaxed)
        GEOS_interruptRequest()
    }
}
