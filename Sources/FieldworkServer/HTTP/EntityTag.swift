/// Strong entity tags: two answers with the same tag are the same bytes.
enum EntityTag {
    /// The tag of an answer that is at hand.
    static func ofBytes(_ bytes: [UInt8]) -> String {
        var hash = FNV1a()
        for byte in bytes { hash.combine(byte) }
        return "\"\(String(hash.value, radix: 36))-\(bytes.count)\""
    }

    /// The tag of an answer that is a function of the request and of the state of a service.
    static func ofState(target: String, generation: Int64, definitionVersion: UInt64) -> String {
        var hash = FNV1a()
        for byte in target.utf8 { hash.combine(byte) }
        return "\"\(generation)-\(String(definitionVersion, radix: 36))-\(String(hash.value, radix: 36))\""
    }

    /// The tag of the same answer in another encoding.
    static func encoded(_ tag: String, _ encoding: AnswerEncoding) -> String {
        encoding == .gzip && tag.hasSuffix("\"") ? "\(tag.dropLast())-gzip\"" : tag
    }

    /// Whether a client's `If-None-Match` names the answer in any encoding.
    static func matchesAny(_ condition: String?, _ tag: String) -> Bool {
        guard let condition else { return false }
        return matches(condition, tag) || matches(condition, encoded(tag, .gzip))
    }

    /// Whether a client's `If-None-Match` names the tag.
    static func matches(_ condition: String, _ tag: String) -> Bool {
        for part in condition.split(separator: ",") {
            var candidate = part.drop { $0 == " " }
            while candidate.last == " " { candidate.removeLast() }
            if candidate == "*" { return true }
            // Comparison for a 304 is weak: a proxy may have marked the tag.
            if candidate.hasPrefix("W/") { candidate = candidate.dropFirst(2) }
            if candidate == tag { return true }
        }
        return false
    }
}

/// Fowler, Noll and Vo's hash of 64 bits: the same in every process, unlike the standard library's.
struct FNV1a {
    private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

    mutating func combine(_ byte: UInt8) {
        value = (value ^ UInt64(byte)) &* 0x100_0000_01b3
    }
}
