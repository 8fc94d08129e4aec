/// Functions that read parts of dates, days and times.
enum DatePartFunctions {
    static let all: [Builtin] = [
        day("Year") { $0.year }, day("Month") { $0.month - 1 }, day("Day") { $0.day },
        day("Weekday") { $0.weekday }, day("ISOMonth") { $0.month }, day("ISOWeek") { $0.isoWeek.week },
        day("ISOWeekday") { $0.isoWeekday }, day("ISOYear") { $0.isoWeek.year },
        time("Hour") { $0 / 3_600_000 }, time("Minute") { $0 / 60_000 % 60 }, time("Second") { $0 / 1_000 % 60 },
        time("Millisecond") { $0 % 1_000 },
        .two("Week", optional: true) { machine, value, start in
            guard let day = try calendarDay(value, "Week", machine) else { return .null }
            let start = start.isNull ? 0 : try Arguments.whole(start, "The first day of the week")
            guard (0...6).contains(start) else {
                throw ArcadeError.runtime("The first day of the week is 0 (Sunday) to 6, and not \(start).")
            }
            // The weekday of 1 January follows from that of the day.
            let first = ((day.weekday - day.dayOfYear) % 7 + 7) % 7
            return .number(Double((day.dayOfYear + (first - start + 7) % 7) / 7))
        },
        .one("TimeZone") { _, value in
            guard case .date(let date) = value else { return .null }
            return .text(date.zone.name)
        },
        .one("TimeZoneOffset") { _, value in
            guard case .date(let date) = value else { return .null }
            return .number(date.zone.offset(at: date.milliseconds))
        },
    ]

    private static func day(_ name: String, _ part: @escaping @Sendable (CalendarDay) -> Int) -> Builtin {
        .one(name) { machine, value in
            try calendarDay(value, name, machine).map { .number(Double(part($0))) } ?? .null
        }
    }

    private static func time(_ name: String, _ part: @escaping @Sendable (Int) -> Int) -> Builtin {
        .one(name) { _, value in
            switch value {
            case .date(let date): return .number(Double(part(date.time)))
            case .time(let time): return .number(Double(part(time)))
            case .null: return .null
            default: throw ArcadeError.runtime("\(name) needs a Date or a Time, and got \(value.kindName).")
            }
        }
    }

    private static func calendarDay(_ value: Value, _ name: String, _ machine: Machine) throws -> CalendarDay? {
        switch value {
        case .date(let date): return date.day
        case .dateOnly(let day): return day
        case .null: return nil
        default: throw ArcadeError.runtime("\(name) needs a Date or a DateOnly, and got \(value.kindName).")
        }
    }
}
