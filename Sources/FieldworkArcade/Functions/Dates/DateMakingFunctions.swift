/// Functions that make dates, days and times.
enum DateMakingFunctions {
    static let all: [Builtin] = [
        .many("Date", 0...8, date),
        .many("DateOnly", 0...3, dateOnly),
        .many("Time", 0...4, time),
        .none("Now") { machine in now(machine, machine.zone) },
        .none("Timestamp") { machine in now(machine, .utc) },
        .none("Today") { machine in
            guard case .date(let now) = now(machine, machine.zone) else { return .null }
            return DateValue(day: now.day, time: 0, zone: machine.zone).map(Value.date) ?? .null
        },
    ]

    static func now(_ machine: Machine, _ zone: ArcadeZone) -> Value {
        DateValue(milliseconds: machine.context.now, zone: zone).map(Value.date) ?? .null
    }

    private static func date(_ machine: Machine, _ arguments: [Value]) throws -> Value {
        guard let first = arguments.first else { return now(machine, machine.zone) }
        switch first {
        case .null: return .null
        case .date(let date): return .date(date)
        case .text(let text): return DateText.iso(text, zone: machine.zone).map(Value.date) ?? .null
        case .time: return .null
        case .dateOnly(let day):
            var time = 0
            if case .time(let given) = arguments.value(1) { time = given }
            let zone =
                arguments.value(2).isNull
                ? ArcadeZone.unknown : try machine.zone(named: try Coercion.text(arguments[2], machine))
            return DateValue(day: day, time: time, zone: zone).map(Value.date) ?? .null
        case .number(let number) where arguments.count == 1:
            return DateValue(milliseconds: number, zone: machine.zone).map(Value.date) ?? .null
        default: break
        }
        var parts = [1970.0, 0, 1, 0, 0, 0, 0]
        for (index, argument) in arguments.prefix(7).enumerated() { parts[index] = try Coercion.number(argument) }
        let zone =
            arguments.count == 8 ? try machine.zone(named: try Coercion.text(arguments[7], machine)) : machine.zone
        return DateValue(parts: parts, zone: zone).map(Value.date) ?? .null
    }

    private static func dateOnly(_ machine: Machine, _ arguments: [Value]) throws -> Value {
        let day: CalendarDay?
        switch arguments.first {
        case nil:
            guard case .date(let now) = now(machine, machine.zone) else { return .null }
            day = now.day
        case .null?: day = nil
        case .date(let date)?: day = date.day
        case .dateOnly(let given)?: day = given
        case .text(let text)?:
            if case .text(let pattern) = arguments.value(1) {
                day = DateReader(text, pattern)?.calendarDay
            } else {
                day = written(text)
            }
        case .number(let number)? where arguments.count == 1:
            day = DateValue(milliseconds: number, zone: .utc)?.day
        default:
            guard arguments.count == 3 else {
                throw ArcadeError.runtime("DateOnly takes a year, a month and a day.")
            }
            let parts = try arguments.map { try Arguments.whole($0, "A part of the day") }
            day = CalendarDay(year: parts[0], month: min(max(parts[1], -1), 12) + 1, day: parts[2])
        }
        return day.map(Value.dateOnly) ?? .null
    }

    /// The day of an ISO text as it is written there, whatever its offset.
    private static func written(_ text: String) -> CalendarDay? {
        guard DateText.iso(text, zone: .utc) != nil else { return nil }
        return DateText.iso(String(text.drop { $0 == " " }.prefix(10)), zone: .utc)?.day
    }

    private static func time(_ machine: Machine, _ arguments: [Value]) throws -> Value {
        let time: Int?
        switch arguments.first {
        case nil:
            guard case .date(let now) = now(machine, machine.zone) else { return .null }
            time = now.time
        case .null?: time = nil
        case .date(let date)?: time = date.time
        case .time(let given)?: time = given
        case .text(let text)?:
            if case .text(let pattern) = arguments.value(1) {
                time = DateReader(text, pattern)?.time
            } else {
                time = DateText.time(text) ?? DateText.iso(text, zone: .unknown)?.time
            }
        case .number(let number)? where arguments.count == 1:
            time = number >= 0 && number < DateValue.dayLength ? Int(number) : nil
        default:
            let parts = try arguments.map { try Arguments.whole($0, "A part of the time") }
            time = DateText.time(
                parts[0], parts.count > 1 ? parts[1] : 0, parts.count > 2 ? parts[2] : 0, parts.count > 3 ? parts[3] : 0
            )
        }
        return time.map(Value.time) ?? .null
    }
}
