/// The one row of `fieldwork_state` as it stands on its page: read from the bytes of a write-ahead log that must not be opened,
/// since it may belong to another file.
struct StateRow: Sendable, Hashable {
    var generation: Int64
    /// A random number that every transaction of ours replaces.
    var stamp: Int64?
    /// The stamp that the transaction found; nil where another program wrote the row.
    var base: Int64?

    /// Marks the row, so that its page is known among others.
    static let mark = "fieldwork-state"
    private static let mostBytes = 200

    static let headBytes = 8

    /// Whether the first bytes of a page are those of a leaf of a table (13) with one row.
    static func mayStand(onPage head: ArraySlice<UInt8>) -> Bool {
        let start = head.startIndex
        return head.count >= headBytes && head[start] == 13 && head[start + 3] == 0 && head[start + 4] == 1
    }

    /// nil for a page that is none of this row.
    init?(page: [UInt8]) {
        guard Self.mayStand(onPage: page[...]) else { return nil }
        var reader = Bytes(page, at: Int(page[5]) << 8 | Int(page[6]))
        guard let length = reader.number(), length > 0, length <= Self.mostBytes, reader.number() == 1 else {
            return nil
        }
        let start = reader.position
        guard let headerLength = reader.number(), headerLength < length else { return nil }
        var types: [Int64] = []
        while reader.position < start + Int(headerLength), let type = reader.number() { types.append(type) }
        guard types.count == 7 else { return nil }
        var values: [Int64?] = []
        for type in types.dropLast() {
            guard let value = reader.value(type) else { return nil }
            values.append(value)
        }
        // Text of n bytes is type 13 + 2n.
        guard types[6] == Int64(13 + 2 * Self.mark.utf8.count), reader.hasText(Self.mark), let generation = values[1]
        else { return nil }
        self.generation = generation
        stamp = values[4]
        base = values[5]
    }
}

/// SQLite's record format, as far as whole numbers go.
private struct Bytes {
    let bytes: [UInt8]
    private(set) var position: Int

    init(_ bytes: [UInt8], at position: Int) {
        self.bytes = bytes
        self.position = position
    }

    /// A number of variable length; none of ours has more than four bytes.
    mutating func number() -> Int64? {
        var result: Int64 = 0
        for _ in 0..<4 {
            guard bytes.indices.contains(position) else { return nil }
            let byte = bytes[position]
            position += 1
            result = result << 7 | Int64(byte & 0x7F)
            if byte & 0x80 == 0 { return result }
        }
        return nil
    }

    /// A whole number, or NULL, which is `.some(nil)`; nil for another type.
    mutating func value(_ type: Int64) -> Int64?? {
        switch type {
        case 0: return .some(nil)
        case 8: return 0
        case 9: return 1
        case 1...4: return integer(Int(type))
        case 5: return integer(6)
        case 6: return integer(8)
        default: return nil
        }
    }

    private mutating func integer(_ size: Int) -> Int64?? {
        guard position >= 0, position + size <= bytes.count else { return nil }
        var result: Int64 = bytes[position] & 0x80 == 0 ? 0 : -1
        for byte in bytes[position..<position + size] { result = result << 8 | Int64(byte) }
        position += size
        return result
    }

    func hasText(_ text: String) -> Bool {
        let wanted = Array(text.utf8)
        guard position >= 0, position + wanted.count <= bytes.count else { return false }
        return Array(bytes[position..<position + wanted.count]) == wanted
    }
}
