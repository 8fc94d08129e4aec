/// Why bytes are not JSON, and where.
package struct JSONError: Error, Sendable, Hashable {
    package enum Code: Sendable, Hashable {
        case unexpectedEnd, unexpectedByte, invalidNumber, invalidString, tooDeep, trailingBytes
        /// An object has more members than `GeometryLimits.membersMax`.
        case tooManyMembers
        /// The values would take more memory than the reader was given.
        case tooLarge
        /// The work that the text is read for may not hold so much.
        case refused(AllowanceError)
    }

    package var code: Code
    /// Offset of the offending byte from the start of the text.
    package var offset: Int
}

/// Reads JSON (RFC 8259) from bytes into a `JSONValue`: UTF-8 only, bounded depth, in time proportional to the input. The memory of
/// the values, which may be twenty times the text, is counted while they are read, and charged to the work of the task.
package struct JSONParser {
    /// A depth that no document of the protocol reaches; arrays nested deeper are an attack on the stack.
    package static let depthMax = 128

    let bytes: UnsafeBufferPointer<UInt8>
    var position = 0
    private var memory: ValueMemory

    /// Reads a whole document.
    /// - Parameters:
    ///   - most: the bytes of memory that its values may take.
    ///   - isCharged: whether the work of the task is charged for them, until it ends.
    package static func parse(
        _ bytes: some Sequence<UInt8>, holding most: Int = .max, isCharged: Bool = true
    ) throws(JSONError) -> JSONValue {
        let result = bytes.withContiguousStorageIfAvailable { buffer in
            Result { () throws(JSONError) in
                var parser = JSONParser(bytes: buffer, memory: ValueMemory(most: most, isCharged: isCharged))
                return try parser.document()
            }
        }
        if let result { return try result.get() }
        return try parse(ContiguousArray(bytes), holding: most, isCharged: isCharged)
    }

    /// Reads a whole document from text.
    package static func parse(_ text: String, holding most: Int = .max) throws(JSONError) -> JSONValue {
        try parse(text.utf8, holding: most)
    }

    init(bytes: UnsafeBufferPointer<UInt8>, memory: ValueMemory = ValueMemory(most: .max, isCharged: false)) {
        self.bytes = bytes
        self.memory = memory
    }

    private mutating func document() throws(JSONError) -> JSONValue {
        skipByteOrderMark()
        let value = try value(depth: 0)
        skipSpace()
        guard position == bytes.count else { throw error(.trailingBytes) }
        return value
    }

    /// A byte-order mark is tolerated: files written on Windows carry one.
    mutating func skipByteOrderMark() {
        if bytes.count >= 3, bytes[0] == 0xEF, bytes[1] == 0xBB, bytes[2] == 0xBF { position = 3 }
    }

    private mutating func hold(_ size: Int) throws(JSONError) {
        if let code = memory.take(size) { throw error(code) }
    }

    func error(_ code: JSONError.Code) -> JSONError { JSONError(code: code, offset: position) }

    mutating func skipSpace() {
        while position < bytes.count {
            switch bytes[position] {
            case 0x20, 0x0A, 0x0D, 0x09: position += 1
            default: return
            }
        }
    }

    private mutating func value(depth: Int) throws(JSONError) -> JSONValue {
        guard depth < Self.depthMax else { throw error(.tooDeep) }
        skipSpace()
        guard position < bytes.count else { throw error(.unexpectedEnd) }
        switch bytes[position] {
        case 0x7B: return try object(depth: depth)
        case 0x5B: return try array(depth: depth)
        case 0x22: return .string(try string())
        case 0x2D, 0x30...0x39: return try number()
        case 0x74: return try literal("true", .bool(true))
        case 0x66: return try literal("false", .bool(false))
        case 0x6E: return try literal("null", .null)
        default: throw error(.unexpectedByte)
        }
    }

    mutating func literal(_ text: StaticString, _ value: JSONValue) throws(JSONError) -> JSONValue {
        guard bytes.count - position >= text.utf8CodeUnitCount else { throw error(.unexpectedEnd) }
        for index in 0..<text.utf8CodeUnitCount where bytes[position + index] != text.utf8Start[index] {
            throw error(.unexpectedByte)
        }
        position += text.utf8CodeUnitCount
        return value
    }

    private mutating func array(depth: Int) throws(JSONError) -> JSONValue {
        position += 1
        var values: [JSONValue] = []
        skipSpace()
        if position < bytes.count, bytes[position] == 0x5D {
            position += 1
            return .array([])
        }
        try hold(ValueMemory.container)
        while true {
            try hold(ValueMemory.value)
            values.append(try value(depth: depth + 1))
            if try endsAfterSeparator(0x5D) { return .array(values) }
        }
    }

    private mutating func object(depth: Int) throws(JSONError) -> JSONValue {
        position += 1
        var members: [JSONObject.Member] = []
        skipSpace()
        if position < bytes.count, bytes[position] == 0x7D {
            position += 1
            return .object(JSONObject())
        }
        try hold(ValueMemory.container)
        while true {
            guard members.count < GeometryLimits.membersMax else { throw error(.tooManyMembers) }
            try hold(ValueMemory.member)
            skipSpace()
            guard position < bytes.count else { throw error(.unexpectedEnd) }
            guard bytes[position] == 0x22 else { throw error(.unexpectedByte) }
            let key = try string()
            skipSpace()
            guard position < bytes.count else { throw error(.unexpectedEnd) }
            guard bytes[position] == 0x3A else { throw error(.unexpectedByte) }
            position += 1
            members.append(JSONObject.Member(key: key, value: try value(depth: depth + 1)))
            if try endsAfterSeparator(0x7D) { return .object(JSONObject(uncheckedMembers: members)) }
        }
    }

    /// Consumes a comma or the closing bracket; true for the bracket.
    mutating func endsAfterSeparator(_ closing: UInt8) throws(JSONError) -> Bool {
        skipSpace()
        guard position < bytes.count else { throw error(.unexpectedEnd) }
        let byte = bytes[position]
        guard byte == 0x2C || byte == closing else { throw error(.unexpectedByte) }
        position += 1
        return byte == closing
    }
}

// MARK: - Scalars

extension JSONParser {
    mutating func number() throws(JSONError) -> JSONValue {
        let start = position
        if bytes[position] == 0x2D { position += 1 }
        let whole = try digits()
        if whole > 1, bytes[position - whole] == 0x30 { throw error(.invalidNumber) }
        var isInteger = true
        if position < bytes.count, bytes[position] == 0x2E {
            isInteger = false
            position += 1
            _ = try digits()
        }
        if position < bytes.count, bytes[position] | 0x20 == 0x65 {
            isInteger = false
            position += 1
            if position < bytes.count, bytes[position] == 0x2B || bytes[position] == 0x2D { position += 1 }
            _ = try digits()
        }
        if isInteger, let value = integer(from: start) { return .integer(value) }
        if !isInteger, let value = shortDecimal(from: start) { return .number(value) }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        guard let value = Double(text), value.isFinite else { throw error(.invalidNumber) }
        return .number(value)
    }

    private mutating func digits() throws(JSONError) -> Int {
        let start = position
        while position < bytes.count, bytes[position] >= 0x30, bytes[position] <= 0x39 { position += 1 }
        guard position > start else { throw error(position < bytes.count ? .invalidNumber : .unexpectedEnd) }
        return position - start
    }

    /// The digits from `start` as an integer, or nil when they do not fit in 64 bits.
    private func integer(from start: Int) -> Int64? {
        let isNegative = bytes[start] == 0x2D
        var value: Int64 = 0
        for index in (isNegative ? start + 1 : start)..<position {
            let (product, overflow) = value.multipliedReportingOverflow(by: 10)
            let digit = Int64(bytes[index] - 0x30)
            let (sum, carry) =
                isNegative ? product.subtractingReportingOverflow(digit) : product.addingReportingOverflow(digit)
            if overflow || carry { return nil }
            value = sum
        }
        return value
    }

    /// The decimal number from `start` when it is short: its digits as an integer below 2^53, divided by a power of ten that a
    /// Double holds exactly, give the nearest Double (W. D. Clinger, How to read floating point numbers accurately, 1990).
    private func shortDecimal(from start: Int) -> Double? {
        let isNegative = bytes[start] == 0x2D
        var (digits, fraction): (UInt64, Int?) = (0, nil)
        for index in (isNegative ? start + 1 : start)..<position {
            if bytes[index] == 0x2E {
                fraction = 0
                continue
            }
            guard bytes[index] >= 0x30, bytes[index] <= 0x39, digits < 1 << 49 else { return nil }
            digits = digits * 10 + UInt64(bytes[index] - 0x30)
            fraction = fraction.map { $0 + 1 }
        }
        guard digits <= 1 << 53, let fraction, fraction < Self.powersOfTen.count else { return nil }
        let value = Double(digits) / Self.powersOfTen[fraction]
        return isNegative ? -value : value
    }

    private static let powersOfTen: [Double] = [
        1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
        1e20,
        1e21, 1e22,
    ]

    mutating func string() throws(JSONError) -> String {
        position += 1
        let start = position
        while position < bytes.count {
            switch bytes[position] {
            case 0x22:
                let text = String(validating: bytes[start..<position], as: UTF8.self)
                guard let text else { throw error(.invalidString) }
                position += 1
                return text
            case 0x5C: return try escapedString(from: start)
            case 0..<0x20: throw error(.invalidString)
            default: position += 1
            }
        }
        throw error(.unexpectedEnd)
    }

    private mutating func escapedString(from start: Int) throws(JSONError) -> String {
        var text = Array(bytes[start..<position])
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            switch byte {
            case 0x22:
                guard let string = String(validating: text, as: UTF8.self) else { throw error(.invalidString) }
                return string
            case 0x5C: try escape(into: &text)
            case 0..<0x20: throw error(.invalidString)
            default: text.append(byte)
            }
        }
        throw error(.unexpectedEnd)
    }

    mutating func escape(into text: inout [UInt8]) throws(JSONError) {
        guard position < bytes.count else { throw error(.unexpectedEnd) }
        let byte = bytes[position]
        position += 1
        switch byte {
        case 0x22, 0x5C, 0x2F: text.append(byte)
        case 0x62: text.append(0x08)
        case 0x66: text.append(0x0C)
        case 0x6E: text.append(0x0A)
        case 0x72: text.append(0x0D)
        case 0x74: text.append(0x09)
        case 0x75: text.append(contentsOf: String(Character(try unicodeScalar())).utf8)
        default: throw error(.invalidString)
        }
    }

    private mutating func unicodeScalar() throws(JSONError) -> Unicode.Scalar {
        let first = try codeUnit()
        if UTF16.isLeadSurrogate(first), position + 1 < bytes.count, bytes[position] == 0x5C,
            bytes[position + 1] == 0x75
        {
            let restart = position
            position += 2
            let second = try codeUnit()
            if UTF16.isTrailSurrogate(second) {
                return UTF16.decode(UTF16.EncodedScalar([first, second]))
            }
            position = restart
        }
        // A lone surrogate stands for no character: U+FFFD, as web browsers decode it.
        return Unicode.Scalar(first) ?? "\u{FFFD}"
    }

    private mutating func codeUnit() throws(JSONError) -> UInt16 {
        guard bytes.count - position >= 4 else { throw error(.unexpectedEnd) }
        var unit: UInt16 = 0
        for _ in 0..<4 {
            let digit: UInt8
            switch bytes[position] {
            case 0x30...0x39: digit = bytes[position] - 0x30
            case 0x41...0x46: digit = bytes[position] - 0x37
            case 0x61...0x66: digit = bytes[position] - 0x57
            default: throw error(.invalidString)
            }
            unit = unit << 4 | UInt16(digit)
            position += 1
        }
        return unit
    }
}
