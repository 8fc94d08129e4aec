import TestSupport

/// Makes inputs that nobody would write from inputs that somebody did.
struct Mutator {
    private var generator: SeededGenerator
    private let corpus: [[UInt8]]
    private let words: [[UInt8]]

    private static let lengthMax = 4_096
    private static let bytes: [UInt8] = [0, 1, 0x20, 0x22, 0x27, 0x2D, 0x30, 0x5B, 0x7B, 0x7F, 0x80, 0xC0, 0xFF]

    /// - Parameters:
    ///   - seed: the same seed gives the same inputs.
    ///   - words: pieces of the format's grammar.
    init(seed: UInt64, corpus: [[UInt8]], words: [String]) {
        generator = SeededGenerator(seed: seed)
        self.corpus = corpus
        self.words = words.map { Array($0.utf8) }
    }

    mutating func next() -> [UInt8] {
        var input = corpus.randomElement(using: &generator) ?? []
        for _ in 0..<Int.random(in: 1...6, using: &generator) { mutate(&input) }
        return input.count > Self.lengthMax ? Array(input.prefix(Self.lengthMax)) : input
    }

    private mutating func mutate(_ input: inout [UInt8]) {
        let place = Int.random(in: 0...input.count, using: &generator)
        let length = min(Int.random(in: 0...16, using: &generator), input.count - place)
        switch Int.random(in: 0..<9, using: &generator) {
        case 0 where place < input.count: input[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
        case 1 where place < input.count: input[place] = Self.bytes.randomElement(using: &generator) ?? 0
        case 2: input.insert(UInt8.random(in: 0...255, using: &generator), at: place)
        case 3: input.removeSubrange(place..<(place + length))
        case 4:
            let piece = Array(input[place..<(place + length)])
            for _ in 0..<Int.random(in: 1...8, using: &generator) { input.insert(contentsOf: piece, at: place) }
        case 5: input.insert(contentsOf: words.randomElement(using: &generator) ?? [], at: place)
        case 6:
            // The head of one and the tail of another.
            let other = corpus.randomElement(using: &generator) ?? []
            input = Array(input[..<place]) + other.suffix(Int.random(in: 0...other.count, using: &generator))
        case 7 where input.count - place >= 4:
            let number: UInt32 = [0, 1, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF].randomElement(using: &generator) ?? 0
            for (index, shift) in [0, 8, 16, 24].enumerated() {
                input[place + index] = UInt8(truncatingIfNeeded: number >> UInt32(shift))
            }
        default: input = Array(input[..<place])
        }
    }
}
