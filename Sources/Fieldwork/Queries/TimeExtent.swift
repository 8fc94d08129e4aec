public import Foundation

/// A span of time, both ends included; an end that is nil is open.
public final class TimeExtent: Sendable, Hashable {
    /// When it begins; nil for always before.
    public let startDate: Date?
    /// When it ends; nil for ever after.
    public let endDate: Date?

    /// A span between two moments. The earlier one is taken for the start.
    public init(startDate: Date?, endDate: Date?) {
        if let startDate, let endDate, endDate < startDate {
            self.startDate = endDate
            self.endDate = startDate
        } else {
            self.startDate = startDate
            self.endDate = endDate
        }
    }

    /// One moment.
    public convenience init(date: Date) { self.init(startDate: date, endDate: date) }

    /// Equal by both ends.
    public static func == (one: TimeExtent, other: TimeExtent) -> Bool {
        one.startDate == other.startDate && one.endDate == other.endDate
    }

    /// By both ends.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(startDate)
        hasher.combine(endDate)
    }

    /// The ends in milliseconds since 1970.
    var milliseconds: (from: Int64?, to: Int64?) {
        func moment(_ date: Date?) -> Int64? {
            date.flatMap { Int64(exactly: ($0.timeIntervalSince1970 * 1_000).rounded()) }
        }
        return (moment(startDate), moment(endDate))
    }

    /// The span as `time` of a query names it; nil for all times.
    var parameter: String? {
        let (from, to) = milliseconds
        if from == nil, to == nil { return nil }
        return [from, to].map { $0.map(String.init) ?? "null" }.joined(separator: ",")
    }

    /// The span earlier by a duration.
    func moved(back offset: TimeValue) -> TimeExtent {
        TimeExtent(startDate: startDate.map { offset.before($0) }, endDate: endDate.map { offset.before($0) })
    }
}

/// A duration in a unit of the calendar.
public struct TimeValue: Sendable, Hashable {
    /// A unit of time.
    public enum Unit: Sendable {
        /// Of the clock.
        case milliseconds, seconds, minutes, hours
        /// Of the calendar.
        case days, weeks, months, years, decades, centuries
        /// Not known; no time at all.
        case unknown
    }

    /// How many units.
    public var duration: Double
    /// The unit.
    public var unit: Unit

    /// A duration in a unit.
    public init(duration: Double, unit: Unit) {
        self.duration = duration
        self.unit = unit
    }

    /// The moment that is this duration before another. Whole months and years go by the calendar in UTC, and keep the day
    /// where the month has it; parts of them count as 30 and 365 days.
    func before(_ date: Date) -> Date {
        guard duration.isFinite else { return date }
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        let (months, seconds) = parts
        let moved = months == 0 ? date : calendar.date(byAdding: .month, value: -months, to: date) ?? date
        return moved.addingTimeInterval(-seconds)
    }

    private static let secondsPerDay = 86_400.0

    /// Whole months, and seconds beside them.
    private var parts: (months: Int, seconds: Double) {
        switch unit {
        case .milliseconds: return (0, duration / 1_000)
        case .seconds: return (0, duration)
        case .minutes: return (0, duration * 60)
        case .hours: return (0, duration * 3_600)
        case .days: return (0, duration * Self.secondsPerDay)
        case .weeks: return (0, duration * 7 * Self.secondsPerDay)
        case .months: return calendarParts(months: 1, days: 30)
        case .years: return calendarParts(months: 12, days: 365)
        case .decades: return calendarParts(months: 120, days: 3_650)
        case .centuries: return calendarParts(months: 1_200, days: 36_500)
        case .unknown: return (0, 0)
        }
    }

    private func calendarParts(months: Int, days: Double) -> (months: Int, seconds: Double) {
        let whole = duration.rounded(.towardZero)
        let allowed = -Limits.timeOffsetUnits...Limits.timeOffsetUnits
        guard let count = Int(exactly: whole), allowed.contains(count) else { return (0, 0) }
        return (count * months, (duration - whole) * days * Self.secondsPerDay)
    }
}
