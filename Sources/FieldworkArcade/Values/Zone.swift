public import Foundation

/// The time zone of a date: what its parts are read in.
public struct ArcadeZone: Sendable, Hashable {
    /// `UTC`, `unknown`, `system`, a name such as `Europe/Vienna`, or an offset such as `+05:30`.
    public let name: String
    private let kind: Kind

    private enum Kind: Sendable, Hashable {
        case unknown
        case fixed(Int)
        case named(TimeZone)
    }

    /// Coordinated universal time.
    public static let utc = ArcadeZone(name: "UTC", kind: .fixed(0))
    /// No zone: the parts of the date are as they were written.
    public static let unknown = ArcadeZone(name: "unknown", kind: .unknown)

    private init(name: String, kind: Kind) {
        self.name = name
        self.kind = kind
    }

    /// The zone of a device or a service.
    public init(_ timeZone: TimeZone) {
        let isUTC = ["GMT", "UTC", "Etc/UTC"].contains(timeZone.identifier)
        self = isUTC ? .utc : ArcadeZone(name: timeZone.identifier, kind: .named(timeZone))
    }

    /// A zone by name or offset; nil when there is none of the name.
    public init?(_ name: String) {
        switch name.lowercased() {
        case "utc", "gmt", "z", "etc/utc": self = .utc
        case "unknown": self = .unknown
        default:
            if let seconds = Self.offset(name) {
                self.init(name: name, kind: .fixed(seconds))
            } else if let zone = TimeZone(identifier: name), name.contains("/") || name.count <= 5 {
                self.init(name: name, kind: .named(zone))
            } else {
                return nil
            }
        }
    }

    /// The zone under another name: `system` stands for the zone of the device.
    func called(_ name: String) -> ArcadeZone { ArcadeZone(name: name, kind: kind) }

    /// `±HH:MM`, `±HHMM` or `±HH` as seconds.
    private static func offset(_ text: String) -> Int? {
        guard let sign = text.first, sign == "+" || sign == "-" else { return nil }
        let digits = text.dropFirst().filter { $0 != ":" }
        guard digits.count == 2 || digits.count == 4, digits.allSatisfy({ $0.isASCII && $0.isNumber }),
            let hours = Int(digits.prefix(2)), let minutes = Int(digits.count == 4 ? digits.suffix(2) : "0"),
            hours < 24, minutes < 60
        else { return nil }
        return (hours * 3_600 + minutes * 60) * (sign == "-" ? -1 : 1)
    }

    var isUnknown: Bool { kind == .unknown }

    /// Milliseconds to add to an instant for the time on the wall.
    func offset(at milliseconds: Double) -> Double {
        switch kind {
        case .unknown: 0
        case .fixed(let seconds): Double(seconds) * 1_000
        case .named(let zone):
            Double(zone.secondsFromGMT(for: Date(timeIntervalSince1970: milliseconds / 1_000))) * 1_000
        }
    }

    /// The instant at which the wall shows a time.
    func instant(ofWall wall: Double) -> Double {
        let first = wall - offset(at: wall - offset(at: wall))
        let offset = offset(at: first)
        return first + offset == wall ? first : wall - offset
    }

    /// The short name, such as `EST`.
    func abbreviation(at milliseconds: Double) -> String {
        switch kind {
        case .unknown: ""
        case .fixed: name
        case .named(let zone):
            zone.abbreviation(for: Date(timeIntervalSince1970: milliseconds / 1_000)) ?? name
        }
    }
}
