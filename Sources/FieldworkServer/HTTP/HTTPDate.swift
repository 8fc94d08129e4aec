import Foundation
import Synchronization

/// The `Date` field of answers, written once a second and not once a request.
final class HTTPDate: Sendable {
    private let cached = Mutex((second: Int64.min, text: ""))

    var now: String {
        let second = Int64(time(nil))
        return cached.withLock { cached in
            if cached.second != second { cached = (second, Self.text(secondsSince1970: second)) }
            return cached.text
        }
    }

    /// A moment as HTTP writes it, for example `Sun, 06 Nov 1994 08:49:37 GMT`.
    static func text(secondsSince1970 second: Int64) -> String {
        let days = Int((Double(second) / 86_400).rounded(.down))
        let ofDay = Int(second) - days * 86_400
        let (year, month, day) = civil(daysSince1970: days)
        let weekday = weekdays[((days % 7) + 11) % 7]
        let clock = [ofDay / 3_600, ofDay / 60 % 60, ofDay % 60].map(twoDigits).joined(separator: ":")
        return "\(weekday), \(twoDigits(day)) \(months[month - 1]) \(year) \(clock) GMT"
    }

    private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    private static func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

    /// The Gregorian date of a day, counted in years that begin in March so that the leap day comes last.
    private static func civil(daysSince1970: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = daysSince1970 + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }
}
