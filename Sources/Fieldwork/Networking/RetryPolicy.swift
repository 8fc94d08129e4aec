import Foundation

/// When a read is tried again.
enum RetryPolicy {
    /// Statuses of a service that is too busy, or of a gateway before one that is away.
    static let busyStatuses: Set<UInt> = [429, 502, 503, 504]

    /// How long to wait before the next attempt: as long as the service says, else twice as long each time, a bit more or less so
    /// that a crew's devices do not come back all at once.
    /// - Returns: nil when the service wants to be left alone for longer than anybody waits.
    static func pause(
        after attempt: Int, retryAfter: Duration?, spread: Double = .random(in: 0.5...1)
    ) -> Duration? {
        if let retryAfter { return retryAfter <= .seconds(Limits.retrySeconds) ? max(retryAfter, .zero) : nil }
        let milliseconds = Limits.firstRetryMilliseconds << min(max(attempt, 1) - 1, 10)
        return min(.milliseconds(milliseconds) * spread, .seconds(Limits.retrySeconds))
    }

    /// The value of a `Retry-After` header: seconds, or a moment as HTTP writes it. nil for anything else.
    static func retryAfter(_ text: String?, now: Date) -> Duration? {
        guard let text = text?.trimmingCharacters(in: .whitespaces), !text.isEmpty else { return nil }
        if text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
            // More digits than a number holds are too long in any case.
            return .seconds(Int64(text) ?? .max / 1_000)
        }
        guard let moment = moment(text) else { return nil }
        return max(.zero, .seconds(moment.timeIntervalSince(now)))
    }
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// `Sun, 06 Nov 1994 08:49:37 GMT`.
    private static func moment(_ text: String) -> Date? {
        let words = text.split(separator: " ")
        guard words.count == 6, words[5] == "GMT", let month = months.firstIndex(of: String(words[2])) else {
            return nil
        }
        let number = month < 9 ? "0\(month + 1)" : "\(month + 1)"
        return try? Date("\(words[3])-\(number)-\(words[1])T\(words[4])Z", strategy: .iso8601)
    }
}
