/// Functions that compute with dates, and change their zones.
enum DateFunctions {
    static let all: [Builtin] = [
        .many("DateAdd", 2...3, add),
        .many("DateDiff", 2...4, difference),
        .two("ChangeTimeZone") { machine, value, zone in
            guard case .date(let date) = value else { return .null }
            return date.changing(to: try machine.zone(named: try Coercion.text(zone, machine))).map(Value.date) ?? .null
        },
        .one("ToUTC") { _, value in
            guard case .date(let date) = value else { return .null }
            return date.changing(to: .utc).map(Value.date) ?? .null
        },
        .one("ToLocal") { machine, value in
            guard case .date(let date) = value else { return .null }
            return date.changing(to: machine.zone).map(Value.date) ?? .null
        },
    ]

    /// A unit of time: months, or a number of milliseconds.
    private enum Unit {
        case milliseconds(Double)
        case days(Double)
        case months(Double)

        /// Its length where every day has 24 hours.
        var length: Double? {
            switch self {
            case .milliseconds(let length): length
            case .days(let count): count * DateValue.dayLength
            case .months: nil
            }
        }
    }

    private static func unit(_ value: Value, _ machine: Machine) throws -> Unit {
        guard !value.isNull else { return .milliseconds(1) }
        switch try Coercion.text(value, machine).lowercased() {
        case "milliseconds", "millisecond", "ms": return .milliseconds(1)
        case "seconds", "second", "s": return .milliseconds(1_000)
        case "minutes", "minute": return .milliseconds(60_000)
        case "hours", "hour", "h": return .milliseconds(3_600_000)
        case "days", "day", "d": return .days(1)
        case "weeks", "week": return .days(7)
        case "months", "month": return .months(1)
        case "years", "year", "y": return .months(12)
        case let other:
            throw ArcadeError.runtime(
                "“\(other)” is no unit of time: milliseconds, seconds, minutes, hours, days, months or years.")
        }
    }

    private static func add(_ machine: Machine, _ arguments: [Value]) throws -> Value {
        let amount = try Coercion.number(arguments[1])
        let unit = try unit(arguments.value(2), machine)
        guard amount.isFinite, abs(amount) < 1e15 else { return .null }
        switch arguments[0] {
        case .null: return .null
        case .date(let date): return add(amount, unit, to: date).map(Value.date) ?? .null
        case .dateOnly(let day):
            guard let length = unit.length else {
                guard case .months(let months) = unit else { return .null }
                return day.adding(months: months * amount).map(Value.dateOnly) ?? .null
            }
            let days = (amount * length / DateValue.dayLength).rounded(.towardZero)
            return Int(exactly: days).flatMap { abs($0) < 1 << 40 ? CalendarDay(number: day.number + $0) : nil }
                .map(Value.dateOnly) ?? .null
        case .time(let time):
            guard case .milliseconds(let length) = unit else {
                throw ArcadeError.runtime("A Time has no days: add hours, minutes, seconds or milliseconds.")
            }
            let sum = (Double(time) + amount * length).truncatingRemainder(dividingBy: DateValue.dayLength)
            return .time(Int((sum + DateValue.dayLength).truncatingRemainder(dividingBy: DateValue.dayLength)))
        default: throw ArcadeError.runtime("DateAdd needs a date, and got \(arguments[0].kindName).")
        }
    }

    /// Days and longer keep what the wall shows; shorter units pass on the clock of the world.
    private static func add(_ amount: Double, _ unit: Unit, to date: DateValue) -> DateValue? {
        switch unit {
        case .milliseconds(let length):
            return DateValue(milliseconds: date.milliseconds + amount * length, zone: date.zone)
        case .days(let count):
            let wall = date.wall + amount * count * DateValue.dayLength
            return DateValue(milliseconds: date.zone.instant(ofWall: wall), zone: date.zone)
        case .months(let count):
            return date.day.adding(months: amount * count).flatMap {
                DateValue(day: $0, time: date.time, zone: date.zone)
            }
        }
    }

    // MARK: Differences

    private static func difference(_ machine: Machine, _ arguments: [Value]) throws -> Value {
        let unit = try unit(arguments.value(2), machine)
        if arguments[0].isNull || arguments[1].isNull { return .null }
        if case .time(let one) = arguments[0], case .time(let other) = arguments[1] {
            guard case .milliseconds(let length) = unit else {
                throw ArcadeError.runtime("Times differ by hours, minutes, seconds or milliseconds.")
            }
            return .number(Double(one - other) / length)
        }
        guard var one = date(arguments[0]), var other = date(arguments[1]) else {
            throw ArcadeError.runtime(
                "DateDiff needs two dates, and got \(arguments[0].kindName) and \(arguments[1].kindName).")
        }
        if !arguments.value(3).isNull {
            let zone = try machine.zone(named: try Coercion.text(arguments[3], machine))
            one = one.changing(to: zone) ?? one
            other = other.changing(to: zone) ?? other
        } else {
            if one.zone.isUnknown, !other.zone.isUnknown { one = one.changing(to: other.zone) ?? one }
            if other.zone.isUnknown, !one.zone.isUnknown { other = other.changing(to: one.zone) ?? other }
        }
        switch unit {
        case .milliseconds(let length): return .number((one.milliseconds - other.milliseconds) / length)
        case .days(let count):
            let (left, right) = (one.wall, other.changing(to: one.zone)?.wall ?? other.wall)
            return .number((left - right) / DateValue.dayLength / count)
        case .months(let count): return .number(months(one, other.changing(to: one.zone) ?? other) / count)
        }
    }

    private static func date(_ value: Value) -> DateValue? {
        switch value {
        case .date(let date): date
        case .dateOnly(let day): DateValue(day: day, time: 0, zone: .unknown)
        default: nil
        }
    }

    /// Whole months between two dates, and the part of the next one.
    private static func months(_ one: DateValue, _ other: DateValue) -> Double {
        let sign = one.wall < other.wall ? -1.0 : 1
        let (late, early) = sign < 0 ? (other, one) : (one, other)
        let (from, to) = (early.day.parts, late.day.parts)
        var whole = (to.year - from.year) * 12 + to.month - from.month
        func moved(_ months: Int) -> Double {
            early.day.adding(months: Double(months)).map {
                Double($0.number) * DateValue.dayLength + Double(early.time)
            }
                ?? early.wall
        }
        if moved(whole) > late.wall { whole -= 1 }
        let (start, end) = (moved(whole), moved(whole + 1))
        let part = end > start ? (late.wall - start) / (end - start) : 0
        return sign * (Double(whole) + part)
    }
}

extension CalendarDay {
    /// The day some months later; parts of a month don't count.
    func adding(months: Double) -> CalendarDay? {
        Int(exactly: months.rounded(.towardZero)).flatMap(adding(months:))
    }
}
