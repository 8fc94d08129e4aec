import Foundation

/// A source file of this package, read for the laws.
struct Source {
    var path: String
    var lines: [String]

    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    var module: String { path.split(separator: "/").dropFirst().first.map(String.init) ?? "" }

    /// The modules named in import statements, whatever their access or attributes.
    var imports: [String] {
        lines.compactMap { line in
            let words = line.split(separator: " ").map(String.init)
            guard let keyword = words.firstIndex(of: "import"), keyword + 1 < words.count,
                words[..<keyword].allSatisfy({
                    $0.hasPrefix("@") || ["public", "package", "internal", "private", "fileprivate"].contains($0)
                })
            else { return nil }
            return words[keyword + 1].split(separator: ".").first.map(String.init)
        }
    }

    static func paths(under folder: String) throws -> [String] {
        let url = root.appending(path: folder)
        guard let walker = FileManager.default.enumerator(at: url, includingPropertiesForKeys: nil) else { return [] }
        return walker.compactMap { $0 as? URL }.map { String($0.path.dropFirst(root.path.count + 1)) }
    }

    static func files(under folder: String) throws -> [Source] {
        try paths(under: folder).filter { $0.hasSuffix(".swift") }.map { path in
            let text = try String(contentsOf: root.appending(path: path), encoding: .utf8)
            return Source(
                path: path, lines: text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init))
        }
    }

    /// The folder within the module; empty for what lies beside the folders.
    var folder: String {
        let parts = path.split(separator: "/")
        return parts.count > 3 ? String(parts[2]) : ""
    }

    /// The lines without comments and the words of texts.
    var code: [String] {
        lines.filter { !$0.drop { $0 == " " }.hasPrefix("//") }
    }

    /// The names that the file uses.
    var words: Set<Substring> {
        var words: Set<Substring> = []
        for line in code {
            for word in line.split(whereSeparator: { !($0.isLetter || $0.isNumber || $0 == "_") }) {
                words.insert(word)
            }
        }
        return words
    }

    /// The types that the file declares, those within other types left out.
    var types: [String] {
        lines.compactMap { line in
            let words = line.split(separator: " ")
            guard let first = words.first, line.first != " ",
                let place = words.firstIndex(where: { ["struct", "class", "enum", "actor", "protocol"].contains($0) }),
                place + 1 < words.count, !first.hasPrefix("//"),
                words[..<place].allSatisfy({ $0.hasPrefix("@") || Self.modifiers.contains(String($0)) })
            else { return nil }
            return String(words[place + 1].prefix { $0.isLetter || $0.isNumber || $0 == "_" })
        }
    }

    private static let modifiers: Set<String> = [
        "public", "package", "internal", "open", "final", "indirect", "private", "fileprivate",
    ]
}
