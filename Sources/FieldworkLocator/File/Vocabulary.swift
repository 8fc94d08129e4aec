import FieldworkStore
import Synchronization

/// The words of a locator, in memory: looked through for those that a misspelt word may stand for. Read when the first word is
/// misspelt, once for all readers.
final class SharedVocabulary: Sendable {
    private let kept = Mutex<Vocabulary?>(nil)

    func get(_ data: LocatorData) throws -> Vocabulary {
        if let known = kept.withLock({ $0 }) { return known }
        let read = try Vocabulary(data)
        kept.withLock { $0 = read }
        return read
    }
}

struct Vocabulary: Sendable {
    private var letters: [UInt16] = []
    /// Where the letters of each word begin; one more at the end.
    private var starts: [Int32] = [0]
    /// Which letters a word has.
    private var masks: [UInt32] = []
    private var counts: [Int32] = []

    init(_ data: LocatorData) throws {
        var common = data.common
        try data.connection.run("SELECT term, doc FROM gc_vocabulary") { _ in
        } row: { row in
            let word = row.text(0)
            add(word, max(Int(row.integer(1)), common.removeValue(forKey: word) ?? 0))
        }
        for (word, count) in common.sorted(by: { $0.key < $1.key }) { add(word, count) }
    }

    private mutating func add(_ word: String, _ count: Int) {
        // Numbers have no spelling.
        guard !(word.utf8.allSatisfy { $0 >= 0x30 && $0 <= 0x39 }) else { return }
        letters.append(contentsOf: word.utf16)
        starts.append(Int32(letters.count))
        masks.append(Self.mask(word.utf16))
        counts.append(Int32(clamping: count))
    }

    private static func mask<Letters: Sequence<UInt16>>(_ letters: Letters) -> UInt32 {
        letters.reduce(0) { $0 | 1 << UInt32($1 & 31) }
    }

    private func word(_ index: Int) -> String {
        String(decoding: letters[Int(starts[index])..<Int(starts[index + 1])], as: UTF16.self)
    }

    /// Words within the tolerance, those with fewer differences first, then the more frequent.
    /// - Parameter isPrefix: takes words whose beginning is alike.
    func similar(to wanted: String, isPrefix: Bool) -> [String] {
        let target = EditDistance.letters(wanted)
        let limit = EditDistance.tolerance(target.count)
        guard limit > 0 else { return [] }
        let mask = Self.mask(target)
        var work = EditDistance.Work()
        var found: [(index: Int, distance: Int)] = []
        letters.withUnsafeBufferPointer { letters in
            for index in masks.indices {
                // Each difference takes one letter away and puts one in at most.
                let missing = (mask & ~masks[index]).nonzeroBitCount
                guard missing <= limit else { continue }
                let start = Int(starts[index])
                var length = Int(starts[index + 1]) - start
                if isPrefix {
                    guard length >= target.count - limit else { continue }
                    length = min(length, target.count + limit)
                } else {
                    guard abs(length - target.count) <= limit, (masks[index] & ~mask).nonzeroBitCount <= limit else {
                        continue
                    }
                }
                let part = UnsafeBufferPointer(rebasing: letters[start..<(start + length)])
                if let distance = work.distance(target, part, limit: limit, isPrefix: isPrefix) {
                    found.append((index, distance))
                }
            }
        }
        found.sort { ($0.distance, counts[$1.index]) < ($1.distance, counts[$0.index]) }
        return found.prefix(Limits.spellingsPerWord).map { word($0.index) }
    }
}
