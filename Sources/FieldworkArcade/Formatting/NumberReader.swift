/// Reads numbers that were written by a pattern.
enum NumberReader {
    /// NaN when the text does not match the pattern.
    static func number(_ text: String, _ pattern: String) -> Double {
        let forms = pattern.split(separator: ";", maxSplits: 1, omittingEmptySubsequences: false)
        let positive = NumberPattern(forms.first ?? "")
        if let value = value(text, positive) { return value }
        if forms.count > 1 { return value(text, NumberPattern(forms[1])).map { -$0 } ?? .nan }
        return text.hasPrefix("-") ? value(String(text.dropFirst()), positive).map { -$0 } ?? .nan : .nan
    }

    private static func value(_ text: String, _ pattern: NumberPattern) -> Double? {
        guard pattern.hasDigits, text.hasPrefix(pattern.prefix), text.hasSuffix(pattern.suffix),
            text.count >= pattern.prefix.count + pattern.suffix.count
        else { return nil }
        let body = text.dropFirst(pattern.prefix.count).dropLast(pattern.suffix.count)
        let parts = body.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let fraction = parts.count > 1 ? parts[1] : ""
        guard let whole = ungrouped(parts[0], pattern), whole.count >= pattern.wholeDigits,
            isDigits(whole), isDigits(fraction), fraction.count >= pattern.fractionDigits,
            fraction.count <= pattern.fractionMax, parts.count == 1 || !fraction.isEmpty,
            !(whole.isEmpty && fraction.isEmpty)
        else { return nil }
        // The point moves in the text, so that 99.99 per cent is the number nearest to 0.9999.
        let exponent = pattern.isPercent ? "e-2" : ""
        return Double((whole.isEmpty ? "0" : whole) + "." + (fraction.isEmpty ? "0" : fraction) + exponent)
    }

    private static func isDigits(_ text: String) -> Bool { text.utf8.allSatisfy(Lexer.isDigit) }

    /// Digits without the commas, which must stand where the pattern wants them.
    private static func ungrouped(_ whole: String, _ pattern: NumberPattern) -> String? {
        guard pattern.groupSize > 0 else { return whole.contains(",") ? nil : whole }
        var groups = whole.split(separator: ",", omittingEmptySubsequences: false)
        guard let last = groups.popLast() else { return nil }
        if groups.isEmpty { return last.count <= pattern.groupSize ? String(last) : nil }
        let size = pattern.groupSize2 > 0 ? pattern.groupSize2 : pattern.groupSize
        guard last.count == pattern.groupSize, groups.dropFirst().allSatisfy({ $0.count == size }),
            let first = groups.first, !first.isEmpty, first.count <= size
        else { return nil }
        return groups.joined() + last
    }
}
