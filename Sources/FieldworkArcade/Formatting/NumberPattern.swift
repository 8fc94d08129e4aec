/// The signs that separate digits in a language.
struct NumberSigns: Sendable {
    let decimal: String
    let group: String

    /// Of a locale such as `de-AT`: those of its language, with the countries that differ.
    init(locale: String) {
        let parts = locale.lowercased().split { $0 == "-" || $0 == "_" }.map(String.init)
        let language = parts.first ?? "en"
        let country = parts.count > 1 ? parts[1] : ""
        switch (language, country) {
        case ("de", "ch"), ("de", "li"), ("it", "ch"): (decimal, group) = (".", "’")
        case ("de", "at"), ("pl", _), ("cs", _), ("sk", _), ("fi", _), ("sv", _), ("nb", _), ("no", _), ("ru", _),
            ("uk", _), ("hu", _), ("bg", _), ("et", _), ("lv", _), ("lt", _), ("pt", "pt"):
            (decimal, group) = (",", "\u{A0}")
        case ("fr", "ch"), ("fr", _): (decimal, group) = (",", "\u{202F}")
        case ("es", "mx"), ("es", "us"): (decimal, group) = (".", ",")
        case ("de", _), ("es", _), ("it", _), ("nl", _), ("pt", _), ("da", _), ("tr", _), ("id", _), ("el", _),
            ("hr", _), ("sr", _), ("sl", _), ("ro", _), ("vi", _), ("ca", _):
            (decimal, group) = (",", ".")
        default: (decimal, group) = (".", ",")
        }
    }
}

/// A pattern for numbers, such as `#,##0.0#`.
struct NumberPattern {
    var prefix = ""
    var suffix = ""
    /// Digits before the point that are always shown.
    var wholeDigits = 0
    /// Whether digits before the point may be more than those of the pattern.
    var growsWhole = false
    /// Digits behind the point: always shown, and at most.
    var fractionDigits = 0
    var fractionMax = 0
    /// Digits of the group beside the point, and of those before; 0 for none.
    var groupSize = 0
    var groupSize2 = 0
    var isPercent = false
    /// Whether it has a place for digits at all.
    var hasDigits = false

    init(_ pattern: Substring) {
        let characters = Array(pattern)
        guard let start = characters.firstIndex(where: { "#0,.".contains($0) && Self.isBody($0, in: characters) })
        else {
            prefix = String(pattern)
            return
        }
        var end = start
        var sawPoint = false
        while end < characters.count, "#0,".contains(characters[end]) || characters[end] == "." && !sawPoint {
            sawPoint = sawPoint || characters[end] == "."
            end += 1
        }
        // A point or comma at the end belongs to the text behind.
        while end > start, characters[end - 1] == "," { end -= 1 }
        prefix = String(characters[..<start])
        suffix = String(characters[end...])
        isPercent = pattern.contains("%")
        hasDigits = true
        let parts = String(characters[start..<end]).split(
            separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        readWhole(Array(parts[0]))
        if parts.count > 1 {
            fractionMax = parts[1].count
            fractionDigits =
                parts[1].lastIndex(of: "0").map { parts[1].distance(from: parts[1].startIndex, to: $0) + 1 } ?? 0
        }
    }

    /// A comma or point begins the digits only when digits follow.
    private static func isBody(_ character: Character, in characters: [Character]) -> Bool {
        if character == "#" || character == "0" { return true }
        guard let place = characters.firstIndex(of: character) else { return false }
        return characters[place...].first { $0 != "," && $0 != "." }.map { $0 == "#" || $0 == "0" } ?? false
    }

    private mutating func readWhole(_ whole: [Character]) {
        if let comma = whole.lastIndex(of: ",") {
            groupSize = whole.count - comma - 1
            if let earlier = whole[..<comma].lastIndex(of: ",") { groupSize2 = comma - earlier - 1 }
        }
        let digits = whole.filter { $0 != "," }
        growsWhole = digits.contains("#") || digits.isEmpty
        if let zero = digits.firstIndex(of: "0") { wholeDigits = digits.count - zero }
    }

    /// A number as a pattern shows it.
    static func text(_ number: Double, _ pattern: String, _ signs: NumberSigns) -> String {
        guard number.isFinite else { return NumberText.text(number) }
        let forms = pattern.split(separator: ";", maxSplits: 1, omittingEmptySubsequences: false)
        let positive = NumberPattern(forms.first ?? "")
        var (prefix, suffix) = (positive.prefix, positive.suffix)
        guard positive.hasDigits else { return pattern }
        var digits = DecimalDigits(number)
        if positive.isPercent, !digits.digits.isEmpty { digits.point += 2 }
        digits.round(places: positive.fractionMax)
        if number < 0, !digits.digits.isEmpty {
            if forms.count > 1 {
                let negative = NumberPattern(forms[1])
                (prefix, suffix) = (negative.prefix, negative.suffix)
            } else {
                prefix = "-" + prefix
            }
        }
        return prefix + positive.body(digits, signs) + suffix
    }

    private func body(_ digits: DecimalDigits, _ signs: NumberSigns) -> String {
        var whole = digits.whole
        if whole.isEmpty { whole = wholeDigits == 0 && !growsWhole ? "" : "0" }
        whole = String(repeating: "0", count: max(0, wholeDigits - whole.count)) + whole
        if !growsWhole, wholeDigits > 0 { whole = String(whole.suffix(wholeDigits)) }
        var fraction = digits.fraction
        fraction += String(repeating: "0", count: max(0, fractionDigits - fraction.count))
        return grouped(whole, signs.group) + (fraction.isEmpty ? "" : signs.decimal + fraction)
    }

    private func grouped(_ whole: String, _ separator: String) -> String {
        guard groupSize > 0, whole.count > groupSize else { return whole }
        var groups = [String(whole.suffix(groupSize))]
        var rest = whole.dropLast(groupSize)
        let size = groupSize2 > 0 ? groupSize2 : groupSize
        while !rest.isEmpty {
            groups.append(String(rest.suffix(size)))
            rest = rest.dropLast(size)
        }
        return groups.reversed().joined(separator: separator)
    }
}
