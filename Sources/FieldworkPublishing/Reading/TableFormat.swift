package import Foundation

/// What somebody says of a table; what is not said is found out from the file.
package struct TableSettings: Sendable {
    package var delimiter: UInt8?
    package var encoding: TextEncoding?
    package var decimal: DecimalMark?
    package var dates: DateForm?

    package init(
        delimiter: UInt8? = nil, encoding: TextEncoding? = nil, decimal: DecimalMark? = nil, dates: DateForm? = nil
    ) {
        self.delimiter = delimiter
        self.encoding = encoding
        self.decimal = decimal
        self.dates = dates
    }
}

/// What stands between the whole numbers and the fraction.
package enum DecimalMark: String, CaseIterable, Sendable {
    case point, comma
}

/// How the values of a table are separated and its characters written.
package struct TableFormat: Sendable, Equatable {
    package var delimiter: UInt8 = 0x2C
    package var encoding = TextEncoding.utf8

    package static let delimiters: [(byte: UInt8, name: String)] = [
        (0x2C, "commas"), (0x3B, "semicolons"), (0x09, "tabs"), (0x7C, "vertical bars"),
    ]
    /// Bytes of the beginning that are looked at.
    private static let sampleBytes = 256 << 10
    private static let sampleLines = 50

    /// Finds the format of a file.
    package init(of url: URL, _ settings: TableSettings) throws {
        let source = try ByteSource(url)
        defer { source.close() }
        var sample = Data()
        while sample.count < Self.sampleBytes, let piece = try source.next() { sample.append(piece) }
        let found = TextEncoding.marked(by: sample) ?? (Self.isUTF8(sample) ? .utf8 : .windows1252)
        encoding = settings.encoding ?? found
        var transcoder = TextTranscoder(encoding)
        let name = (url.pathExtension == "gz" ? url.deletingPathExtension() : url).pathExtension.lowercased()
        let text = transcoder.utf8(sample)
        delimiter =
            settings.delimiter ?? (["tsv", "tab"].contains(name) ? 0x09 : nil) ?? Self.delimiter(of: text) ?? 0x2C
    }

    package init() {}

    /// What is worth saying: nothing of commas in UTF-8.
    package var words: String? {
        guard self != TableFormat() else { return nil }
        let name = Self.delimiters.first { $0.byte == delimiter }?.name
        let mark = name ?? "'\(String(UnicodeScalar(delimiter)))'"
        return "Read as a table in \(encoding.rawValue) with \(mark) between the values"
    }

    /// The character that somebody names, by itself or by a word.
    package static func delimiter(named text: String) -> UInt8? {
        switch text.lowercased() {
        case "tab", "\\t": return 0x09
        case "comma": return 0x2C
        case "semicolon": return 0x3B
        case "bar", "pipe": return 0x7C
        case "space": return 0x20
        default:
            let bytes = Array(text.utf8)
            guard bytes.count == 1, bytes[0] != 0x22, bytes[0] >= 0x20 || bytes[0] == 0x09 else { return nil }
            return bytes[0]
        }
    }

    /// A sample that is not the whole file may end within a character.
    private static func isUTF8(_ sample: Data) -> Bool {
        (0...(sample.count < sampleBytes ? 0 : 3)).contains { cut in
            cut <= sample.count && String(validating: sample.dropLast(cut), as: UTF8.self) != nil
        }
    }

    /// The delimiter that cuts the most lines into as many values as the first line has.
    private static func delimiter(of sample: Data) -> UInt8? {
        var best: (byte: UInt8, score: Int)?
        for (byte, _) in delimiters {
            let counts = counts(of: byte, in: sample)
            guard let first = counts.first, first > 0 else { continue }
            let score = counts.filter { $0 == first }.count * 1_000 / counts.count * 100 + min(first, 99)
            if score > best?.score ?? 0 { best = (byte, score) }
        }
        return best?.byte
    }

    /// How often the delimiter stands in each of the first lines, outside of quotes. A last line that may be cut is left out.
    private static func counts(of delimiter: UInt8, in sample: Data) -> [Int] {
        var counts: [Int] = []
        var (count, isQuoted, isEmpty) = (0, false, true)
        for byte in sample {
            if byte == 0x22 { isQuoted.toggle() }
            if !isQuoted, byte == 0x0A || byte == 0x0D {
                if !isEmpty { counts.append(count) }
                (count, isEmpty) = (0, true)
                if counts.count == sampleLines { return counts }
                continue
            }
            isEmpty = false
            if byte == delimiter, !isQuoted { count += 1 }
        }
        if counts.isEmpty, !isEmpty { counts.append(count) }
        return counts
    }
}
