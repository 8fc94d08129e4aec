import Foundation
import Testing

/// What `swift format lint` does not look at: it asks for comments on public declarations, and passes over the cases of
/// public enumerations.
@Suite("Documentation of the SDK")
struct DocumentationTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// The lines of each source of the public modules.
    private static func sources() throws -> [(name: String, lines: [String])] {
        try ["Fieldwork", "FieldworkGeometry"].flatMap { module -> [(name: String, lines: [String])] in
            let folder = root.appending(path: "Sources/\(module)")
            let walker = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
            return try walker.compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }.map { file in
                let text = try String(contentsOf: file, encoding: .utf8)
                return (
                    file.lastPathComponent,
                    text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
                )
            }
        }
    }

    /// The cases of public enumerations that have no comment of their own.
    private static func bareCases(_ lines: [String]) -> [String] {
        var found: [String] = []
        var indentation: String?
        for (number, line) in lines.enumerated() {
            let margin = String(line.prefix { $0 == " " })
            let words = line.dropFirst(margin.count)
            if words.hasPrefix("public enum ") || words.hasPrefix("public indirect enum ") {
                indentation = margin
            } else if words == "}", margin == indentation {
                indentation = nil
            } else if let indentation, margin == indentation + "    ", words.hasPrefix("case "), number > 0,
                !lines[number - 1].trimmingCharacters(in: .whitespaces).hasPrefix("///")
            {
                found.append(String(words))
            }
        }
        return found
    }

    @Test("Each case of a public enumeration says what it means")
    func cases() throws {
        let sources = try Self.sources()
        try #require(sources.count > 100, "the sources are elsewhere: is the path right?")
        for (name, lines) in sources {
            #expect(Self.bareCases(lines).isEmpty, "\(name)")
        }
        #expect(Self.bareCases(["public enum A {", "    case b", "}"]) == ["case b"], "the look itself sees them")
    }

    /// Lines that say something.
    private static func code(_ path: String) throws -> [String] {
        try String(contentsOf: root.appending(path: path), encoding: .utf8).components(separatedBy: "\n")
            .map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }

    /// Whether lines are all among others, in their order.
    private static func isPart(_ lines: [String], of all: [String]) -> Bool {
        var rest = all[...]
        for line in lines {
            guard let index = rest.firstIndex(of: line) else { return false }
            rest = rest[(index + 1)...]
        }
        return true
    }

    @Test(
        "Each step of a tutorial is a part of the sample program that is built and run, and the last step is all of it",
        arguments: ["EditReports", "KeepPhoto", "InspectTree"])
    func tutorials(_ name: String) throws {
        let tutorials = "Sources/Fieldwork/Fieldwork.docc/Tutorials"
        let program = try Self.code("Examples/Sources/\(name)/\(name).swift")
        let files = try Self.code("\(tutorials)/\(name).tutorial").compactMap { line in
            line.firstRange(of: "file: \"").map { String(line[$0.upperBound...].prefix { $0 != "\"" }) }
        }
        try #require(files.count > 3, "the tutorial shows few steps: \(files)")
        var before = 0
        for file in files {
            let step = try Self.code("\(tutorials)/Code/\(file)")
            #expect(step.count > before, "\(file) adds nothing")
            before = step.count
            #expect(Self.isPart(step, of: program), "\(file) has what the program has not")
        }
        #expect(before == program.count, "the last step is the whole program")
        #expect(!Self.isPart(["b", "a"], of: ["a", "b"]), "the look itself sees it")
    }

    @Test("Linting asks for a comment on each public declaration")
    func lint() throws {
        let settings = try Data(contentsOf: Self.root.appending(path: ".swift-format"))
        let json = try #require(try JSONSerialization.jsonObject(with: settings) as? [String: Any])
        let rules = try #require(json["rules"] as? [String: Bool])
        #expect(rules["AllPublicDeclarationsHaveDocumentation"] == true)
    }
}
