import FieldworkREST
import Foundation

/// The order of a date's parts in a table. Moments without a zone are taken for UTC.
package enum DateForm: String, CaseIterable, Sendable {
    /// 2024-01-31, with a time after a space or a T.
    case iso
    /// 2024/01/31
    case yearFirst = "ymd"
    /// 31.01.2024, 31/1/2024, 31 Jan 2024
    case dayFirst = "dmy"
    /// 1/31/2024, Jan 31, 2024
    case monthFirst = "mdy"

    private static let months = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ]

    /// Milliseconds since 1970; nil where the text is no date of this form.
    package func milliseconds(_ text: String) -> Int64? {
        if self == .iso { return SQLDateText.timestamp(text) }
        guard text.utf8.count <= 40, let first = text.utf8.first, first >= 0x30 else { return nil }
        let (date, time) = Self.split(text)
        guard let day = day(date), let ofDay = time.isEmpty ? 0 : Self.time(time) else { return nil }
        return day * SQLDateText.millisecondsPerDay + ofDay
    }

    /// The time begins behind the last space or T before the first colon.
    private static func split(_ text: String) -> (date: Substring, time: Substring) {
        guard let colon = text.firstIndex(of: ":"),
            let gap = text[..<colon].lastIndex(where: { $0 == " " || $0 == "T" })
        else { return (text[...], "") }
        return (text[..<gap], text[text.index(after: gap)...])
    }

    private func day(_ text: Substring) -> Int64? {
        let parts = text.split { " ,./-".contains($0) }
        guard parts.count == 3, text.contains(where: { !$0.isNumber && $0 != " " }) else { return nil }
        let order: (year: Int, month: Int, day: Int)
        switch self {
        case .iso, .yearFirst: order = (0, 1, 2)
        case .dayFirst: order = (2, 1, 0)
        case .monthFirst: order = (2, 0, 1)
        }
        // With two digits it may be a year, a day or anything else.
        guard parts[order.year].utf8.count == 4, let year = Self.number(parts[order.year]),
            let month = Self.number(parts[order.month]) ?? Self.month(parts[order.month]),
            let day = Self.number(parts[order.day])
        else { return nil }
        return SQLDateText.days(year: year, month: month, day: day)
    }

    private static func number(_ text: Substring) -> Int? {
        guard text.utf8.count <= 4, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int(text)
    }

    private static func month(_ text: Substring) -> Int? {
        guard text.count >= 3 else { return nil }
        let word = text.lowercased()
        let full = [
            "january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
            "november", "december",
        ]
        return (months.firstIndex(of: word) ?? full.firstIndex(of: word)).map { $0 + 1 }
    }

    /// `14:05`, `14:05:06.5`, `2:05 PM`, each also with a zone: `Z`, `+02`, `-07:30`.
    private static func time(_ text: Substring) -> Int64? {
        var text = text.uppercased()
        var shift: Int64 = 0
        for (suffix, noon) in [("AM", Int64(0)), ("PM", 12)] where text.hasSuffix(suffix) {
            text = String(text.dropLast(2)).trimmingCharacters(in: .whitespaces)
            guard let hour = text.split(separator: ":").first.flatMap({ Int($0) }), (1...12).contains(hour) else {
                return nil
            }
            shift = (hour == 12 ? noon - 12 : noon) * 3_600_000
            return SQLDateText.time(text).map { $0 + shift }
        }
        if text.hasSuffix("Z") { text = String(text.dropLast()) }
        if let sign = text.lastIndex(where: { $0 == "+" || $0 == "-" }) {
            let zone = text[text.index(after: sign)...].split(separator: ":").map { Int64($0) }
            guard (1...2).contains(zone.count), let hours = zone[0], hours <= 15,
                let minutes = zone.count == 2 ? zone[1] : 0,
                minutes < 60
            else { return nil }
            shift = (hours * 60 + minutes) * 60_000 * (text[sign] == "+" ? -1 : 1)
            text = String(text[..<sign])
        }
        return SQLDateText.time(text.trimmingCharacters(in: .whitespaces)).map { $0 + shift }
    }
}
