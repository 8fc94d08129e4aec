import Foundation

/// Reads PostgreSQL's binary `numeric`: digits of base 10,000 with a weight, a sign and the number of decimals
/// (`numeric_send` in the server's sources).
enum PostgresNumeric {
    private static let negative: UInt16 = 0x4000
    private static let notANumber: UInt16 = 0xC000
    private static let infinity: UInt16 = 0xD000
    private static let minusInfinity: UInt16 = 0xF000

    static func text(_ bytes: UnsafeRawBufferPointer) -> String {
        guard bytes.count >= 8 else { return "0" }
        func word(_ index: Int) -> UInt16 {
            UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: index * 2, as: UInt16.self))
        }
        let digits = Int(word(0))
        let weight = Int(Int16(bitPattern: word(1)))
        let decimals = Int(word(3))
        switch word(2) {
        case notANumber: return "NaN"
        case infinity: return "Infinity"
        case minusInfinity: return "-Infinity"
        default: break
        }
        guard bytes.count >= 8 + digits * 2 else { return "0" }
        func digit(_ position: Int) -> Int { (0..<digits).contains(position) ? Int(word(4 + position)) : 0 }
        func padded(_ value: Int) -> String { String(String(value + 10_000).dropFirst()) }
        var text = word(2) == negative ? "-" : ""
        if weight < 0 {
            text += "0"
        } else {
            text += String(digit(0))
            for position in 1..<max(weight + 1, 1) { text += padded(digit(position)) }
        }
        guard decimals > 0 else { return text }
        var fraction = ""
        var position = weight + 1
        while fraction.count < decimals {
            fraction += padded(digit(position))
            position += 1
        }
        return text + "." + fraction.prefix(decimals)
    }

    static func double(_ bytes: UnsafeRawBufferPointer) -> Double { Double(text(bytes)) ?? .nan }
}
