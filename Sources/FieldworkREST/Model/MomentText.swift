package import FieldworkGeometry
import Foundation

/// Moments of the protocol, in UTC.
package enum MomentText {
    package static func text(_ json: JSONValue?) -> String {
        json?.integerValue.map { text(milliseconds: $0) } ?? "never"
    }

    /// - Parameters:
    ///   - milliseconds: since 1970. Any number has its date: those of SQL's calendar go farther than `Date`'s formats.
    ///   - isExact: with the milliseconds, where there are any; a person reads seconds.
    package static func text(milliseconds: Int64, isExact: Bool = false) -> String {
        let perDay = SQLDateText.millisecondsPerDay
        let time = ((milliseconds % perDay) + perDay) % perDay
        let day = SQLDateText.civil(days: (milliseconds - time) / perDay)
        let fraction = time % 1_000 == 0 || !isExact ? "" : String(format: ".%03d", Int(time % 1_000))
        return String(
            format: "%04d-%02d-%02dT%02d:%02d:%02d%@Z", day.year, day.month, day.day, Int(time / 3_600_000),
            Int(time / 60_000 % 60), Int(time / 1_000 % 60), fraction)
    }
}
