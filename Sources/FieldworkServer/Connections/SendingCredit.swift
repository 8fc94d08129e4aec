import NIOCore

/// The time that a sender has left. It goes by while bytes are awaited and grows with those that come, up to where it
/// began: a line that is gone for a moment is borne, one byte now and then is not.
struct SendingCredit {
    private let most: TimeAmount
    private let bytesPerSecond: Int64
    private var left: TimeAmount
    /// Since when bytes are awaited; nil while the server takes none.
    private var awaitedSince: NIODeadline?

    init(grace: Duration, bytesPerSecond: Int) {
        most = TimeAmount(grace)
        left = most
        self.bytesPerSecond = max(1, Int64(bytesPerSecond))
    }

    mutating func awaited(at now: NIODeadline) { awaitedSince = awaitedSince ?? now }

    mutating func received(_ bytes: Int, at now: NIODeadline) {
        left = timeLeft(at: now)
        awaitedSince = nil
        let (whole, rest) = Int64(bytes).quotientAndRemainder(dividingBy: bytesPerSecond)
        left = min(most, left + .seconds(min(whole, Self.longest)) + .milliseconds(rest * 1_000 / bytesPerSecond))
    }

    /// Nothing or less when the sender has been too slow.
    func timeLeft(at now: NIODeadline) -> TimeAmount {
        guard let awaitedSince else { return left }
        return left - (now - awaitedSince)
    }

    /// No grace is as long: what is beyond it is cut off anyway.
    private static let longest: Int64 = 1_000_000
}
