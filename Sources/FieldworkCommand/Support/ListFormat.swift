import ArgumentParser
import FieldworkGeometry

/// How a verb prints a list: for people, or for programs.
struct ListFormat: ParsableArguments {
    enum Form: String, ExpressibleByArgument, CaseIterable {
        case text, json
    }

    @Option(help: "How to print it: text or json.")
    var format = Form.text

    /// Prints the list: one JSON value, or a line after the other.
    func print(_ json: @autoclosure () -> JSONValue, _ lines: @autoclosure () -> [String]) throws {
        switch format {
        case .json: try Terminal.result(json().text + "\n")
        case .text:
            let lines = lines()
            if !lines.isEmpty { try Terminal.result(lines.joined(separator: "\n") + "\n") }
        }
    }

    /// Prints rows in columns. The titles are for people: they are no part of the result.
    func print(_ json: @autoclosure () -> JSONValue, rows: [[String]], titles: [String]) throws {
        if format == .text, !rows.isEmpty {
            let lines = TextColumns.lines(rows, titles: titles)
            Terminal.error(lines[0])
            return try print(json(), Array(lines.dropFirst()))
        }
        try print(json(), [])
    }
}

/// Columns of text, aligned.
enum TextColumns {
    static func lines(_ rows: [[String]], titles: [String] = []) -> [String] {
        let all = titles.isEmpty ? rows : [titles] + rows
        guard let count = all.map(\.count).max(), count > 0 else { return [] }
        let widths = (0..<count).map { column in
            all.map { column < $0.count ? CellWidth.of($0[column]) : 0 }.max() ?? 0
        }
        return all.map { row in
            let cells = row.enumerated().map { column, text in
                column == row.count - 1
                    ? text : text + String(repeating: " ", count: widths[column] - CellWidth.of(text))
            }
            return cells.joined(separator: "  ")
        }
    }
}

/// How many cells of a terminal a text takes: characters of East Asia and emoji take two.
enum CellWidth {
    static func of(_ text: String) -> Int { text.reduce(0) { $0 + of($1) } }

    private static func of(_ character: Character) -> Int {
        guard let first = character.unicodeScalars.first else { return 0 }
        let wide: [ClosedRange<UInt32>] = [
            0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA000...0xA4CF,
            0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE4F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F,
            0x1F680...0x1F6FF, 0x1F900...0x1F9FF, 0x20000...0x3FFFD,
        ]
        let isEmoji = character.unicodeScalars.contains { $0.value == 0xFE0F }
        return isEmoji || wide.contains { $0.contains(first.value) } ? 2 : 1
    }

    /// The beginning of a text that fits, with "…" where it was cut.
    static func cut(_ text: String, to width: Int) -> String {
        guard of(text) > width else { return text }
        var (result, used) = ("", 0)
        for character in text {
            let next = of(character)
            guard used + next <= width - 1 else { break }
            result.append(character)
            used += next
        }
        return result + "…"
    }
}
