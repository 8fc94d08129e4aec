import Foundation
import Testing

/// A reader of README.md copies its example: it has to compile.
@Suite("README")
struct ReadmeTests {
    private static func text(_ path: String, from file: String = #filePath) throws -> String {
        let root = URL(filePath: file).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    /// Lines that say something, without their indentation.
    private static func code(_ text: some StringProtocol) -> [String] {
        text.components(separatedBy: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }

    @Test("Its Swift example is the one that is compiled with the tests")
    func example() throws {
        let readme = try Self.text("README.md")
        let start = try #require(readme.range(of: "```swift\n"))
        let end = try #require(readme.range(of: "```", range: start.upperBound..<readme.endIndex))
        let shown = Self.code(readme[start.upperBound..<end.lowerBound])
        #expect(shown.count > 5)
        #expect(readme[end.upperBound...].contains("```swift") == false, "one example is compared")

        let compiled = try Self.text("Tests/ReadmeTests/ReadmeExample.swift")
        let imports = compiled.components(separatedBy: "\n").filter { $0.hasPrefix("import ") }
        let body = try #require(compiled.range(of: "async throws {\n"))
        let bodyEnd = try #require(compiled.range(of: "\n    }\n}\n", options: .backwards))
        #expect(shown == imports + Self.code(compiled[body.upperBound..<bodyEnd.lowerBound]))
    }
}
