/// A house number as people write it, in the parts that are compared: `12A`, `12 1/2`, `12-14`, `12, Suite 3`.
package struct HouseNumber: Sendable, Hashable {
    package var value: Int
    /// What follows the number: a letter, a fraction, the end of a range.
    package var suffix: String
    /// What stands behind both: a floor, a suite.
    package var unit: String

    /// nil for what does not begin with a number.
    package init?(_ text: String) {
        let tokens = TokenizedText(text).tokens
        guard let first = tokens.first, let head = HouseNumber.head(first.text) else { return nil }
        value = head.value
        suffix = head.suffix
        var rest = tokens.dropFirst()
        if suffix.isEmpty, let next = rest.first, Self.isSuffix(next.text) {
            suffix = next.text
            rest = rest.dropFirst()
        }
        unit = rest.map(\.text).joined(separator: " ")
    }

    /// The number that a token begins with, and what follows it in the token.
    static func head(_ token: String) -> (value: Int, suffix: String)? {
        let digits = token.utf8.prefix { $0 >= 0x30 && $0 <= 0x39 }
        guard !digits.isEmpty, digits.count <= 9, let value = Int(String(Substring(digits))) else { return nil }
        var suffix = token.dropFirst(digits.count)
        // 1309-1/2 is a half number; 12-14 is two houses.
        if suffix.first == "-", suffix.contains("/") { suffix = suffix.dropFirst() }
        return (value, String(suffix))
    }

    /// A single letter or a fraction behind the number.
    static func isSuffix(_ token: String) -> Bool {
        if token.utf8.count == 1, let byte = token.utf8.first { return byte >= 0x61 && byte <= 0x7A }
        return ["1/2", "1/4", "3/4", "1/3", "2/3"].contains(token)
    }

    /// The numbers of a text that lists several houses.
    package static func list(_ text: String) -> [String] {
        text.split(separator: ";").map { $0.trimmingPrefix(while: { $0 == " " }) }.filter { !$0.isEmpty }.map(
            String.init)
    }
}
