/// Patterns for dates, such as `MMMM D, Y`.
enum DatePattern {
    static let months = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
        "December",
    ]
    static let weekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]

    /// A piece of a pattern: a run of one letter that means something, or other text.
    enum Piece: Equatable {
        case letters(Character, Int)
        case text(String)
    }

    /// The most letters of each kind that mean something together.
    private static let widths: [Character: Int] = [
        "D": 3, "d": 4, "M": 4, "Y": 4, "y": 4, "h": 2, "H": 2, "m": 2, "s": 2, "S": 3, "A": 1, "a": 1, "Z": 5,
    ]

    static func pieces(_ pattern: String) -> [Piece] {
        var (pieces, text): ([Piece], String) = ([], "")
        let characters = Array(pattern)
        var index = 0
        while index < characters.count {
            let letter = characters[index]
            guard let width = widths[letter] else {
                text.append(letter)
                index += 1
                continue
            }
            var count = 1
            while count < width, index + count < characters.count, characters[index + count] == letter { count += 1 }
            if !text.isEmpty { pieces.append(.text(text)) }
            text = ""
            pieces.append(.letters(letter, count))
            index += count
        }
        if !text.isEmpty { pieces.append(.text(text)) }
        return pieces
    }

    /// A day and a time of it as a pattern shows them; `date` tells the zone.
    static func text(_ pattern: String, day: CalendarDay, time: Int, _ date: DateValue?) -> String {
        let (year, month, dayOfMonth) = day.parts
        let hours = time / 3_600_000
        return pieces(pattern).map { piece -> String in
            switch piece {
            case .text(let text): return text
            case .letters("D", 3): return String(day.dayOfYear + 1)
            case .letters("D", let count): return Digits.padded(dayOfMonth, count)
            // The first day is Monday: see Documentation/arcade.md.
            case .letters("d", 4): return weekdays[day.weekday]
            case .letters("d", 3): return String(weekdays[day.weekday].prefix(3))
            case .letters("d", let count): return Digits.padded(day.isoWeekday, count)
            case .letters("M", 4): return months[month - 1]
            case .letters("M", 3): return String(months[month - 1].prefix(3))
            case .letters("M", let count): return Digits.padded(month, count)
            case .letters("Y", 2), .letters("y", 2): return Digits.padded((year % 100 + 100) % 100, 2)
            case .letters("Y", _), .letters("y", _): return String(year)
            case .letters("h", let count): return Digits.padded(hours % 12 == 0 ? 12 : hours % 12, count)
            case .letters("H", let count): return Digits.padded(hours, count)
            case .letters("m", let count): return Digits.padded(time / 60_000 % 60, count)
            case .letters("s", let count): return Digits.padded(time / 1_000 % 60, count)
            case .letters("S", let count): return String(Digits.padded(time % 1_000, 3).prefix(count))
            case .letters("A", _): return hours < 12 ? "AM" : "PM"
            case .letters("a", _): return hours < 12 ? "am" : "pm"
            case .letters(_, let count): return zone(count, date)
            }
        }.joined()
    }

    private static func zone(_ width: Int, _ date: DateValue?) -> String {
        guard let date, !date.zone.isUnknown else { return "" }
        let offset = date.zone.offset(at: date.milliseconds)
        switch width {
        case 1:
            let minutes = Int(offset / 60_000)
            let rest = abs(minutes) % 60
            let sign = minutes < 0 ? "-" : "+"
            return sign + String(abs(minutes) / 60) + (rest == 0 ? "" : ":" + Digits.padded(rest, 2))
        case 2: return TimeText.offset(offset, colon: true)
        case 3: return TimeText.offset(offset, colon: false)
        case 4: return date.zone.abbreviation(at: date.milliseconds)
        default: return date.zone.name
        }
    }
}
