/// A place in the text of a script.
public struct ArcadePosition: Sendable, Hashable, Comparable {
    /// The line, beginning with 1.
    public let line: Int
    /// The column in characters, beginning with 1.
    public let column: Int

    /// By line and column, both beginning with 1.
    public init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    /// Earlier in the text comes first.
    public static func < (one: ArcadePosition, other: ArcadePosition) -> Bool {
        (one.line, one.column) < (other.line, other.column)
    }
}

/// Turns offsets of bytes into lines and columns.
struct SourceLines: Sendable {
    private let bytes: [UInt8]
    private let starts: [Int]

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        var starts = [0]
        for (index, byte) in bytes.enumerated() where byte == 0x0A { starts.append(index + 1) }
        self.starts = starts
    }

    func position(at offset: Int) -> ArcadePosition {
        let offset = min(max(offset, 0), bytes.count)
        var (low, high) = (0, starts.count - 1)
        while low < high {
            let middle = (low + high + 1) / 2
            if starts[middle] <= offset { low = middle } else { high = middle - 1 }
        }
        // Bytes that go on with a character are no columns of their own.
        let column = bytes[starts[low]..<offset].count { $0 & 0xC0 != 0x80 } + 1
        return ArcadePosition(line: low + 1, column: column)
    }

    /// The text of a line, without its end.
    func text(ofLine line: Int) -> String {
        guard starts.indices.contains(line - 1) else { return "" }
        let end = line < starts.count ? starts[line] - 1 : bytes.count
        var text = bytes[starts[line - 1]..<max(end, starts[line - 1])]
        if text.last == 0x0D { text.removeLast() }
        return String(decoding: text, as: UTF8.self)
    }
}
