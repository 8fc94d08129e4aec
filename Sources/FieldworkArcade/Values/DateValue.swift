/// An instant and the zone in which its parts are read.
public struct DateValue: Sendable, Hashable {
    /// Milliseconds since 1970 in UTC; of a date without a zone, as if its zone were UTC.
    public let milliseconds: Double
    /// The zone in which its parts are read.
    public let zone: ArcadeZone

    static let dayLength = 86_400_000.0
    /// What a date can be at most, 200,000 years from 1970.
    private static let range = -6.3e15...6.3e15

    /// nil outside of the years that have a date.
    public init?(milliseconds: Double, zone: ArcadeZone) {
        guard Self.range.contains(milliseconds) else { return nil }
        self.milliseconds = milliseconds.rounded(.down)
        self.zone = zone
    }

    /// By what the wall shows.
    init?(day: CalendarDay, time: Int, zone: ArcadeZone) {
        self.init(milliseconds: zone.instant(ofWall: Double(day.number) * Self.dayLength + Double(time)), zone: zone)
    }

    /// By parts that may be out of their ranges and then run over into the next ones. The month begins with 0.
    init?(parts: [Double], zone: ArcadeZone) {
        guard parts.count == 7, parts.allSatisfy({ abs($0) < 1e15 }) else { return nil }
        let whole = parts.map { $0.rounded(.towardZero) }
        let year = whole[0] + (whole[1] / 12).rounded(.down)
        let month = whole[1] - (whole[1] / 12).rounded(.down) * 12
        guard abs(year) < 200_000 else { return nil }
        let first = Double(CalendarDay.days(year: Int(year), month: Int(month) + 1, day: 1))
        let wall =
            (first + whole[2] - 1) * Self.dayLength + whole[3] * 3_600_000 + whole[4] * 60_000 + whole[5] * 1_000
            + whole[6]
        guard Self.range.contains(wall) else { return nil }
        self.init(milliseconds: zone.instant(ofWall: wall), zone: zone)
    }

    /// Milliseconds since 1970 as the wall shows them.
    var wall: Double { milliseconds + zone.offset(at: milliseconds) }

    /// The day on the wall.
    var day: CalendarDay {
        // The range of dates lies within that of days.
        CalendarDay(number: Int((wall / Self.dayLength).rounded(.down))) ?? CalendarDay.epoch
    }

    /// Milliseconds since the wall's midnight.
    var time: Int {
        let wall = wall
        return Int(wall - (wall / Self.dayLength).rounded(.down) * Self.dayLength)
    }

    /// The same date in another zone. One without a zone keeps what the wall shows.
    func changing(to zone: ArcadeZone) -> DateValue? {
        if self.zone.isUnknown, !zone.isUnknown {
            return DateValue(milliseconds: zone.instant(ofWall: milliseconds), zone: zone)
        }
        if zone.isUnknown { return DateValue(milliseconds: wall, zone: zone) }
        return DateValue(milliseconds: milliseconds, zone: zone)
    }

    /// The instant of it beside another date: one without a zone takes the other's.
    func instant(beside other: DateValue) -> Double {
        zone.isUnknown && !other.zone.isUnknown ? other.zone.instant(ofWall: milliseconds) : milliseconds
    }

    /// ISO 8601 with the offset; without one when the zone is unknown.
    public var text: String {
        let base = "\(day.text)T\(TimeText.text(time, alwaysMilliseconds: false))"
        return zone.isUnknown ? base : base + TimeText.offset(zone.offset(at: milliseconds), colon: true, utc: "Z")
    }
}

extension CalendarDay {
    /// 1 January 1970.
    static let epoch = CalendarDay(unchecked: 0)

    private init(unchecked number: Int) { self.number = number }
}

/// Times of the day and offsets as text.
enum TimeText {
    /// `HH:mm:ss`, with the milliseconds when there are any.
    static func text(_ time: Int, alwaysMilliseconds: Bool) -> String {
        let (hours, minutes, seconds) = (time / 3_600_000, time / 60_000 % 60, time / 1_000 % 60)
        let base = "\(Digits.padded(hours, 2)):\(Digits.padded(minutes, 2)):\(Digits.padded(seconds, 2))"
        let rest = time % 1_000
        return rest == 0 && !alwaysMilliseconds ? base : base + "." + Digits.padded(rest, 3)
    }

    /// `+01:00` and the like.
    static func offset(_ milliseconds: Double, colon: Bool, utc: String? = nil) -> String {
        let minutes = Int(milliseconds / 60_000)
        if minutes == 0, let utc { return utc }
        let (hours, rest) = (abs(minutes) / 60, abs(minutes) % 60)
        return (minutes < 0 ? "-" : "+") + Digits.padded(hours, 2) + (colon ? ":" : "") + Digits.padded(rest, 2)
    }
}
