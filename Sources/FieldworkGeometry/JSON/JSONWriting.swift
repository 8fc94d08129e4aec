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
        bytes.append(0x22)
        var start = 0
        for index in 0..<utf8.count {
            let byte = utf8[index]
            if byte >= 0x20 && byte != 0x22 && byte != 0x5C { continue }
            bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: utf8[start..<index]))
            start = index + 1
            appendEscape(byte, to: &bytes)
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
            bytes.append(contentsOf: "null".utf8)
            return
        }
        if abs(number) < 0x1p53 {
            let whole = number.rounded(.towardZero)
            if whole == number {
                append(Int64(whole), to: &bytes)
                return
            }
            if appendDecimal(number, to: &bytes) { return }
        }
        bytes.append(contentsOf: number.description.utf8)
    }

    /// Writes a number of few decimals by integer arithmetic; false when it has more. With both N and 10^k exact and
    /// division correctly rounded, N / 10^k == number proves that the decimal text N·10^-k reads back as the number.
    private static func appendDecimal(_ number: Double, to bytes: inout [UInt8]) -> Bool {
        for (decimals, power) in [(2, 1e2), (4, 1e4), (7, 1e7), (9, 1e9)] as [(Int, Double)] {
            let scaled = (number * power).rounded()
            guard abs(scaled) < 0x1p53 else { return false }
            guard scaled / power == number else { continue }
            appendFixed(Int64(scaled), decimals: decimals, to: &bytes)
            return true
        }
        return false
    }

    /// Appends an integer with its last digits behind a point, without trailing zeros.
    package static func appendFixed(_ scaled: Int64, decimals: Int, to bytes: inout [UInt8]) {
        var magnitude = scaled.magnitude
        var places = decimals
        while places > 0, magnitude % 10 == 0 {
            magnitude /= 10
            places -= 1
        }
        if scaled < 0, magnitude != 0 { bytes.append(0x2D) }
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 32) { digits in
            var position = 32
            var written = 0
            repeat {
                if written == places, places > 0 {
                    position -= 1
                    digits[position] = 0x2E
                }
                position -= 1
                digits[position] = 0x30 + UInt8(truncatingIfNeeded: magnitude % 10)
                magnitude /= 10
                written += 1
            } while magnitude != 0 || written <= places
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: digits[position..<32]))
        }
    }

    /// Appends an integer in decimal.
    package static func append(_ integer: Int64, to bytes: inout [UInt8]) {
        if integer < 0 { bytes.append(0x2D) }
        var magnitude = integer.magnitude
        // 20 digits hold every 64-bit magnitude.
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
            var position = 20
            repeat {
                position -= 1
                digits[position] = 0x30 + UInt8(truncatingIfNeeded: magnitude % 10)
                magnitude /= 10
            } while magnitude != 0
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: digits[position..<20]))
        }
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
