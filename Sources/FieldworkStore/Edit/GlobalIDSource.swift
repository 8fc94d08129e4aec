import Foundation

/// Global ids that the store gives itself, in the order of time (UUID version 7): the index on them grows at its end
/// instead of everywhere, which is most of what a random id costs an insert. Ids that clients make are taken as they are.
final class GlobalIDSource {
    /// 48 bits of milliseconds since 1970.
    private let milliseconds: UInt64
    /// Orders the ids of one batch.
    private var counter: UInt32 = 0
    private var generator = SystemRandomNumberGenerator()
    /// Random bits that were fetched and not used yet: the system gives many as fast as a few.
    private var reserve: [UInt64] = []

    init(moment: Date = .now) {
        milliseconds = UInt64(clamping: moment.milliseconds) & 0xFFFF_FFFF_FFFF
    }

    private func nextRandom() -> UInt64 {
        if let random = reserve.popLast() { return random }
        // One call of the system for as much as one gives at most. A single id takes its own alone.
        guard counter > 0 else { return generator.next() }
        reserve = [UInt64](repeating: 0, count: 32)
        let isFilled = reserve.withUnsafeMutableBytes { getentropy($0.baseAddress, $0.count) == 0 }
        if !isFilled { reserve = [] }
        return reserve.popLast() ?? generator.next()
    }

    /// 48 bits of time, the version, 32 bits of the counter around the variant, 42 random bits.
    func next() -> UUID {
        let high = milliseconds << 16 | 0x7000 | UInt64(counter >> 20)
        let random = nextRandom() & (1 << 42 - 1)
        let low = UInt64(0b10) << 62 | UInt64(counter & 0xF_FFFF) << 42 | random
        counter &+= 1
        var bytes: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        withUnsafeMutableBytes(of: &bytes) {
            $0.storeBytes(of: high.bigEndian, as: UInt64.self)
            $0.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
        }
        return UUID(uuid: bytes)
    }
}
