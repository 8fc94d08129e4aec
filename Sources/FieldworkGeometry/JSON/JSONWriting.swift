/// Bytes of JSON. The functions append to one buffer, so that large answers are written without intermediate strings.
package enum JSONBytes {
    /// Appends a string with its quotes, escaping what JSON demands and, so that the text may stand inside an HTML
    /// script or a JSONP answer, the two line separators that ECMAScript once refused.
    package static func append(_ string: String, to bytes: inout [UInt8]) {
        var copy = string
        copy.withUTF8 { append(utf8: UnsafeRawBufferPointer($0), to: &bytes) }
    }

    /// Appends text that is already UTF-8, with its quotes.
    package static func append(utf8: UnsafeRawBufferPointer, to bytes: inout [UInt8]) {
        var isPlain = true
        bytes.append(most: utf8.count + 2) { place in
            isPlain = copyPlain(utf8, to: place + 1)
            place[0] = 0x22
            place[utf8.count + 1] = 0x22
            return isPlain ? utf8.count + 2 : 0
        }
        if !isPlain { appendEscaped(utf8, to: &bytes) }
    }

    /// Copies text in which nothing has to be escaped; false, and the copy good for nothing, when something has.
    @inline(__always)
    private static func copyPlain(_ utf8: UnsafeRawBufferPointer, to place: UnsafeMutablePointer<UInt8>) -> Bool {
        guard let from = utf8.baseAddress else { return true }
        let to = UnsafeMutableRawPointer(place)
        var index = 0
        while index &+ 8 <= utf8.count {
            let word = from.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            if hasSpecial(word) { return false }
            to.storeBytes(of: word, toByteOffset: index, as: UInt64.self)
            index &+= 8
        }
        while index < utf8.count {
            let byte = from.load(fromByteOffset: index, as: UInt8.self)
            if isSpecial(byte) { return false }
            place[index] = byte
            index &+= 1
        }
        return true
    }

    /// Whether JSON wants the byte escaped.
    @inline(__always)
    private static func isSpecial(_ byte: UInt8) -> Bool { byte < 0x20 || byte == 0x22 || byte == 0x5C }

    /// Whether one of eight bytes is special: a borrow from its highest bit tells which is below what is taken off.
    @inline(__always)
    private static func hasSpecial(_ word: UInt64) -> Bool {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let quotes = word ^ (ones &* 0x22)
        let backslashes = word ^ (ones &* 0x5C)
        let found = (word &- ones &* 0x20) & ~word | (quotes &- ones) & ~quotes | (backslashes &- ones) & ~backslashes
        return found & (ones << 7) != 0
    }

    private static func appendEscaped(_ utf8: UnsafeRawBufferPointer, to bytes: inout [UInt8]) {
        bytes.append(0x22)
        var start = 0
        for index in 0..<utf8.count where isSpecial(utf8[index]) {
            bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: utf8[start..<index]))
            start = index + 1
            appendEscape(utf8[index], to: &bytes)
        }
        bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: utf8[start..<utf8.count]))
        bytes.append(0x22)
    }

    private static func appendEscape(_ byte: UInt8, to bytes: inout [UInt8]) {
        bytes.append(0x5C)
        switch byte {
        case 0x22, 0x5C: bytes.append(byte)
        case 0x0A: bytes.append(0x6E)
        case 0x0D: bytes.append(0x72)
        case 0x09: bytes.append(0x74)
        default:
            bytes.append(contentsOf: [0x75, 0x30, 0x30])
            bytes.append(hexDigit(byte >> 4))
            bytes.append(hexDigit(byte & 0xF))
        }
    }

    private static func hexDigit(_ nibble: UInt8) -> UInt8 { nibble < 10 ? 0x30 + nibble : 0x57 + nibble }

    /// Appends text that reads back as the same number; what JSON cannot say (NaN, infinity) becomes null. Whole numbers
    /// below 2^53 are written without a fraction, as the protocol's own servers do.
    package static func append(_ number: Double, to bytes: inout [UInt8]) {
        guard number.isFinite else {
            bytes.append(literal: "null")
            return
        }
        if abs(number) < 0x1p53 {
            let whole = Int64(number)
            if Double(whole) == number {
                append(whole, to: &bytes)
                return
            }
            if appendDecimal(number, 2, 1e2, &bytes) || appendDecimal(number, 4, 1e4, &bytes)
                || appendDecimal(number, 7, 1e7, &bytes) || appendDecimal(number, 9, 1e9, &bytes)
            {
                return
            }
        }
        bytes.append(contentsOf: number.description.utf8)
    }

    /// Writes a number of so few decimals by integer arithmetic; false when it has more. With both N and 10^k exact and
    /// division correctly rounded, N / 10^k == number proves that the decimal text N·10^-k reads back as the number.
    @inline(__always)
    private static func appendDecimal(
        _ number: Double, _ decimals: Int, _ power: Double, _ bytes: inout [UInt8]
    ) -> Bool {
        let product = number * power
        guard abs(product) < 0x1p52 else { return false }
        // To the nearest, with the fraction cut off: a call of the mathematical library costs more than all of this.
        let scaled = Int64(product + (product < 0 ? -0.5 : 0.5))
        guard Double(scaled) / power == number else { return false }
        appendFixed(scaled, decimals: decimals, to: &bytes)
        return true
    }

    /// Appends an integer with its last digits behind a point, without trailing zeros.
    private static func appendFixed(_ scaled: Int64, decimals: Int, to bytes: inout [UInt8]) {
        var magnitude = scaled.magnitude
        var places = decimals
        while places > 0, magnitude % 10 == 0 {
            magnitude /= 10
            places -= 1
        }
        var power: UInt64 = 1
        for _ in 0..<places { power *= 10 }
        let (whole, fraction) = magnitude.quotientAndRemainder(dividingBy: power)
        // A sign, 20 digits before the point, and those behind it.
        bytes.append(most: 22 + places) { place in
            var end = 0
            if scaled < 0, magnitude != 0 {
                place[0] = 0x2D
                end = 1
            }
            end += write(whole, digits: digits(of: whole), to: place + end)
            guard places > 0 else { return end }
            place[end] = 0x2E
            return end + 1 + write(fraction, digits: places, to: place + end + 1)
        }
    }

    /// Appends an integer in decimal.
    package static func append(_ integer: Int64, to bytes: inout [UInt8]) {
        let magnitude = integer.magnitude
        // 20 digits hold every 64-bit magnitude.
        bytes.append(most: 21) { place in
            guard integer < 0 else { return write(magnitude, digits: digits(of: magnitude), to: place) }
            place[0] = 0x2D
            return 1 + write(magnitude, digits: digits(of: magnitude), to: place + 1)
        }
    }

    @inline(__always)
    private static func digits(of magnitude: UInt64) -> Int {
        var (count, limit): (Int, UInt64) = (1, 10)
        while magnitude >= limit, count < 19 {
            count += 1
            limit *= 10
        }
        return magnitude >= limit ? 20 : count
    }

    /// Writes the last digits of a number, with zeros before them where it has fewer; gives how many it wrote.
    @inline(__always)
    private static func write(_ magnitude: UInt64, digits: Int, to place: UnsafeMutablePointer<UInt8>) -> Int {
        var (rest, index) = (magnitude, digits)
        // By eights: what is divided by ten is short then, and the eights don't wait for each other.
        while index > 8 {
            var low = UInt32(truncatingIfNeeded: rest % 100_000_000)
            rest /= 100_000_000
            for offset in 1...8 {
                place[index &- offset] = 0x30 &+ UInt8(truncatingIfNeeded: low % 10)
                low /= 10
            }
            index &-= 8
        }
        var low = UInt32(truncatingIfNeeded: rest)
        while index > 0 {
            index &-= 1
            place[index] = 0x30 &+ UInt8(truncatingIfNeeded: low % 10)
            low /= 10
        }
        return digits
    }
}

extension JSONValue {
    /// Appends the document as compact JSON.
    package func write(to bytes: inout [UInt8]) {
        switch self {
        case .null: bytes.append(contentsOf: "null".utf8)
        case .bool(let value): bytes.append(contentsOf: (value ? "true" : "false").utf8)
        case .integer(let value): JSONBytes.append(value, to: &bytes)
        case .number(let value): JSONBytes.append(value, to: &bytes)
        case .string(let value): JSONBytes.append(value, to: &bytes)
        case .array(let values):
            bytes.append(0x5B)
            for (index, value) in values.enumerated() {
                if index > 0 { bytes.append(0x2C) }
                value.write(to: &bytes)
            }
            bytes.append(0x5D)
        case .object(let object):
            bytes.append(0x7B)
            for (index, member) in object.members.enumerated() {
                if index > 0 { bytes.append(0x2C) }
                JSONBytes.append(member.key, to: &bytes)
                bytes.append(0x3A)
                member.value.write(to: &bytes)
            }
            bytes.append(0x7D)
        }
    }

    /// Appends the document indented by two spaces a level, as the protocol's `f=pjson` shows it.
    package func writePretty(to bytes: inout [UInt8], indentation: Int = 0) {
        func newLine(_ level: Int) {
            bytes.append(0x0A)
            bytes.append(contentsOf: repeatElement(0x20, count: level * 2))
        }
        switch self {
        case .array(let values) where !values.isEmpty:
            bytes.append(0x5B)
            for (index, value) in values.enumerated() {
                if index > 0 { bytes.append(0x2C) }
                newLine(indentation + 1)
                value.writePretty(to: &bytes, indentation: indentation + 1)
            }
            newLine(indentation)
            bytes.append(0x5D)
        case .object(let object) where !object.isEmpty:
            bytes.append(0x7B)
            for (index, member) in object.members.enumerated() {
                if index > 0 { bytes.append(0x2C) }
                newLine(indentation + 1)
                JSONBytes.append(member.key, to: &bytes)
                bytes.append(contentsOf: ": ".utf8)
                member.value.writePretty(to: &bytes, indentation: indentation + 1)
            }
            newLine(indentation)
            bytes.append(0x7D)
        default: write(to: &bytes)
        }
    }

    /// The document as compact JSON text.
    package var text: String {
        var bytes: [UInt8] = []
        write(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}
