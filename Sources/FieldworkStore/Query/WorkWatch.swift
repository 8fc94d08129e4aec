package import FieldworkGeometry
import GRDBSQLite

/// Ends the work of one connection when its allowance says so, wherever that work is under way: in a statement of SQLite, in the
/// wait for another database, in the encoding of rows. Belongs to its connection and is used where that may be used.
package final class WorkWatch {
    private var allowance: WorkAllowance?
    /// When a read that began as a short one needs a place among the long ones.
    private var shortEnd: ContinuousClock.Instant?
    private var turn: ReaderTurn?
    /// When work must end that is done on the thread of whoever asks.
    private var glanceEnd: ContinuousClock.Instant?
    /// Why the work must end; nil while it may go on.
    private var reason: (any Error)?

    package init() {}

    /// Whether the work that is under way has limits.
    package var hasLimits: Bool { allowance != nil }

    /// The same as `isOver` for work that waits for another database. Where only computing counts, a wait may take as long as all of
    /// the computing.
    package func isOver(waitingSince began: ContinuousClock.Instant) -> Bool {
        if isOver { return true }
        guard let allowance, allowance.countsComputingOnly, began.duration(to: .now) > allowance.time else {
            return false
        }
        reason = AllowanceError.timeIsUp(allowance.time)
        return true
    }

    /// Whether the work must end. It costs a look at the clock or two.
    package var isOver: Bool {
        guard allowance != nil || glanceEnd != nil else { return false }
        if reason != nil { return true }
        if let glanceEnd, glanceEnd <= .now {
            reason = NoGlance()
            return true
        }
        guard let allowance else { return false }
        do {
            try allowance.check()
        } catch {
            reason = error
            return true
        }
        guard let shortEnd, shortEnd <= .now else { return false }
        self.shortEnd = nil
        guard let turn, !turn.becomesLong() else { return false }
        reason = PlaceNeeded()
        return true
    }

    /// Ends the work under way for a reason that showed in it.
    func end(for reason: any Error) { self.reason = self.reason ?? reason }

    /// Counts bytes that the work holds from now on.
    func charge(_ bytes: Int) throws { try allowance?.charge(bytes) }

    /// The same for a caller that ends the work itself when it may not hold so much.
    package func holds(_ bytes: Int) -> Bool {
        do {
            try charge(bytes)
            return true
        } catch {
            reason = error
            return false
        }
    }

    /// Gives back what was charged.
    package func giveBack(_ bytes: Int) { allowance?.giveBack(bytes) }

    /// Runs what leaves a connection in order after its work, whether or not that had to end.
    func cleaningUp(_ body: () -> Void) {
        let known = (allowance, shortEnd, glanceEnd)
        (allowance, shortEnd, glanceEnd) = (nil, nil, nil)
        defer { (allowance, shortEnd, glanceEnd) = known }
        body()
    }

    /// Throws when the work must end.
    package func check() throws {
        if isOver, let reason { throw reason }
    }

    /// Runs work under an allowance.
    package func runAllowed<Result>(_ allowance: WorkAllowance?, _ body: () throws -> Result) throws -> Result {
        try run(allowance, body)
    }

    /// Runs work under an allowance. What ends it is thrown in place of the error in which that showed.
    /// - Parameters:
    ///   - turn: of a reader that is to serve short reads; nil for work that may be long.
    ///   - isGlance: whether it holds up the thread of whoever asks, so that it must end soon: it throws `NoGlance` if it does not.
    func run<Result>(
        _ allowance: WorkAllowance?, turn: ReaderTurn? = nil, isGlance: Bool = false, _ body: () throws -> Result
    ) throws -> Result {
        guard allowance != nil || isGlance else { return try body() }
        self.allowance = allowance
        self.turn = turn
        if let turn, !turn.isLong { shortEnd = .now + .milliseconds(Limits.shortReadMilliseconds) }
        if isGlance { glanceEnd = .now + .milliseconds(Limits.glanceMilliseconds) }
        defer { (self.allowance, self.turn, shortEnd, glanceEnd, reason) = (nil, nil, nil, nil, nil) }
        try check()
        do {
            return try body()
        } catch {
            throw reason ?? error
        }
    }
}

/// A read takes longer than a short one may, and there is no place among the long ones: it is to begin again when it has one.
struct PlaceNeeded: Error {}

/// A read on the thread of whoever asks takes longer than it may hold that up: it is to begin again on the reader's own.
struct NoGlance: Error {}

extension StoreConnection {
    /// Lets SQLite look at the watch every few thousand steps of a statement.
    func beWatched() {
        sqlite3_progress_handler(
            pointer, Limits.stepsBetweenChecks,
            { watch in
                guard let watch else { return 0 }
                return Unmanaged<WorkWatch>.fromOpaque(watch).takeUnretainedValue().isOver ? 1 : 0
            }, Unmanaged.passUnretained(watch).toOpaque())
    }
}
