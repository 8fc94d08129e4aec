import Foundation
import Testing

/// Authors copy the code of the articles: it has to compile.
@Suite("Articles")
struct ArticleTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// Lines that say something, without their indentation and the blanks before a comment.
    private static func code(_ text: some StringProtocol) -> [String] {
        text.components(separatedBy: "\n").map { line in
            line.split(separator: " ", omittingEmptySubsequences: true).joined(separator: " ")
        }.filter { !$0.isEmpty }
    }

    @Test("Each example is code that is compiled with the tests", arguments: ["WorkingOffline", "Conflicts"])
    func examples(_ name: String) throws {
        let article = try String(
            contentsOf: Self.root.appending(path: "Sources/Fieldwork/Fieldwork.docc/\(name).md"), encoding: .utf8)
        let examplesFile = Self.root.appending(path: "Tests/ReadmeTests/ArticleExamples.swift")
        let compiled = Self.code(try String(contentsOf: examplesFile, encoding: .utf8))
        let examples = article.components(separatedBy: "```swift\n").dropFirst().map { part in
            Self.code(part.components(separatedBy: "```")[0])
        }
        try #require(examples.count >= 3)
        for example in examples {
            let isThere = compiled.indices.contains { compiled[$0...].starts(with: example) }
            #expect(isThere, "\(name): \(example.first ?? "")")
        }
        #expect(!compiled.indices.contains { compiled[$0...].starts(with: ["no such line"]) })
    }
}
