import FieldworkREST

/// The address of a request, taken apart: the segments of its path, decoded, and its query as it was sent. Empty segments
/// (`//`, a trailing slash) say nothing and are left out.
struct RequestTarget: Sendable, Hashable {
    var segments: [String]
    var query: Substring

    init(_ target: String) throws(ServiceError) {
        let path: Substring
        if let mark = target.utf8.firstIndex(of: 0x3F) {
            path = target[..<mark]
            query = target[target.index(after: mark)...]
        } else {
            path = target[...]
            query = ""
        }
        segments = []
        for segment in path.utf8.split(separator: 0x2F) {
            guard segments.count < Limits.pathSegments, let text = Self.decode(segment) else {
                throw ServiceError(code: 400, message: "Invalid URL")
            }
            segments.append(text)
        }
    }

    /// Percent decoding; nil when an escape is broken, or the text is not UTF-8 or holds a control character.
    private static func decode(_ segment: Substring.UTF8View) -> String? {
        if !segment.contains(where: { $0 == 0x25 || $0 < 0x20 || $0 == 0x7F }) { return String(segment) }
        var bytes: [UInt8] = []
        var rest = segment[...]
        while let byte = rest.popFirst() {
            guard byte == 0x25 else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(hexValue), let low = rest.popFirst().flatMap(hexValue) else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        guard !bytes.contains(where: { $0 < 0x20 || $0 == 0x7F }) else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func hexValue(_ digit: UInt8) -> UInt8? {
        switch digit {
        case 0x30...0x39: digit - 0x30
        case 0x41...0x46: digit - 0x37
        case 0x61...0x66: digit - 0x57
        default: nil
        }
    }
}

extension String {
    /// Equality without regard to the case of ASCII letters, and without making lower-case copies.
    func equalsIgnoringCase(_ other: String) -> Bool {
        let (left, right) = (utf8, other.utf8)
        guard left.count == right.count else { return false }
        return zip(left, right).allSatisfy { Self.lowercased($0) == Self.lowercased($1) }
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 { byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte }
}
