/// A set of the places that items have in the index: a bit for each.
struct SlotSet: Sendable, Hashable {
    private var bits: [UInt64]

    /// An empty set for so many places.
    init(places: Int) { bits = [UInt64](repeating: 0, count: (places + 63) / 64) }

    mutating func insert(_ slot: UInt32) {
        let word = Int(slot >> 6)
        while word >= bits.count { bits.append(0) }
        bits[word] |= 1 << UInt64(slot & 63)
    }

    mutating func remove(_ slot: UInt32) {
        guard Int(slot >> 6) < bits.count else { return }
        bits[Int(slot >> 6)] &= ~(1 << UInt64(slot & 63))
    }

    func contains(_ slot: UInt32) -> Bool {
        Int(slot >> 6) < bits.count && bits[Int(slot >> 6)] & (1 << UInt64(slot & 63)) != 0
    }

    var count: Int { bits.reduce(0) { $0 + $1.nonzeroBitCount } }

    mutating func formIntersection(_ other: SlotSet) {
        for word in bits.indices { bits[word] &= word < other.bits.count ? other.bits[word] : 0 }
    }

    mutating func formUnion(_ other: SlotSet) {
        while bits.count < other.bits.count { bits.append(0) }
        for word in other.bits.indices { bits[word] |= other.bits[word] }
    }

    mutating func subtract(_ other: SlotSet) {
        for word in 0..<min(bits.count, other.bits.count) { bits[word] &= ~other.bits[word] }
    }

    /// In ascending order.
    var slots: [UInt32] {
        var slots: [UInt32] = []
        slots.reserveCapacity(count)
        for (word, value) in bits.enumerated() {
            var rest = value
            while rest != 0 {
                slots.append(UInt32(word) << 6 | UInt32(rest.trailingZeroBitCount))
                rest &= rest - 1
            }
        }
        return slots
    }
}
