/// Dates and times as the protocol's SQL writes them, read without a calendar library: the proleptic Gregorian calendar
/// in UTC.
package enum SQLDateText {
    package static let millisecondsPerDay: Int64 = 86_400_000

    /// Milliseconds since 1970 that four digits of a year can say.
    private static let representable: ClosedRange<Int64> = -62_167_219_200_000...253_402_300_799_999

    /// Whole days since 1970-01-01, and the milliseconds since that day's midnight. Any number has them.
    package static func split(_ milliseconds: Int64) -> (days: Int64, time: Int64) {
        let (days, time) = milliseconds.quotientAndRemainder(dividingBy: millisecondsPerDay)
        return time < 0 ? (days - 1, time + millisecondsPerDay) : (days, time)
    }

    /// Days since 1970-01-01.
    package static func days(year: Int, month: Int, day: Int) -> Int64? {
        guard (-9_999...9_999).contains(year), (1...12).contains(month), day >= 1, day <= length(of: month, in: year)
        else { return nil }
        // Years that begin in March put the leap day at their end.
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return Int64(era) * 146_097 + Int64(dayOfEra) - 719_468
    }

    private static func length(of month: Int, in year: Int) -> Int {
        switch month {
        case 4, 6, 9, 11: 30
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        default: 31
        }
    }

    /// Year, month and day of a count of days since 1970-01-01.
    package static func civil(days: Int64) -> (year: Int, month: Int, day: Int) {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthIndex = (5 * dayOfYear + 2) / 153
        let month = monthIndex < 10 ? monthIndex + 3 : monthIndex - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (Int(year), Int(month), Int(dayOfYear - (153 * monthIndex + 2) / 5 + 1))
    }

    /// `YYYY-MM-DD`.
    package static func date(_ text: String) -> Int64? {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, let year = number(parts[0]), let month = number(parts[1]), let day = number(parts[2])
        else { return nil }
        return days(year: year, month: month, day: day).map { $0 * millisecondsPerDay }
    }

    /// `HH:MM[:SS[.fff]]`, in milliseconds since midnight.
    package static func time(_ text: String) -> Int64? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard (2...3).contains(parts.count), let hour = number(parts[0]), let minute = number(parts[1]),
            (0...23).contains(hour), (0...59).contains(minute)
        else { return nil }
        guard let second = parts.count == 3 ? milliseconds(parts[2]) : 0, second < 60_000 else { return nil }
        return Int64(hour) * 3_600_000 + Int64(minute) * 60_000 + second
    }

    /// `YYYY-MM-DD[ HH:MM[:SS[.fff]]][ ±HH:MM|Z]`; a T may stand for the space.
    package static func timestamp(_ text: String) -> Int64? {
        var words = text.replacing("T", with: " ").split(separator: " ").map(String.init)
        guard let first = words.first, let day = date(first) else { return nil }
        words.removeFirst()
        guard var clock = words.first else { return day }
        words.removeFirst()
        var offset: Int64 = 0
        if clock.hasSuffix("Z") {
            clock.removeLast()
        } else if let sign = clock.lastIndex(where: { $0 == "+" || $0 == "-" }) {
            words.insert(String(clock[sign...]), at: 0)
            clock = String(clock[..<sign])
        }
        if let zone = words.first {
            guard words.count == 1, let sign = zone.first, sign == "+" || sign == "-",
                let shift = time(String(zone.dropFirst()))
            else { return nil }
            offset = sign == "-" ? -shift : shift
        }
        // An offset may lead out of the years that four digits write.
        return time(clock).map { day + $0 - offset }.flatMap { representable.contains($0) ? $0 : nil }
    }

    /// `'3'` DAY or `'3 05:32:28'` DAY TO SECOND, in milliseconds.
    static func interval(_ text: String, from first: SQLDatePart, to last: SQLDatePart) -> Int64? {
        let units: [SQLDatePart] = [.day, .hour, .minute, .second]
        let sizes: [Int64] = [86_400_000, 3_600_000, 60_000, 1_000]
        guard let from = units.firstIndex(of: first), let to = units.firstIndex(of: last), from <= to else {
            return nil
        }
        var text = Substring(text)
        let isNegative = text.hasPrefix("-")
        if isNegative { text = text.dropFirst() }
        let parts = text.split { $0 == " " || $0 == ":" }
        guard parts.count == to - from + 1 else { return nil }
        var sum: Int64 = 0
        for (offset, part) in parts.enumerated() {
            if units[from + offset] == .second {
                guard let value = milliseconds(part) else { return nil }
                sum += value
            } else {
                guard let value = number(part) else { return nil }
                sum += Int64(value) * sizes[from + offset]
            }
        }
        // Nine digits of days are as much as the written form says.
        guard sum / millisecondsPerDay <= 999_999_999 else { return nil }
        return isNegative ? -sum : sum
    }

    /// Digits only, at most nine of them.
    private static func number(_ text: Substring) -> Int? {
        guard (1...9).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Int(text)
    }

    /// Seconds with up to nine decimals, as milliseconds.
    private static func milliseconds(_ text: Substring) -> Int64? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), let whole = number(parts[0]) else { return nil }
        guard parts.count == 2 else { return Int64(whole) * 1_000 }
        guard number(parts[1]) != nil, let fraction = number((parts[1] + "000").prefix(3)) else { return nil }
        return Int64(whole) * 1_000 + Int64(fraction)
    }
}
