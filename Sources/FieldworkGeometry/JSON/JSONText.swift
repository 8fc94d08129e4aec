/// JSON that has been looked through and found well-formed, and has not been made into values: a document that may be large is
/// taken apart member by member, and none of it is in memory twice.
package struct JSONText: Sendable {
    /// As it was written.
    package let text: Substring

    /// Looks a whole document through.
    package init(_ text: String) throws(JSONError) {
        var text = text
        text.makeContiguousUTF8()
        self.text = try Self.read(text[...]) { parser throws(JSONError) in
            parser.skipByteOrderMark()
            parser.skipSpace()
            let start = parser.position
            try parser.skipValue()
            let end = parser.position
            parser.skipSpace()
            guard parser.position == parser.bytes.count else { throw parser.error(.trailingBytes) }
            return Self.part(of: text[...], start, end)
        }
    }

    private init(part: Substring) { text = part }

    private var first: UInt8? { text.utf8.first }

    package var isNull: Bool { first == UInt8(ascii: "n") }
    package var isArray: Bool { first == UInt8(ascii: "[") }
    package var isObject: Bool { first == UInt8(ascii: "{") }

    /// The value. It is not charged to the work of the task: it is for a part that is let go soon.
    /// - Parameter most: the bytes of memory that it may take.
    package func value(holding most: Int = .max) throws(JSONError) -> JSONValue {
        try JSONParser.parse(text.utf8, holding: most, isCharged: false)
    }

    /// Goes through the elements of an array; of anything else there are none.
    package func forEachElement<Failure: Error>(_ body: (JSONText) throws(Failure) -> Void) throws(Failure) {
        guard isArray else { return }
        var place = 1
        while let (start, end, next) = Self.element(of: text, from: place) {
            try body(JSONText(part: Self.part(of: text, start, end)))
            place = next
        }
    }

    /// The members of an object, the last of equal names; nil for anything else.
    package func members() throws(JSONError) -> [String: JSONText]? {
        guard let list = try memberList() else { return nil }
        return Dictionary(list, uniquingKeysWith: { _, last in last })
    }

    /// All members of an object in their order; nil for anything else.
    package func memberList() throws(JSONError) -> [(String, JSONText)]? {
        guard isObject else { return nil }
        let places = try Self.read(text) { parser throws(JSONError) in
            var places: [(name: String, start: Int, end: Int)] = []
            parser.position = 1
            parser.skipSpace()
            if parser.bytes[parser.position] == UInt8(ascii: "}") { return places }
            repeat {
                parser.skipSpace()
                let name = try parser.string()
                parser.skipSpace()
                parser.position += 1
                parser.skipSpace()
                let start = parser.position
                try parser.skipValue()
                places.append((name, start, parser.position))
            } while try !parser.endsAfterSeparator(UInt8(ascii: "}"))
            return places
        }
        return places.map { ($0.name, JSONText(part: Self.part(of: text, $0.start, $0.end))) }
    }

    /// The bytes of the element at or after a place, and where the next one may begin; nil behind the last.
    private static func element(of text: Substring, from place: Int) -> (start: Int, end: Int, next: Int)? {
        try? read(text) { parser throws(JSONError) in
            parser.position = place
            parser.skipSpace()
            guard parser.position < parser.bytes.count, parser.bytes[parser.position] != UInt8(ascii: "]") else {
                return nil
            }
            let start = parser.position
            try parser.skipValue()
            let end = parser.position
            // Behind the last one the closing bracket is left to be seen.
            let isLast = try parser.endsAfterSeparator(UInt8(ascii: "]"))
            return (start, end, isLast ? parser.position - 1 : parser.position)
        } ?? nil
    }

    private static func part(of text: Substring, _ start: Int, _ end: Int) -> Substring {
        let utf8 = text.utf8
        let first = utf8.index(utf8.startIndex, offsetBy: start)
        return text[first..<utf8.index(first, offsetBy: end - start)]
    }

    private static func read<Result>(
        _ text: Substring, _ body: (inout JSONParser) throws(JSONError) -> Result
    ) throws(JSONError) -> Result {
        let result = text.utf8.withContiguousStorageIfAvailable { buffer in
            Swift.Result { () throws(JSONError) in
                var parser = JSONParser(bytes: buffer)
                return try body(&parser)
            }
        }
        guard let result else { throw JSONError(code: .invalidString, offset: 0) }
        return try result.get()
    }
}

extension JSONParser {
    /// Goes over one value as strictly as it would be read, and makes nothing of it.
    mutating func skipValue(depth: Int = 0) throws(JSONError) {
        guard depth < Self.depthMax else { throw error(.tooDeep) }
        skipSpace()
        guard position < bytes.count else { throw error(.unexpectedEnd) }
        switch bytes[position] {
        case 0x7B: try skipMembers(depth: depth)
        case 0x5B:
            position += 1
            skipSpace()
            if position < bytes.count, bytes[position] == 0x5D {
                position += 1
                return
            }
            repeat { try skipValue(depth: depth + 1) } while try !endsAfterSeparator(0x5D)
        case 0x22: try skipString()
        case 0x2D, 0x30...0x39: _ = try number()
        case 0x74: _ = try literal("true", .null)
        case 0x66: _ = try literal("false", .null)
        case 0x6E: _ = try literal("null", .null)
        default: throw error(.unexpectedByte)
        }
    }

    private mutating func skipMembers(depth: Int) throws(JSONError) {
        position += 1
        skipSpace()
        if position < bytes.count, bytes[position] == 0x7D {
            position += 1
            return
        }
        var count = 0
        repeat {
            guard count < GeometryLimits.membersMax else { throw error(.tooManyMembers) }
            count += 1
            skipSpace()
            guard position < bytes.count else { throw error(.unexpectedEnd) }
            guard bytes[position] == 0x22 else { throw error(.unexpectedByte) }
            try skipString()
            skipSpace()
            guard position < bytes.count else { throw error(.unexpectedEnd) }
            guard bytes[position] == 0x3A else { throw error(.unexpectedByte) }
            position += 1
            try skipValue(depth: depth + 1)
        } while try !endsAfterSeparator(0x7D)
    }

    private mutating func skipString() throws(JSONError) {
        position += 1
        while position < bytes.count {
            let byte = bytes[position]
            switch byte {
            case 0x22:
                position += 1
                return
            case 0x5C:
                position += 1
                var escaped: [UInt8] = []
                try escape(into: &escaped)
            case 0..<0x20: throw error(.invalidString)
            default: position += 1
            }
        }
        throw error(.unexpectedEnd)
    }
}
