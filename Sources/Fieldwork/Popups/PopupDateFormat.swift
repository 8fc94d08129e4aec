import Foundation

/// The forms in which a pop-up shows a moment, named as web maps name them (web map specification, `dateFormat`).
struct PopupDateFormat: Sendable, Hashable {
    enum Day: String, Sendable, CaseIterable {
        case shortDateLE, shortDate, longMonthDayYear, dayShortMonthYear, longDate, longMonthYear, shortMonthYear, year

        /// Whether a time of day may follow.
        var takesTime: Bool {
            switch self {
            case .longMonthYear, .shortMonthYear, .year: false
            default: true
            }
        }
    }

    enum Clock: String, Sendable, CaseIterable {
        case none = ""
        case longTime24 = "LongTime24"
        case longTime = "LongTime"
        case shortTime24 = "ShortTime24"
        case shortTime = "ShortTime"
    }

    var day: Day
    var clock: Clock

    /// What is shown when nothing is said, or something unknown.
    static let standard = PopupDateFormat(day: .shortDate, clock: .shortTime)

    init(day: Day, clock: Clock) {
        self.day = day
        self.clock = clock
    }

    /// A format by its name, in any case.
    init?(name: String) {
        let wanted = name.lowercased()
        for day in Day.allCases {
            for clock in Clock.allCases where clock == .none || day.takesTime {
                guard (day.rawValue + clock.rawValue).lowercased() == wanted else { continue }
                self.init(day: day, clock: clock)
                return
            }
        }
        return nil
    }

    var name: String { day.rawValue + clock.rawValue }

    // MARK: Text

    private static let months = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
        "December",
    ]
    private static let weekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]

    /// A moment as it is read in a time zone, in US English.
    func text(_ date: Date, in timeZone: TimeZone) -> String {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = timeZone
        let parts = calendar.dateComponents([.year, .month, .day, .weekday, .hour, .minute, .second], from: date)
        guard let clock = clockText(parts) else { return dayText(parts) }
        return "\(dayText(parts)), \(clock)"
    }

    private func dayText(_ parts: DateComponents) -> String {
        let (year, month, number) = (parts.year ?? 0, parts.month ?? 1, parts.day ?? 1)
        let name = Self.months[(month - 1) % 12]
        return switch day {
        case .shortDate: "\(month)/\(number)/\(year)"
        case .shortDateLE: "\(number)/\(month)/\(year)"
        case .longMonthDayYear: "\(name) \(number), \(year)"
        case .dayShortMonthYear: "\(number) \(name.prefix(3)) \(year)"
        case .longDate: "\(Self.weekdays[((parts.weekday ?? 1) - 1) % 7]), \(name) \(number), \(year)"
        case .longMonthYear: "\(name) \(year)"
        case .shortMonthYear: "\(name.prefix(3)) \(year)"
        case .year: "\(year)"
        }
    }

    private func clockText(_ parts: DateComponents) -> String? {
        let (hour, minute, second) = (parts.hour ?? 0, parts.minute ?? 0, parts.second ?? 0)
        let twelve = hour % 12 == 0 ? 12 : hour % 12
        let half = hour < 12 ? "AM" : "PM"
        return switch clock {
        case .none: nil
        case .longTime24: "\(padded(hour)):\(padded(minute)):\(padded(second))"
        case .longTime: "\(twelve):\(padded(minute)):\(padded(second)) \(half)"
        case .shortTime24: "\(padded(hour)):\(padded(minute))"
        case .shortTime: "\(twelve):\(padded(minute)) \(half)"
        }
    }

    private func padded(_ number: Int) -> String { number < 10 ? "0\(number)" : String(number) }
}
