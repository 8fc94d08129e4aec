import Foundation

/// Reads the part of TOML that a file of options needs: tables, keys, strings, whole numbers, truth values and arrays of them.
struct TOMLReader {
    /// A value with the line where it stands.
    struct Entry: Equatable {
        /// The names of the table, empty for what stands before the first.
        var table: [String]
        var key: String
        var values: [Value]
        var isArray = false
        var line: Int
    }

    enum Value: Equatable {
        case text(String)
        case number(Int)
        case flag(Bool)

        /// As it stands on a command line.
        var argument: String {
            switch self {
            case .text(let text): text
            case .number(let number): String(number)
            case .flag(let flag): String(flag)
            }
        }
    }

    struct Problem: Error, Equatable {
        var line: Int
        var reason: String
    }

    private var characters: [Character]
    private var position = 0
    private var line = 1

    static func read(_ text: String) throws(Problem) -> [Entry] {
        var reader = TOMLReader(characters: Array(text))
        return try reader.entries()
    }

    private init(characters: [Character]) { self.characters = characters }

    private mutating func entries() throws(Problem) -> [Entry] {
        var entries: [Entry] = []
        var table: [String] = []
        while true {
            skip(newlines: true)
            guard let next = peek else { return entries }
            if next == "[" {
                position += 1
                table = try name()
                try expect("]")
            } else {
                let key = try name()
                guard key.count == 1 else {
                    throw problem("a key is one name; options of a verb stand under its [table]")
                }
                try expect("=")
                var entry = Entry(table: table, key: key[0], values: [], line: line)
                guard !entries.contains(where: { $0.table == table && $0.key == key[0] }) else {
                    throw problem("\(key[0]) is there twice")
                }
                (entry.values, entry.isArray) = try value()
                entries.append(entry)
            }
            skip(newlines: false)
            guard peek == nil || peek?.isNewline == true else { throw problem("there is something after the value") }
        }
    }

    private var peek: Character? { position < characters.count ? characters[position] : nil }

    private func problem(_ reason: String) -> Problem { Problem(line: line, reason: reason) }

    private mutating func skip(newlines: Bool) {
        while let next = peek {
            if next == "#" {
                while let comment = peek, !comment.isNewline {
                    _ = comment
                    position += 1
                }
            } else if next == " " || next == "\t" || (newlines && next.isNewline) {
                if next.isNewline { line += 1 }
                position += 1
            } else {
                return
            }
        }
    }

    private mutating func expect(_ character: Character) throws(Problem) {
        skip(newlines: false)
        guard peek == character else { throw problem("a \(character) is missing") }
        position += 1
    }

    /// `serve`, or `locator.make`.
    private mutating func name() throws(Problem) -> [String] {
        var names: [String] = []
        repeat {
            skip(newlines: false)
            var word = ""
            while let next = peek, next.isLetter || next.isNumber || next == "-" || next == "_" {
                word.append(next)
                position += 1
            }
            guard !word.isEmpty else { throw problem("a name is missing") }
            names.append(word.replacing("_", with: "-"))
            skip(newlines: false)
            guard peek == "." else { return names }
            position += 1
        } while true
    }

    private mutating func value() throws(Problem) -> (values: [Value], isArray: Bool) {
        skip(newlines: false)
        guard peek == "[" else { return ([try single()], false) }
        position += 1
        var values: [Value] = []
        while true {
            skip(newlines: true)
            if peek == "]" { break }
            values.append(try single())
            skip(newlines: true)
            if peek == "," { position += 1 } else if peek != "]" { throw problem("a , or ] is missing") }
        }
        position += 1
        return (values, true)
    }

    private mutating func single() throws(Problem) -> Value {
        if peek == "\"" || peek == "'" { return .text(try string()) }
        var word = ""
        while let next = peek, !next.isWhitespace, !",]#".contains(next) {
            word.append(next)
            position += 1
        }
        switch word {
        case "true": return .flag(true)
        case "false": return .flag(false)
        case "": throw problem("a value is missing")
        default: break
        }
        guard let number = Int(word.replacing("_", with: "")) else {
            throw problem("\(word) is neither a number nor true or false: texts stand in quotes")
        }
        return .number(number)
    }

    private mutating func string() throws(Problem) -> String {
        let quote = peek
        position += 1
        var text = ""
        while let next = peek, !next.isNewline {
            position += 1
            if next == quote { return text }
            guard next == "\\", quote == "\"" else {
                text.append(next)
                continue
            }
            guard let escaped = peek else { break }
            position += 1
            switch escaped {
            case "n": text.append("\n")
            case "t": text.append("\t")
            case "\"", "\\": text.append(escaped)
            default: throw problem("\\\(escaped) is unknown; a path may stand in single quotes")
            }
        }
        throw problem("a quote is not closed")
    }
}
