/// How many letters two words differ in: one changed, left out, put in, or two swapped counts one.
enum EditDistance {
    /// The most differences that are taken for an error of typing in a word of so many letters.
    static func tolerance(_ letters: Int) -> Int {
        switch letters {
        case ...1: 0
        case 2...7: 1
        default: 2
        }
    }

    /// The letters of a word as they are compared.
    static func letters(_ word: String) -> [UInt16] { Array(word.utf16) }

    /// The number of differences, or nil when there are more than are taken for an error of typing.
    static func between(_ first: String, _ second: String) -> Int? {
        if first == second { return 0 }
        let (one, two) = (letters(first), letters(second))
        let limit = tolerance(max(one.count, two.count))
        guard abs(one.count - two.count) <= limit else { return nil }
        var work = Work()
        return two.withUnsafeBufferPointer { work.distance(one, $0, limit: limit, isPrefix: false) }
    }

    /// Whether words differ in no more than so many letters.
    static func areNear(_ first: String, _ second: String, limit: Int) -> Bool {
        var work = Work()
        return letters(second).withUnsafeBufferPointer {
            work.distance(letters(first), $0, limit: limit, isPrefix: false) != nil
        }
    }

    /// The rows of the comparison, kept from one to the next.
    struct Work {
        private var before: [Int] = []
        private var last: [Int] = []
        private var current: [Int] = []

        /// - Parameter isPrefix: takes the beginning of the second word that fits best.
        mutating func distance(
            _ first: [UInt16], _ second: UnsafeBufferPointer<UInt16>, limit: Int, isPrefix: Bool
        ) -> Int? {
            let width = second.count + 1
            if current.count < width {
                for _ in current.count..<width {
                    before.append(0)
                    last.append(0)
                    current.append(0)
                }
            }
            for column in 0..<width { last[column] = column }
            for row in first.indices {
                let letter = first[row]
                current[0] = row + 1
                var least = row + 1
                for column in second.indices {
                    var value = min(last[column + 1], current[column]) + 1
                    value = min(value, last[column] + (letter == second[column] ? 0 : 1))
                    if row > 0, column > 0, letter == second[column - 1], first[row - 1] == second[column] {
                        value = min(value, before[column - 1] + 1)
                    }
                    current[column + 1] = value
                    least = min(least, value)
                }
                if least > limit { return nil }
                swap(&before, &last)
                swap(&last, &current)
            }
            var distance = last[width - 1]
            if isPrefix { for column in 0..<width { distance = min(distance, last[column]) } }
            return distance <= limit ? distance : nil
        }
    }
}
