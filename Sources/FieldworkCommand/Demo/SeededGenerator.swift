import Foundation

/// Numbers from a seed (SplitMix64): the same seed gives the same demo on every machine.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }

    mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[Int.random(in: 0..<elements.count, using: &self)]
    }

    /// One of the elements, each as often as its weight says.
    mutating func pick<Element>(_ weighted: [(Element, Double)]) -> Element {
        var place = Double.random(in: 0..<weighted.reduce(0) { $0 + $1.1 }, using: &self)
        for (element, weight) in weighted {
            place -= weight
            if place < 0 { return element }
        }
        return weighted[weighted.count - 1].0
    }

    /// A random (version 4) UUID.
    mutating func uuid() -> UUID {
        var bytes = [UInt8]()
        for _ in 0..<2 { withUnsafeBytes(of: next().bigEndian) { bytes.append(contentsOf: $0) } }
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        return UUID(
            uuid: (
                bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7], bytes[8], bytes[9],
                bytes[10], bytes[11], bytes[12], bytes[13], bytes[14], bytes[15]
            ))
    }

    /// A standard normal number (Box and Muller).
    mutating func normal() -> Double {
        let radius = (-2 * log(Double.random(in: .leastNonzeroMagnitude..<1, using: &self))).squareRoot()
        return radius * cos(2 * .pi * Double.random(in: 0..<1, using: &self))
    }

    /// A moment between two days counted from 1970, in milliseconds.
    mutating func moment(fromDay first: Int64, toDay last: Int64) -> Int64 {
        Int64.random(in: first..<last, using: &self) * 86_400_000 + Int64.random(in: 28_800..<64_800, using: &self)
            * 1_000
    }
}
