/// A day of the calendar: days since 1 January 1970.
public struct CalendarDay: Sendable, Hashable, Comparable {
    /// Days since 1 January 1970.
    public let number: Int

    /// The days that have a date of four digits and a few more: -200,000 to 200,000 years.
    private static let range = -73_048_500...73_048_500

    init?(number: Int) {
        guard Self.range.contains(number) else { return nil }
        self.number = number
    }

    /// By year, month 1 to 12 and day; nil when there is no such day.
    public init?(year: Int, month: Int, day: Int) {
        guard abs(year) < 200_000, (1...12).contains(month), (1...31).contains(day) else { return nil }
        self.init(number: Self.days(year: year, month: month, day: day))
        guard self.day == day else { return nil }
    }

    /// Days since 1970 of a date of the Gregorian calendar, by the method of counting years from March.
    static func days(year: Int, month: Int, day: Int) -> Int {
        let year = month <= 2 ? year - 1 : year
        let era = (year >= 0 ? year : year - 399) / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// Year, month 1 to 12 and day.
    public var parts: (year: Int, month: Int, day: Int) {
        let shifted = number + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (
            yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        )
    }

    var year: Int { parts.year }
    var month: Int { parts.month }
    var day: Int { parts.day }
    /// 0 for Sunday to 6.
    var weekday: Int { ((number + 4) % 7 + 7) % 7 }
    /// 1 for Monday to 7.
    var isoWeekday: Int { weekday == 0 ? 7 : weekday }
    /// 0 for 1 January.
    var dayOfYear: Int { number - Self.days(year: year, month: 1, day: 1) }

    /// The year and the week of ISO 8601.
    var isoWeek: (year: Int, week: Int) {
        // The Thursday of a week decides its year.
        let thursday = number - isoWeekday + 4
        guard let day = CalendarDay(number: thursday) else { return (year, 1) }
        return (day.year, day.dayOfYear / 7 + 1)
    }

    /// The day some months later, on the last of the month where there is no such day.
    func adding(months: Int) -> CalendarDay? {
        guard abs(months) < 2_400_000 else { return nil }
        let (year, month, day) = parts
        let total = year * 12 + month - 1 + months
        let newYear = Int((Double(total) / 12).rounded(.down))
        let newMonth = total - newYear * 12 + 1
        for last in stride(from: day, to: day - 4, by: -1) {
            if let made = CalendarDay(year: newYear, month: newMonth, day: last) { return made }
        }
        return nil
    }

    /// `2020-01-31`.
    public var text: String {
        let (year, month, day) = parts
        return "\(Digits.padded(year, 4))-\(Digits.padded(month, 2))-\(Digits.padded(day, 2))"
    }

    /// Earlier days come first.
    public static func < (one: CalendarDay, other: CalendarDay) -> Bool { one.number < other.number }
}

/// Whole numbers as text of a fixed width.
enum Digits {
    static func padded(_ number: Int, _ width: Int) -> String {
        let digits = String(number.magnitude)
        let zeros = String(repeating: "0", count: max(0, width - digits.utf8.count))
        return (number < 0 ? "-" : "") + zeros + digits
    }
}
