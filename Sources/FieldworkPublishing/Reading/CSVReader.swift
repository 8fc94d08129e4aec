package import Foundation

/// Reads the records of a table (RFC 4180, and what programs make of it) from pieces of bytes: quotes, doubled quotes, line
/// ends in quotes, any kind of line end, any delimiter, a byte-order mark.
package struct CSVReader {
    private static let lineBytesMax = 16 << 20

    private let source: ByteSource
    private let delimiter: UInt8
    private var transcoder: TextTranscoder
    private var buffer: [UInt8] = []
    private var position = 0
    private var isAtEnd = false
    /// A line feed after a carriage return ends no further line.
    private var followsReturn = false
    /// The line of the file where the last record began, counted from 1.
    private(set) var line = 0
    private var nextLine = 1
    /// The last record.
    package private(set) var record = CSVRecord()
    /// Which bytes mean something outside of quotes.
    private let marks: [Bool]

    package init(_ url: URL, _ format: TableFormat = TableFormat()) throws {
        source = try ByteSource(url)
        delimiter = format.delimiter
        transcoder = TextTranscoder(format.encoding)
        marks = (0...UInt8.max).map { [format.delimiter, 0x22, 0x0A, 0x0D].contains($0) }
    }

    package func close() { source.close() }

    /// Whether there is a byte to read.
    private mutating func fill() throws -> Bool {
        while position == buffer.count {
            guard !isAtEnd, let piece = try source.next() else {
                isAtEnd = true
                return false
            }
            buffer = [UInt8](transcoder.utf8(piece))
            position = 0
        }
        return true
    }

    /// The values of the next record; nil at the end. Empty lines are passed over.
    package mutating func next() throws -> [String]? { try read() ? record.texts : nil }

    /// Reads the next record; false at the end. Empty lines are passed over.
    package mutating func read() throws -> Bool {
        line = nextLine
        record.clear()
        var size = 0
        var isQuoted = false
        var wasQuoted = false
        while try fill() {
            // Only in the first value of the first line a byte may be part of a byte-order mark.
            if line > 1 || record.count > 0, isQuoted || !wasQuoted {
                let length = takeRun(isQuoted: isQuoted)
                if length > 0 {
                    size += length
                    followsReturn = false
                    guard size <= Self.lineBytesMax else { throw tooLong() }
                    continue
                }
            }
            let byte = buffer[position]
            position += 1
            size += 1
            guard size <= Self.lineBytesMax else { throw tooLong() }
            if byte == 0x0A, followsReturn {
                followsReturn = false
                continue
            }
            followsReturn = byte == 0x0D && !isQuoted
            if byte == 0x0A || followsReturn { nextLine += 1 }
            if isQuoted {
                if byte == 0x22 { isQuoted = false } else { record.append(byte) }
                continue
            }
            switch byte {
            // Spaces before a quote are no value.
            case 0x22 where !wasQuoted && hasOnlySpaces:
                record.clearValue()
                (isQuoted, wasQuoted) = (true, true)
            // A quote after a closing quote stands for one.
            case 0x22 where wasQuoted:
                record.append(0x22)
                isQuoted = true
            case delimiter:
                try endValue(isQuoted: wasQuoted)
                wasQuoted = false
            case 0x0A, 0x0D:
                if record.count == 0, record.hasNothing, !wasQuoted {
                    line = nextLine
                    continue
                }
                try endValue(isQuoted: wasQuoted)
                return true
            case 0x20 where wasQuoted: break
            default:
                // The byte-order mark of the first line.
                if line == 1, record.count == 0, byte == 0xBF, record.bytes == [0xEF, 0xBB] {
                    record.clearValue()
                } else {
                    record.append(byte)
                }
            }
        }
        if isQuoted { throw PublishingError(.badData, "A quote that begins in line \(line) is not closed.") }
        if record.count == 0, record.hasNothing, !wasQuoted { return false }
        try endValue(isQuoted: wasQuoted)
        return true
    }

    /// Takes the bytes that stand for themselves, up to the next one that does not or to the end of the piece.
    /// - Returns: how many they are.
    private mutating func takeRun(isQuoted: Bool) -> Int {
        let start = position
        position = buffer.withUnsafeBufferPointer { bytes in
            var end = start
            if isQuoted {
                // Lines are counted also in quotes.
                while end < bytes.count, bytes[end] != 0x22, bytes[end] != 0x0A { end += 1 }
            } else {
                marks.withUnsafeBufferPointer { marks in
                    while end < bytes.count, !marks[Int(bytes[end])] { end += 1 }
                }
            }
            if end > start { record.append(UnsafeBufferPointer(rebasing: bytes[start..<end])) }
            return end
        }
        return position - start
    }

    private var hasOnlySpaces: Bool { record.bytes[record.start...].allSatisfy { $0 == 0x20 } }

    private mutating func endValue(isQuoted: Bool) throws {
        record.endValue(isQuoted: isQuoted)
        let isText = record.withBytes(of: record.count - 1) { bytes in
            bytes.allSatisfy { $0 < 0x80 } || String(validating: bytes, as: UTF8.self) != nil
        }
        guard isText else {
            throw PublishingError(
                .badData,
                "Line \(line) is not UTF-8 text.",
                hint: "--encoding names another encoding, such as windows-1252 or latin1.")
        }
    }

    private func tooLong() -> PublishingError { PublishingError(.badData, "Line \(line) is too long.") }
}
