/// The colours of a picture, numbered in the order in which they are found.
struct ColorNumbers {
    private(set) var colors: [UInt32] = []
    private let most: Int
    private var keys: [UInt32]
    /// The number of each key, counted from 1; 0 where there is no key.
    private var numbers: [UInt16]
    /// Four times as many as there are colours at most, so that most are found where they are looked for first.
    private static let slotBits: UInt32 = 10

    /// - Parameter most: colours that are numbered, at most 256.
    init(most: Int) {
        self.most = min(most, 256)
        keys = [UInt32](repeating: 0, count: 1 << Int(Self.slotBits))
        numbers = [UInt16](repeating: 0, count: 1 << Int(Self.slotBits))
    }

    /// - Parameters:
    ///   - key: what is the same for all pixels of one number.
    ///   - color: the colour of a number that is new.
    /// - Returns: nil when there are more colours than are numbered.
    @inline(__always)
    mutating func number(of key: UInt32, color: @autoclosure () -> UInt32) -> UInt8? {
        var slot = Int((key &* 0x9E37_79B1) &>> (32 &- Self.slotBits))
        while numbers[slot] != 0 {
            if keys[slot] == key { return UInt8(truncatingIfNeeded: numbers[slot] &- 1) }
            slot = (slot &+ 1) & (keys.count &- 1)
        }
        guard colors.count < most else { return nil }
        colors.append(color())
        (keys[slot], numbers[slot]) = (key, UInt16(truncatingIfNeeded: colors.count))
        return UInt8(truncatingIfNeeded: colors.count &- 1)
    }
}
