import FieldworkGeometry

/// The names that stand before the values of a JSON object, made once for an answer: `"name":`, from the second on with the
/// comma before it. They lie in one array, so that writing one copies bytes and counts no reference.
struct ColumnKeys: Sendable {
    private var text: [UInt8] = []
    private var ends: [Int] = [0]

    init(_ names: [String]) {
        for (index, name) in names.enumerated() {
            if index > 0 { text.append(0x2C) }
            JSONBytes.append(name, to: &text)
            text.append(0x3A)
            ends.append(text.count)
        }
    }

    @inline(__always)
    func append(_ column: Int, to bytes: inout [UInt8]) {
        let (start, count) = (ends[column], ends[column + 1] - ends[column])
        text.withUnsafeBufferPointer { text in
            guard let from = text.baseAddress else { return }
            bytes.append(most: count) { place in
                place.update(from: from + start, count: count)
                return count
            }
        }
    }
}
