import Foundation
import Testing

@testable import FieldworkCollect

/// The colours of the style sheet, read from it and held against the contrast that each pair needs.
@Suite struct TokensTests {
    static let pairs: [(text: String, ground: String, least: Double)] = [
        ("ink", "surface", 7), ("ink", "surface-sunk", 7), ("ink-muted", "surface", 7), ("ink-muted", "canvas", 4.5),
        ("ink-muted", "surface-sunk", 4.5), ("line-strong", "surface", 3), ("line-strong", "surface-sunk", 3),
        ("on-action", "action", 4.5), ("action", "surface", 4.5), ("on-action-soft", "action-soft", 4.5),
        ("focus", "surface", 3), ("focus", "map-land", 3), ("good", "surface", 4.5),
        ("on-good-soft", "good-soft", 4.5), ("warn", "surface", 4.5), ("on-warn-soft", "warn-soft", 4.5),
        ("bad", "surface", 4.5), ("on-bad-soft", "bad-soft", 4.5), ("on-bad", "bad", 4.5),
        ("unsent", "surface", 4.5), ("on-unsent-soft", "unsent-soft", 4.5), ("on-unsent", "unsent", 4.5),
        ("map-label", "map-land", 4.5), ("ink-on-map", "map-land", 7), ("select", "map-land", 3),
        ("select", "select-gap", 3), ("unsent", "map-land", 3), ("bad", "map-land", 3),
        ("map-boundary", "map-land", 3),
    ]

    @Test(arguments: ["light", "dark", "sunlight"])
    func everyPairHasItsContrast(theme: String) throws {
        let colours = try Self.colours(theme: theme)
        for pair in Self.pairs {
            let text = try #require(colours[pair.text], "\(pair.text) is missing")
            let ground = try #require(colours[pair.ground], "\(pair.ground) is missing")
            let contrast = Self.contrast(text, ground)
            #expect(contrast >= pair.least, "\(pair.text) on \(pair.ground) in \(theme): \(contrast)")
        }
    }

    /// The dark colours stand twice in the sheet, for the system's wish and for the user's: they must be the same.
    @Test func theSystemsDarkIsTheSameDark() throws {
        let sheet = try Self.sheet()
        let chosen = try Self.block(after: "[data-theme=\"dark\"] {", in: sheet)
        let system = try Self.block(after: ":root:not([data-theme]) {", in: sheet)
        #expect(chosen == system)
    }

    private static func sheet() throws -> String {
        try String(contentsOf: AssetLibrary.resources.appending(path: "css/tokens.css"), encoding: .utf8)
    }

    private static func colours(theme: String) throws -> [String: [Double]] {
        let sheet = try sheet()
        var colours = try block(after: ":root {", in: sheet)
        if theme != "light" {
            colours.merge(try block(after: "[data-theme=\"\(theme)\"] {", in: sheet)) { $1 }
        }
        return colours
    }

    private static func block(after start: String, in sheet: String) throws -> [String: [Double]] {
        let from = try #require(sheet.range(of: start))
        let rest = sheet[from.upperBound...]
        let body = try #require(rest.firstIndex(of: "}")).self
        var colours: [String: [Double]] = [:]
        for match in rest[..<body].matches(of: #/--([a-z-]+):\s*#([0-9a-f]{6})/#) {
            let digits = String(match.2)
            colours[String(match.1)] = stride(from: 0, to: 6, by: 2).compactMap { offset in
                let at = digits.index(digits.startIndex, offsetBy: offset)
                return Int(digits[at..<digits.index(at, offsetBy: 2)], radix: 16).map { Double($0) / 255 }
            }
        }
        return colours
    }

    private static func contrast(_ left: [Double], _ right: [Double]) -> Double {
        func luminance(_ colour: [Double]) -> Double {
            let linear = colour.map { $0 <= 0.04045 ? $0 / 12.92 : pow(($0 + 0.055) / 1.055, 2.4) }
            return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
        }
        let (a, b) = (luminance(left), luminance(right))
        return (max(a, b) + 0.05) / (min(a, b) + 0.05)
    }
}
