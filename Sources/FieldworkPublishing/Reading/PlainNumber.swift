/// A number of digits, perhaps with a sign and with a point between digits, as most numbers of tables are: read from its bytes,
/// without a text.
struct PlainNumber {
    /// All digits as one whole number.
    private let digits: Int64
    private let isNegative: Bool
    let wholeDigits: Int
    /// None in a whole number.
    let fractionDigits: Int
    /// Whether a zero stands before other digits: that is a code, not a number.
    let hasLeadingZero: Bool

    /// So many digits and powers of ten a real number keeps exactly, so that one division gives the nearest one.
    private static let exactDigits = 15
    private static let wholeDigitsMost = 18
    private static let powersOfTen: [Double] = [
        1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
    ]

    /// nil for every other text, and for one of more digits than can be read so.
    init?(_ bytes: UnsafeBufferPointer<UInt8>) {
        let isNegative = bytes.first == 0x2D
        let first = isNegative ? 1 : 0
        guard bytes.count > first, bytes.count <= first + Self.wholeDigitsMost + 1 else { return nil }
        var digits: Int64 = 0
        var point: Int?
        for index in first..<bytes.count {
            let digit = bytes[index] &- 0x30
            if digit < 10 {
                digits = digits &* 10 &+ Int64(digit)
            } else if bytes[index] == 0x2E, point == nil {
                point = index
            } else {
                return nil
            }
        }
        let end = point ?? bytes.count
        wholeDigits = end - first
        fractionDigits = point.map { bytes.count - $0 - 1 } ?? 0
        // ".5" and "5." are read as texts.
        guard wholeDigits > 0, point == nil || fractionDigits > 0 else { return nil }
        guard wholeDigits + fractionDigits <= (point == nil ? Self.wholeDigitsMost : Self.exactDigits) else {
            return nil
        }
        hasLeadingZero = wholeDigits > 1 && bytes[first] == 0x30
        self.digits = digits
        self.isNegative = isNegative
    }

    var value: Double {
        let size = Double(digits) / Self.powersOfTen[fractionDigits]
        return isNegative ? -size : size
    }

    /// nil for a number with a fraction.
    var integer: Int64? { fractionDigits > 0 ? nil : isNegative ? -digits : digits }
}
