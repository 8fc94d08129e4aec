/// Reads days and times that were written by a pattern.
struct DateReader {
    private var rest: Substring
    private(set) var year: Int?
    private(set) var month: Int?
    private(set) var day: Int?
    private(set) var dayOfYear: Int?
    private(set) var hours: Int?
    private(set) var minutes = 0
    private(set) var seconds = 0
    private(set) var milliseconds = 0
    private var isAfternoon: Bool?

    /// nil when the text does not match the pattern.
    init?(_ text: String, _ pattern: String) {
        rest = Substring(text)
        for piece in DatePattern.pieces(pattern) {
            switch piece {
            case .text(let text):
                guard rest.hasPrefix(text) else { return nil }
                rest = rest.dropFirst(text.count)
            case .letters(let letter, let count):
                guard read(letter, count) else { return nil }
            }
        }
        guard rest.isEmpty else { return nil }
    }

    /// The day; nil when there is none such.
    var calendarDay: CalendarDay? {
        guard let year else { return nil }
        if let dayOfYear {
            return CalendarDay(year: year, month: 1, day: 1).flatMap { CalendarDay(number: $0.number + dayOfYear - 1) }
        }
        return CalendarDay(year: year, month: month ?? 1, day: day ?? 1)
    }

    /// The time in milliseconds; nil when there is none such.
    var time: Int? {
        guard var hours else { return nil }
        if let isAfternoon {
            guard (1...12).contains(hours) else { return nil }
            hours = hours % 12 + (isAfternoon ? 12 : 0)
        }
        return DateText.time(hours, minutes, seconds, milliseconds)
    }

    private mutating func read(_ letter: Character, _ count: Int) -> Bool {
        switch (letter, count) {
        case ("D", 3): return number(3) { $0.dayOfYear = $1 }
        case ("D", _): return number(2) { $0.day = $1 }
        case ("d", 3...4): return name(DatePattern.weekdays, isShort: count == 3) { _, _ in }
        case ("d", _): return number(2) { _, _ in }
        case ("M", 3...4): return name(DatePattern.months, isShort: count == 3) { $0.month = $1 + 1 }
        case ("M", _): return number(2) { $0.month = $1 }
        case ("Y", 2), ("y", 2): return number(2) { $0.year = $1 < 50 ? 2_000 + $1 : 1_900 + $1 }
        case ("Y", _), ("y", _): return number(4) { $0.year = $1 }
        case ("h", _), ("H", _): return number(2) { $0.hours = $1 }
        case ("m", _): return number(2) { $0.minutes = $1 }
        case ("s", _): return number(2) { $0.seconds = $1 }
        case ("S", _): return number(3) { $0.milliseconds = $1 }
        case ("A", _), ("a", _):
            let word = rest.prefix(2).lowercased()
            guard word == "am" || word == "pm" else { return false }
            isAfternoon = word == "pm"
            rest = rest.dropFirst(2)
            return true
        default: return false
        }
    }

    private mutating func number(_ width: Int, _ set: (inout DateReader, Int) -> Void) -> Bool {
        let digits = rest.prefix(width).prefix { $0.isASCII && $0.isNumber }
        guard let value = Int(digits) else { return false }
        rest = rest.dropFirst(digits.count)
        set(&self, value)
        return true
    }

    private mutating func name(_ names: [String], isShort: Bool, _ set: (inout DateReader, Int) -> Void) -> Bool {
        for (index, name) in names.enumerated() {
            let shown = isShort ? String(name.prefix(3)) : name
            if rest.lowercased().hasPrefix(shown.lowercased()) {
                rest = rest.dropFirst(shown.count)
                set(&self, index)
                return true
            }
        }
        return false
    }
}

/// Dates in ISO 8601, and times of the day as people write them.
enum DateText {
    /// Milliseconds since midnight; nil when there is no such time.
    static func time(_ hours: Int, _ minutes: Int, _ seconds: Int, _ milliseconds: Int) -> Int? {
        guard (0...23).contains(hours), (0...59).contains(minutes), (0...59).contains(seconds),
            (0...999).contains(milliseconds)
        else { return nil }
        return ((hours * 60 + minutes) * 60 + seconds) * 1_000 + milliseconds
    }

    /// `13:20`, `13:20:05.5`, `1:20 PM`.
    static func time(_ text: String) -> Int? {
        var bytes = Array(text.utf8)[...]
        while bytes.first == 0x20 { bytes.removeFirst() }
        guard let hours = number(&bytes, 1...2), take(&bytes, ":"), let minutes = number(&bytes, 2...2) else {
            return nil
        }
        var (seconds, fraction) = (0, 0)
        if take(&bytes, ":") {
            guard let read = number(&bytes, 2...2) else { return nil }
            seconds = read
            if take(&bytes, ".") { fraction = milliseconds(&bytes) }
        }
        let mark = String(decoding: bytes, as: UTF8.self).filter { !$0.isWhitespace }.lowercased()
        switch mark {
        case "": return time(hours, minutes, seconds, fraction)
        case "am", "pm":
            guard (1...12).contains(hours) else { return nil }
            return time(hours % 12 + (mark == "pm" ? 12 : 0), minutes, seconds, fraction)
        default: return nil
        }
    }

    /// A date, with a time and an offset when they are given; without an offset it is in the zone.
    static func iso(_ text: String, zone: ArcadeZone) -> DateValue? {
        var bytes = Array(text.utf8)[...]
        while bytes.first == 0x20 { bytes.removeFirst() }
        while bytes.last == 0x20 { bytes.removeLast() }
        guard let year = number(&bytes, 4...4) else { return nil }
        var (month, day) = (1, 1)
        if take(&bytes, "-") {
            guard let read = number(&bytes, 2...2) else { return nil }
            month = read
            if take(&bytes, "-") {
                guard let read = number(&bytes, 2...2) else { return nil }
                day = read
            }
        }
        guard let date = CalendarDay(year: year, month: month, day: day) else { return nil }
        if bytes.isEmpty { return DateValue(day: date, time: 0, zone: zone) }
        guard take(&bytes, "T") || take(&bytes, "t") || take(&bytes, " "), let hours = number(&bytes, 2...2),
            take(&bytes, ":"), let minutes = number(&bytes, 2...2)
        else { return nil }
        var (seconds, fraction) = (0, 0)
        if take(&bytes, ":") {
            guard let read = number(&bytes, 2...2) else { return nil }
            seconds = read
            if take(&bytes, ".") { fraction = milliseconds(&bytes) }
        }
        guard let time = time(hours, minutes, seconds, fraction) else { return nil }
        if bytes.isEmpty { return DateValue(day: date, time: time, zone: zone) }
        // An offset tells the instant; the parts are read in the zone all the same.
        guard let offset = ArcadeZone(String(decoding: bytes, as: UTF8.self)), !offset.isUnknown else { return nil }
        return DateValue(day: date, time: time, zone: offset)?.changing(to: zone)
    }

    private static func take(_ bytes: inout ArraySlice<UInt8>, _ character: Unicode.Scalar) -> Bool {
        guard bytes.first == UInt8(ascii: character) else { return false }
        bytes.removeFirst()
        return true
    }

    private static func number(_ bytes: inout ArraySlice<UInt8>, _ width: ClosedRange<Int>) -> Int? {
        let digits = bytes.prefix(width.upperBound).prefix(while: Lexer.isDigit)
        guard digits.count >= width.lowerBound else { return nil }
        bytes.removeFirst(digits.count)
        return digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    /// Digits behind the seconds, as thousandths.
    private static func milliseconds(_ bytes: inout ArraySlice<UInt8>) -> Int {
        let digits = bytes.prefix(while: Lexer.isDigit)
        bytes.removeFirst(digits.count)
        let three = digits.prefix(3).map { Int($0 - 0x30) } + [0, 0, 0]
        return three[0] * 100 + three[1] * 10 + three[2]
    }
}
