/// Dates as a GeoPackage holds them: `2026-01-02T03:04:05.678Z`, in UTC. Reading and writing take no calendar, no
/// formatter and no allocation, since every row of an answer may carry some.
package enum DateText {
    /// Milliseconds since 1970 that four digits of a year can say.
    static let representable: ClosedRange<Int64> = -62_167_219_200_000...253_402_300_799_999

    /// Writes milliseconds since 1970. Values outside `representable` are held at its ends.
    package static func text(milliseconds: Int64) -> String {
        let value = min(max(milliseconds, representable.lowerBound), representable.upperBound)
        let (days, dayMilliseconds) = floorDivide(value, 86_400_000)
        let (year, month, day) = civil(days: days)
        return String(unsafeUninitializedCapacity: 24) { bytes in
            func digits(_ value: Int64, _ count: Int, at offset: Int) {
                var value = value
                for position in stride(from: offset + count - 1, through: offset, by: -1) {
                    bytes[position] = 0x30 + UInt8(truncatingIfNeeded: value % 10)
                    value /= 10
                }
            }
            digits(year, 4, at: 0)
            bytes[4] = 0x2D
            digits(month, 2, at: 5)
            bytes[7] = 0x2D
            digits(day, 2, at: 8)
            bytes[10] = 0x54
            digits(dayMilliseconds / 3_600_000, 2, at: 11)
            bytes[13] = 0x3A
            digits(dayMilliseconds / 60_000 % 60, 2, at: 14)
            bytes[16] = 0x3A
            digits(dayMilliseconds / 1_000 % 60, 2, at: 17)
            bytes[19] = 0x2E
            digits(dayMilliseconds % 1_000, 3, at: 20)
            bytes[23] = 0x5A
            return 24
        }
    }

    /// Reads ISO 8601: a date, optionally a time after `T` or a space, a fraction, `Z` or an offset. nil for anything
    /// else, days that no month has included.
    package static func milliseconds(_ bytes: UnsafeRawBufferPointer) -> Int64? {
        var reader = Reader(bytes: bytes)
        guard let year = reader.digits(4), reader.take(0x2D), let month = reader.digits(2), reader.take(0x2D),
            let day = reader.digits(2), (1...12).contains(month), day >= 1, day <= lastDay(month: month, year: year)
        else { return nil }
        var result = days(year: year, month: month, day: day) * 86_400_000
        if reader.isAtEnd { return result }
        guard reader.take(0x54) || reader.take(0x20) || reader.take(0x74), let time = reader.time(),
            let offset = reader.zoneOffset(), reader.isAtEnd
        else { return nil }
        result += time - offset
        return result
    }

    package static func milliseconds(_ text: String) -> Int64? {
        var text = text
        return text.withUTF8 { milliseconds(UnsafeRawBufferPointer($0)) }
    }

    /// Reads `hh:mm:ss[.fff]` as milliseconds since midnight.
    static func timeMilliseconds(_ text: String) -> Int64? {
        var text = text
        return text.withUTF8 { bytes in
            var reader = Reader(bytes: UnsafeRawBufferPointer(bytes))
            guard let time = reader.time(), reader.isAtEnd else { return nil }
            return time
        }
    }

    static func isDateOnly(_ text: String) -> Bool { text.utf8.count == 10 && milliseconds(text) != nil }

    /// Whether the text is a date and time with an offset (`Z` or `±hh:mm`).
    static func isTimestampOffset(_ text: String) -> Bool {
        guard text.utf8.count > 16, milliseconds(text) != nil, let last = text.utf8.last else { return false }
        return last == 0x5A || last == 0x7A || text.utf8.dropFirst(11).contains { $0 == 0x2B || $0 == 0x2D }
    }

    static func floorDivide(_ value: Int64, _ divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }

    /// Days since 1970 of a date in the proleptic Gregorian calendar: eras of 400 years that start in March, so that the
    /// leap day comes last.
    static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
        let year = month <= 2 ? year - 1 : year
        let (era, yearOfEra) = floorDivide(year, 400)
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    static func civil(days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let (era, dayOfEra) = floorDivide(days + 719_468, 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }

    private static func lastDay(month: Int64, year: Int64) -> Int64 {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    private struct Reader {
        let bytes: UnsafeRawBufferPointer
        var position = 0

        var isAtEnd: Bool { position == bytes.count }

        mutating func take(_ byte: UInt8) -> Bool {
            guard position < bytes.count, bytes[position] == byte else { return false }
            position += 1
            return true
        }

        mutating func digits(_ count: Int) -> Int64? {
            guard position + count <= bytes.count else { return nil }
            var value: Int64 = 0
            for index in position..<position + count {
                let digit = bytes[index] &- 0x30
                guard digit <= 9 else { return nil }
                value = value * 10 + Int64(digit)
            }
            position += count
            return value
        }

        /// Milliseconds since midnight; digits beyond the third of a fraction are dropped.
        mutating func time() -> Int64? {
            guard let hour = digits(2), hour <= 23, take(0x3A), let minute = digits(2), minute <= 59 else { return nil }
            var result = hour * 3_600_000 + minute * 60_000
            guard take(0x3A) else { return result }
            guard let second = digits(2), second <= 59 else { return nil }
            result += second * 1_000
            guard take(0x2E) else { return result }
            var scale: Int64 = 100
            var hasDigit = false
            while position < bytes.count, let digit = digits(1) {
                result += digit * scale
                scale /= 10
                hasDigit = true
            }
            return hasDigit ? result : nil
        }

        /// What to take away to come to UTC; 0 without an offset.
        mutating func zoneOffset() -> Int64? {
            if isAtEnd || take(0x5A) || take(0x7A) { return 0 }
            _ = take(0x20)
            let sign: Int64
            if take(0x2B) { sign = 1 } else if take(0x2D) { sign = -1 } else { return nil }
            guard let hour = digits(2), hour <= 18 else { return nil }
            _ = take(0x3A)
            let minute = isAtEnd ? 0 : digits(2)
            guard let minute, minute <= 59 else { return nil }
            return sign * (hour * 3_600_000 + minute * 60_000)
        }
    }
}
