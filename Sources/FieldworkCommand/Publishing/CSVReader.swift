import Foundation

/// Reads comma-separated values (RFC 4180) from pieces of bytes: quotes, doubled quotes, line ends in quotes, either
/// kind of line end, a byte-order mark.
struct CSVReader {
    private static let lineBytesMax = 16 << 20

    private let source: ByteSource
    private var buffer = Data()
    private var position = 0
    private var isAtEnd = false
    /// The line of the file where the last record began, counted from 1.
    private(set) var line = 0
    private var nextLine = 1

    init(_ url: URL) throws { source = try ByteSource(url) }

    func close() { source.close() }

    private mutating func byte() throws -> UInt8? {
        if position == buffer.count {
            guard !isAtEnd, let piece = try source.next() else {
                isAtEnd = true
                return nil
            }
            buffer = piece
            position = 0
        }
        defer { position += 1 }
        return buffer[buffer.startIndex + position]
    }

    /// The values of the next record; nil at the end. Empty lines are passed over.
    mutating func next() throws -> [String]? {
        var values: [String] = []
        var value: [UInt8] = []
        var size = 0
        line = nextLine
        func finish(_ value: inout [UInt8]) throws -> String {
            guard let text = String(validating: value, as: UTF8.self) else {
                throw CommandFailure(.badData, "Line \(line) is not UTF-8 text.")
            }
            value.removeAll(keepingCapacity: true)
            return text
        }
        var isQuoted = false
        var wasQuoted = false
        while let byte = try byte() {
            size += 1
            guard size <= Self.lineBytesMax else { throw CommandFailure(.badData, "Line \(line) is too long.") }
            if byte == 0x0A { nextLine += 1 }
            if isQuoted {
                if byte == 0x22 { isQuoted = false } else { value.append(byte) }
                continue
            }
            switch byte {
            case 0x22 where value.isEmpty && !wasQuoted: (isQuoted, wasQuoted) = (true, true)
            // A quote after a closing quote stands for one.
            case 0x22 where wasQuoted:
                value.append(0x22)
                isQuoted = true
            case 0x2C:
                values.append(try finish(&value))
                wasQuoted = false
            case 0x0D: break
            case 0x0A:
                if values.isEmpty, value.isEmpty, !wasQuoted {
                    line = nextLine
                    continue
                }
                return values + [try finish(&value)]
            default:
                // The byte-order mark of the first line.
                if line == 1, values.isEmpty, value == [0xEF, 0xBB], byte == 0xBF {
                    value.removeAll()
                } else {
                    value.append(byte)
                }
            }
        }
        if isQuoted { throw CommandFailure(.badData, "A quote that begins in line \(line) is not closed.") }
        if values.isEmpty, value.isEmpty { return nil }
        return values + [try finish(&value)]
    }
}
