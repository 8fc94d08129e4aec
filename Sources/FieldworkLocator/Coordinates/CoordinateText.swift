import Foundation

/// Coordinates that people type: degrees in their spellings, UTM and MGRS.
package enum CoordinateText {
    /// A place with the text that names it.
    package struct Place: Sendable, Hashable {
        package var x: Double
        package var y: Double

        /// Latitude and longitude, to a tenth of a metre.
        package var label: String { "\(Self.text(y)), \(Self.text(x))" }

        private static func text(_ degrees: Double) -> String {
            let millionths = Int((degrees * 1e6).rounded())
            let digits = String(abs(millionths) % 1_000_000)
            let padded = String(repeating: "0", count: 6 - digits.count) + digits
            return "\(millionths < 0 ? "-" : "")\(abs(millionths) / 1_000_000).\(padded)"
        }
    }

    private static let mostBytes = 80

    /// The place that a text names by coordinates; nil for any other text.
    package static func read(_ text: String) -> Place? {
        guard text.utf8.count <= mostBytes, text.contains(where: \.isNumber) else { return nil }
        return GridReference.read(text) ?? DegreeText.read(text)
    }
}

/// Degrees, minutes and seconds, with signs or with letters.
private enum DegreeText {
    private enum Part: Equatable {
        case number(Double, isWhole: Bool)
        case degrees, minutes, seconds, separator
        case letter(Character)
    }

    static func read(_ text: String) -> CoordinateText.Place? {
        guard let parts = parts(text) else { return nil }
        let letters = parts.compactMap { part -> Character? in
            if case .letter(let letter) = part { letter } else { nil }
        }
        let halves = letters.isEmpty ? halvesBySeparator(parts) : letters.count == 2 ? halvesByLetter(parts) : nil
        guard let halves, let first = angle(halves.0), let second = angle(halves.1) else { return nil }
        // Latitude first, where no letter says otherwise.
        let isSwapped = first.letter == "E" || first.letter == "W" || second.letter == "N" || second.letter == "S"
        let (latitude, longitude) = isSwapped ? (second, first) : (first, second)
        guard !"EW".contains(latitude.letter ?? "N"), !"NS".contains(longitude.letter ?? "E"),
            abs(latitude.degrees) <= 90, abs(longitude.degrees) <= 180
        else { return nil }
        return CoordinateText.Place(x: longitude.degrees, y: latitude.degrees)
    }

    // MARK: Parts

    private static func parts(_ text: String) -> [Part]? {
        var parts: [Part] = []
        // With a semicolon between, commas are decimal.
        let plain =
            text.contains(";") || (!text.contains(".") && text.split(separator: ",").count == 3 && text.contains(", "))
            ? commasAsPoints(text) : text
        var rest = Substring(plain.uppercased())
        while let character = rest.first {
            if character.isNumber || "+-−".contains(character) {
                guard let (number, isWhole) = number(&rest) else { return nil }
                parts.append(.number(number, isWhole: isWhole))
                continue
            }
            rest.removeFirst()
            switch character {
            case "°", "º", "˚": parts.append(.degrees)
            case "'", "′", "’", "‘":
                if rest.first == character {
                    rest.removeFirst()
                    parts.append(.seconds)
                } else {
                    parts.append(.minutes)
                }
            case "\"", "″", "”", "“": parts.append(.seconds)
            case ",", ";", "/": parts.append(.separator)
            case "N", "S", "E", "W": parts.append(.letter(character))
            case "O": parts.append(.letter("W"))
            case _ where character.isWhitespace: break
            default: return nil
            }
        }
        return parts
    }

    private static func commasAsPoints(_ text: String) -> String {
        var result = ""
        var previous: Character = " "
        let characters = Array(text)
        for (index, character) in characters.enumerated() {
            let next = index + 1 < characters.count ? characters[index + 1] : " "
            result.append(character == "," && previous.isNumber && next.isNumber ? "." : character)
            previous = character
        }
        return result
    }

    private static func number(_ rest: inout Substring) -> (Double, isWhole: Bool)? {
        var text = ""
        if let sign = rest.first, "+-−".contains(sign) {
            rest.removeFirst()
            if sign != "+" { text = "-" }
        }
        let digits = rest.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        rest = rest.dropFirst(digits.count)
        guard !digits.isEmpty, digits.count <= 20, let value = Double(text + digits) else { return nil }
        return (value, !digits.contains("."))
    }

    // MARK: Halves

    private static func halvesBySeparator(_ parts: [Part]) -> ([Part], [Part])? {
        let groups = parts.split(separator: .separator).map(Array.init)
        if groups.count == 2 { return (groups[0], groups[1]) }
        let numbers = parts.indices.filter { if case .number = parts[$0] { true } else { false } }
        guard groups.count == 1, numbers.count % 2 == 0, !numbers.isEmpty else { return nil }
        // Two numbers without anything between them are coordinates only with decimals: "12 34" may be anything.
        if numbers.count == 2 {
            for index in numbers { if case .number(_, let isWhole) = parts[index], isWhole { return nil } }
        } else if !parts.contains(.degrees) {
            return nil
        }
        let middle = numbers[numbers.count / 2]
        return (Array(parts[..<middle]), Array(parts[middle...]))
    }

    /// A letter stands before or behind its angle.
    private static func halvesByLetter(_ parts: [Part]) -> ([Part], [Part])? {
        let plain = parts.filter { $0 != .separator }
        let places = plain.indices.filter { if case .letter = plain[$0] { true } else { false } }
        guard places.count == 2 else { return nil }
        let split = places[0] == 0 ? places[1] : places[0] + 1
        return (Array(plain[..<split]), Array(plain[split...]))
    }

    /// One angle: up to three numbers, each the sixtieth part of the one before.
    private static func angle(_ parts: [Part]) -> (degrees: Double, letter: Character?)? {
        var numbers: [Double] = []
        var letter: Character?
        for part in parts {
            switch part {
            case .number(let value, _):
                // Only the last may have decimals.
                guard numbers.count < 3, numbers.isEmpty || value >= 0 else { return nil }
                if let last = numbers.last, last.rounded() != last { return nil }
                if !numbers.isEmpty, value >= 60 { return nil }
                numbers.append(value)
            case .letter(let found): letter = found
            case .separator: return nil
            case .degrees, .minutes, .seconds: break
            }
        }
        guard let first = numbers.first else { return nil }
        let isNegative = first.sign == .minus
        guard !(isNegative && letter != nil) else { return nil }
        var degrees = abs(first)
        if numbers.count > 1 { degrees += numbers[1] / 60 }
        if numbers.count > 2 { degrees += numbers[2] / 3_600 }
        let isSouthOrWest = isNegative || letter == "S" || letter == "W"
        return (isSouthOrWest ? -degrees : degrees, letter)
    }
}
