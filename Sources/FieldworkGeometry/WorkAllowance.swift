import Foundation
import Synchronization

/// What a piece of work may still take: time and memory, and whether it is still wanted. A server makes one for each request and
/// binds it to `current`; work that can become long looks at it every few hundred steps. Without one there is no limit.
///
/// It can be read from synchronous code and from a C library's callbacks, as long as they run within the task.
package final class WorkAllowance: Sendable {
    @TaskLocal package static var current: WorkAllowance?

    /// How the time of the work is measured.
    package enum Clock: Sendable {
        /// All time that passes, except for what is waited.
        case passing
        /// The time that the thread computes, which must be the same thread from beginning to end: a slow disk does not count.
        case computing
    }

    /// The time that the work may take. Waiting does not count; see `waiting`.
    package let time: Duration
    /// The memory that it may hold at a time, in bytes.
    package let memory: Int
    /// Whose work it is: those who ask for much share what there is by this name.
    package let client: String

    /// How long it may wait for its turn, where that is longer than others do.
    package let patience: Duration?

    private let account: (any MemoryAccount)?
    private let clock: Clock
    /// The work that this is a longer part of: it counts the memory, and what its client no longer wants ends both.
    private let whole: WorkAllowance?
    /// Whether waiting never counts.
    package var countsComputingOnly: Bool { clock == .computing }
    private let began: Int64
    /// The moment of the clock at which the work must be done.
    private let end: Atomic<Int64>
    private let isUnwanted = Atomic(false)
    private let held = Atomic(0)
    private let mostHeld = Atomic(0)

    /// - Parameters:
    ///   - patience: how long it may wait for its turn; nil for as long as others do.
    ///   - account: what the memory of all work is charged to as well.
    package convenience init(
        time: Duration, memory: Int = .max, client: String = "", clock: Clock = .passing, patience: Duration? = nil,
        account: (any MemoryAccount)? = nil
    ) {
        self.init(
            time: time, memory: memory, client: client, clock: clock, patience: patience, account: account, whole: nil)
    }

    private init(
        time: Duration, memory: Int, client: String, clock: Clock, patience: Duration?,
        account: (any MemoryAccount)?, whole: WorkAllowance?
    ) {
        self.patience = patience
        self.whole = whole
        self.time = time
        self.memory = memory
        self.client = client
        self.account = account
        self.clock = clock
        began = clock.now
        let (end, isEndless) = began.addingReportingOverflow(time.nanoseconds)
        self.end = Atomic(isEndless ? .max : end)
    }

    deinit {
        let rest = held.load(ordering: .relaxed)
        guard rest > 0 else { return }
        account?.giveBack(rest)
        whole?.giveBack(rest)
    }

    // MARK: Time

    /// Throws when the work must not go on. It costs a look at the clock.
    package func check() throws(AllowanceError) {
        if hasLeft { throw .unwanted }
        guard clock.now <= end.load(ordering: .relaxed) else { throw .timeIsUp(time) }
    }

    /// The same for the work of the current task.
    @inline(__always)
    package static func check() throws(AllowanceError) { try current?.check() }

    /// Time that the work has left; nothing when it is over.
    package var timeLeft: Duration { .nanoseconds(max(0, end.load(ordering: .relaxed) &- clock.now)) }

    /// Runs something that waits for others: for a turn, for a client that takes the answer. The time does not count.
    package func waiting<Result>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
    ) async rethrows -> Result {
        let before = clock.now
        defer { extend(by: clock.now &- before) }
        return try await body()
    }

    /// Notes a wait that is over: its time does not count.
    package func waited(_ time: Duration) { if clock == .passing { extend(by: max(0, time.nanoseconds)) } }

    private func extend(by nanoseconds: Int64) {
        guard end.load(ordering: .relaxed) < .max - nanoseconds else { return }
        end.wrappingAdd(nanoseconds, ordering: .relaxed)
    }

    // MARK: Whether it is wanted

    /// The client has left: nothing of the work is wanted any more.
    package func leave() { isUnwanted.store(true, ordering: .relaxed) }

    private var hasLeft: Bool { isUnwanted.load(ordering: .relaxed) || whole?.hasLeft == true }

    /// The allowance of a part of this work that may take longer, from now on. It ends as well when the client leaves, and its memory
    /// is this work's.
    package func prolonged(to time: Duration) -> WorkAllowance {
        WorkAllowance(
            time: time, memory: memory, client: client, clock: clock, patience: time, account: nil, whole: self)
    }

    /// The allowance of edits that this work has asked for, for the thread that writes them: as much time of computing. They are
    /// done or not done, whether or not their client waits for the answer.
    package func ofEdits() -> WorkAllowance {
        WorkAllowance(time: time, memory: memory, client: client, clock: .computing)
    }

    // MARK: Memory

    /// Counts bytes that the work holds from now on.
    package func charge(_ bytes: Int) throws(AllowanceError) {
        guard bytes > 0 else { return }
        let now = held.wrappingAdd(bytes, ordering: .relaxed).newValue
        guard now <= memory, now > 0 else {
            held.wrappingSubtract(bytes, ordering: .relaxed)
            throw .memoryIsUp(memory)
        }
        guard account?.take(bytes) ?? true else {
            held.wrappingSubtract(bytes, ordering: .relaxed)
            throw .memoryOfAllIsUp
        }
        do throws(AllowanceError) { try whole?.charge(bytes) } catch {
            held.wrappingSubtract(bytes, ordering: .relaxed)
            throw error
        }
        mostHeld.max(now, ordering: .relaxed)
    }

    /// Gives back what was charged. What is not given back by then goes back with the allowance.
    package func giveBack(_ bytes: Int) {
        guard bytes > 0 else { return }
        held.wrappingSubtract(bytes, ordering: .relaxed)
        account?.giveBack(bytes)
        whole?.giveBack(bytes)
    }

    /// Bytes that are charged now.
    package var heldBytes: Int { held.load(ordering: .relaxed) }
    /// The most that was charged at a time.
    package var mostHeldBytes: Int { mostHeld.load(ordering: .relaxed) }
}

/// The memory that all work of a process may hold together.
package protocol MemoryAccount: AnyObject, Sendable {
    /// - Returns: false when there is not so much left: nothing is taken then.
    func take(_ bytes: Int) -> Bool
    func giveBack(_ bytes: Int)
}

/// Why work must not go on.
package enum AllowanceError: Error, Sendable, Hashable, CustomStringConvertible {
    /// It took longer than it may.
    case timeIsUp(Duration)
    /// It would hold more bytes than it may.
    case memoryIsUp(Int)
    /// All work together would hold more memory than it may: the same work may succeed later.
    case memoryOfAllIsUp
    /// It was stopped again and again together with other work that had to end: the same work may succeed later.
    case disturbed
    /// The work would take too much, as can be told before it begins. The text says what to ask for instead.
    case tooMuchWork(String)
    /// Its client has left.
    case unwanted

    package var description: String {
        switch self {
        case .timeIsUp(let time): "The request took more than \(time.text) of work and was ended."
        case .memoryIsUp(let bytes):
            "The request needed more than \(bytes / 1_048_576) MB of memory and was ended."
        case .memoryOfAllIsUp: "The requests that are being answered need all the memory there is for them. Try again."
        case .disturbed: "The request was stopped together with others that took too long. Try again."
        case .tooMuchWork(let text): text
        case .unwanted: "The client has left."
        }
    }
}

extension WorkAllowance.Clock {
    /// Nanoseconds since some moment.
    fileprivate var now: Int64 {
        var time = timespec()
        clock_gettime(self == .computing ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }
}

extension Duration {
    fileprivate var text: String {
        let (seconds, attoseconds) = components
        if attoseconds == 0 { return "\(seconds) seconds" }
        return "\(seconds &* 1_000 &+ attoseconds / 1_000_000_000_000_000) milliseconds"
    }

    /// Whole nanoseconds; the largest number for what is longer than that.
    fileprivate var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, more) = product.addingReportingOverflow(attoseconds / 1_000_000_000)
        return overflow || more ? .max : sum
    }
}
