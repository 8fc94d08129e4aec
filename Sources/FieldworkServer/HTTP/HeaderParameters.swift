import Foundation

/// The parameters of a header field: `form-data; name="file"; filename="a;b.jpg"`. Quoted values may hold anything.
struct HeaderParameters: Sendable {
    private var values: [String: String] = [:]

    init(_ field: some StringProtocol) {
        var rest = Substring(String(field))[...]
        Self.skip(to: ";", in: &rest)
        while !rest.isEmpty {
            let name = rest.prefix { $0 != "=" && $0 != ";" }
            rest = rest.dropFirst(name.count)
            var value = ""
            if rest.first == "=" {
                rest = rest.dropFirst().drop { $0 == " " }
                value = Self.value(&rest)
            }
            let key = name.filter { $0 != " " }.lowercased()
            if !key.isEmpty, values[key] == nil { values[key] = value }
            Self.skip(to: ";", in: &rest)
        }
    }

    /// The value of a parameter; the form with a character set and percent escapes (`name*=UTF-8''…`) goes before the
    /// plain one.
    subscript(name: String) -> String? {
        if let extended = values[name + "*"] {
            let parts = extended.split(separator: "'", maxSplits: 2, omittingEmptySubsequences: false)
            if parts.count == 3, parts[0].lowercased() == "utf-8", let text = String(parts[2]).removingPercentEncoding {
                return text
            }
        }
        return values[name]
    }

    private static func skip(to mark: Character, in rest: inout Substring) {
        rest = rest.drop { $0 != mark }.dropFirst()
    }

    private static func value(_ rest: inout Substring) -> String {
        guard rest.first == "\"" else {
            let value = rest.prefix { $0 != ";" }
            rest = rest.dropFirst(value.count)
            return value.trimmingCharacters(in: .whitespaces)
        }
        rest = rest.dropFirst()
        var value = ""
        while let character = rest.popFirst(), character != "\"" {
            // Only a quote is escaped: old browsers send the backslashes of a path as they are.
            if character == "\\", rest.first == "\"" {
                value.append("\"")
                rest = rest.dropFirst()
            } else {
                value.append(character)
            }
        }
        return value
    }
}
