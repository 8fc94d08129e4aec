import FieldworkGeometry
import FieldworkREST
import Foundation

/// Values on a line for a person: texts in quotes, dates as dates.
struct ValueText {
    private let dates: Set<String>

    init(fields: [FieldDefinition]) { dates = Set(fields.filter { $0.type == .date }.map { $0.name.lowercased() }) }

    /// Nothing is known of the fields.
    init() { dates = [] }

    func text(_ name: String, _ value: JSONValue) -> String {
        guard dates.contains(name.lowercased()), let milliseconds = value.integerValue else { return value.text }
        return MomentText.text(milliseconds: milliseconds)
    }

    func text(_ name: String, _ value: AttributeValue) -> String { text(name, value.json) }
}

/// Moments of the protocol, in UTC.
enum MomentText {
    static func text(_ json: JSONValue?) -> String { json?.integerValue.map { text(milliseconds: $0) } ?? "never" }

    /// - Parameters:
    ///   - milliseconds: since 1970. Any number has its date: those of SQL's calendar go farther than `Date`'s formats.
    ///   - isExact: with the milliseconds, where there are any; a person reads seconds.
    static func text(milliseconds: Int64, isExact: Bool = false) -> String {
        let perDay = SQLDateText.millisecondsPerDay
        let time = ((milliseconds % perDay) + perDay) % perDay
        let day = SQLDateText.civil(days: (milliseconds - time) / perDay)
        let fraction = time % 1_000 == 0 || !isExact ? "" : String(format: ".%03d", Int(time % 1_000))
        return String(
            format: "%04d-%02d-%02dT%02d:%02d:%02d%@Z", day.year, day.month, day.day, Int(time / 3_600_000),
            Int(time / 60_000 % 60), Int(time / 1_000 % 60), fraction)
    }
}
