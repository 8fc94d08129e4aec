package import Foundation

/// Reads the records of a table (RFC 4180, and what programs make of it) from pieces of bytes: quotes, doubled quotes, line
/// ends in quotes, any kind of line end, any delimiter, a byte-order mark.
package struct CSVReader {
    private static let lineBytesMax = 16 << 20

    private let source: ByteSource
    private let delimiter: UInt8
    private var transcoder: TextTranscoder
    private var buffer = Data()
    private var position = 0
    private var isAtEnd = false
    /// A line feed after a carriage return ends no further line.
    private var followsReturn = false
    /// The line of the file where the last record began, counted from 1.
    private(set) var line = 0
    private var nextLine = 1
    /// Which values of the last record stood in quotes.
    private(set) var quoted: [Bool] = []

    package init(_ url: URL, _ format: TableFormat = TableFormat()) throws {
        source = try ByteSource(url)
        delimiter = format.delimiter
        transcoder = TextTranscoder(format.encoding)
    }

    package func close() { source.close() }

    private mutating func byte() throws -> UInt8? {
        while position == buffer.count {
            guard !isAtEnd, let piece = try source.next() else {
                isAtEnd = true
                return nil
            }
            buffer = transcoder.utf8(piece)
            position = 0
        }
        defer { position += 1 }
        return buffer[buffer.startIndex + position]
    }

    /// The values of the next record; nil at the end. Empty lines are passed over.
    package mutating func next() throws -> [String]? {
        var values: [String] = []
        var value: [UInt8] = []
        var size = 0
        line = nextLine
        quoted.removeAll(keepingCapacity: true)
        var isQuoted = false
        var wasQuoted = false
        func finish(_ value: inout [UInt8], _ quoted: inout [Bool]) throws -> String {
            guard let text = String(validating: value, as: UTF8.self) else {
                throw PublishingError(
                    .badData,
                    "Line \(line) is not UTF-8 text.",
                    hint: "--encoding names another encoding, such as windows-1252 or latin1.")
            }
            value.removeAll(keepingCapacity: true)
            quoted.append(wasQuoted)
            return text
        }
        while let byte = try byte() {
            size += 1
            guard size <= Self.lineBytesMax else { throw PublishingError(.badData, "Line \(line) is too long.") }
            if byte == 0x0A, followsReturn {
                followsReturn = false
                continue
            }
            followsReturn = byte == 0x0D && !isQuoted
            if byte == 0x0A || followsReturn { nextLine += 1 }
            if isQuoted {
                if byte == 0x22 { isQuoted = false } else { value.append(byte) }
                continue
            }
            switch byte {
            // Spaces before a quote are no value.
            case 0x22 where !wasQuoted && value.allSatisfy { $0 == 0x20 }:
                value.removeAll(keepingCapacity: true)
                (isQuoted, wasQuoted) = (true, true)
            // A quote after a closing quote stands for one.
            case 0x22 where wasQuoted:
                value.append(0x22)
                isQuoted = true
            case delimiter:
                values.append(try finish(&value, &quoted))
                wasQuoted = false
            case 0x0A, 0x0D:
                if values.isEmpty, value.isEmpty, !wasQuoted {
                    line = nextLine
                    continue
                }
                values.append(try finish(&value, &quoted))
                return values
            case 0x20 where wasQuoted: break
            default:
                // The byte-order mark of the first line.
                if line == 1, values.isEmpty, value == [0xEF, 0xBB], byte == 0xBF {
                    value.removeAll()
                } else {
                    value.append(byte)
                }
            }
        }
        if isQuoted { throw PublishingError(.badData, "A quote that begins in line \(line) is not closed.") }
        if values.isEmpty, value.isEmpty, !wasQuoted { return nil }
        values.append(try finish(&value, &quoted))
        return values
    }
}
