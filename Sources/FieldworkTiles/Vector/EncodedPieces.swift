import Foundation

/// The keys or the values of a layer, encoded, that stand once each and are named by their numbers. What is the same is known by
/// its bytes.
struct EncodedPieces: Sendable {
    private(set) var bytes: [UInt8] = []
    /// Where each piece ends in `bytes`.
    private var ends: [Int] = []
    private var hashes: [UInt64] = []
    /// How many features name each piece.
    private var uses: [UInt32] = []
    /// An open hash table, at most half full: the number of a piece and one more; 0 where none is. Its size is a power of two.
    private var table: [UInt32] = []

    /// Not known to who makes values, who could give all of them one hash otherwise.
    private static let seed = UInt64.random(in: .min ... .max)

    var byteCount: Int { bytes.count }

    /// The number of a piece, which is kept when it is new.
    mutating func number(of piece: UnsafeRawBufferPointer) -> UInt32 {
        if 2 * (ends.count + 1) > table.count { grow() }
        let hash = Self.hash(piece)
        var place = Self.place(hash, table.count)
        while table[place] != 0 {
            let number = table[place] &- 1
            if hashes[Int(number)] == hash, isEqual(piece, number) {
                use(number)
                return number
            }
            place = (place &+ 1) & (table.count &- 1)
        }
        let number = UInt32(truncatingIfNeeded: ends.count)
        table[place] = number &+ 1
        hashes.append(hash)
        bytes.append(contentsOf: piece)
        ends.append(bytes.count)
        uses.append(1)
        return number
    }

    /// Notes that one more feature names a piece.
    mutating func use(_ number: UInt32) { uses[Int(number)] &+= 1 }

    /// The number here of a piece that others have under a number of theirs.
    mutating func take(_ number: UInt32, of others: EncodedPieces) -> UInt32 {
        others.bytes.withUnsafeBytes {
            self.number(of: UnsafeRawBufferPointer(rebasing: $0[others.range(Int(number))]))
        }
    }

    /// What would go with the only feature that names a piece; 0 where several do.
    func ownSize(_ number: UInt32) -> Int { uses[Int(number)] == 1 ? range(Int(number)).count : 0 }

    private func range(_ index: Int) -> Range<Int> { (index > 0 ? ends[index - 1] : 0)..<ends[index] }

    private func isEqual(_ piece: UnsafeRawBufferPointer, _ number: UInt32) -> Bool {
        let range = range(Int(number))
        guard range.count == piece.count else { return false }
        return bytes.withUnsafeBytes { all in
            guard let own = all.baseAddress, let other = piece.baseAddress else { return piece.isEmpty }
            return memcmp(own + range.lowerBound, other, piece.count) == 0
        }
    }

    private mutating func grow() {
        table = Array(repeating: 0, count: max(32, 2 * table.count))
        for (number, hash) in hashes.enumerated() {
            var place = Self.place(hash, table.count)
            while table[place] != 0 { place = (place &+ 1) & (table.count &- 1) }
            table[place] = UInt32(truncatingIfNeeded: number) &+ 1
        }
    }

    private static func place(_ hash: UInt64, _ count: Int) -> Int { Int(truncatingIfNeeded: hash) & (count &- 1) }

    /// Eight bytes at a time, each multiplied into both halves of the product.
    private static func hash(_ piece: UnsafeRawBufferPointer) -> UInt64 {
        var hash = seed ^ UInt64(piece.count)
        var place = 0
        while place &+ 8 <= piece.count {
            hash = mixed(hash, piece.loadUnaligned(fromByteOffset: place, as: UInt64.self))
            place &+= 8
        }
        var rest: UInt64 = 0
        while place < piece.count {
            rest = rest << 8 | UInt64(piece[place])
            place &+= 1
        }
        return mixed(hash, rest)
    }

    private static func mixed(_ hash: UInt64, _ word: UInt64) -> UInt64 {
        let product = (hash ^ word).multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
        return product.high ^ product.low
    }
}
