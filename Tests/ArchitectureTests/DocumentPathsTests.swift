import Foundation
import Testing

/// Newcomers find their way by `ARCHITECTURE.md` and `CONTRIBUTING.md`: what these name must be there.
@Suite("Paths and names in the documents")
struct DocumentPathsTests {
    private static let documents = ["ARCHITECTURE.md", "CONTRIBUTING.md"]

    /// What stands between single backticks, outside of blocks of code.
    private static func quoted(_ text: String) -> [String] {
        var quoted: [String] = []
        var isBlock = false
        for line in text.components(separatedBy: "\n") {
            if line.hasPrefix("```") { isBlock.toggle() }
            if isBlock || line.hasPrefix("```") { continue }
            let parts = line.components(separatedBy: "`")
            quoted += parts.indices.filter { $0 % 2 == 1 }.map { parts[$0] }
        }
        return quoted
    }

    private static func isPath(_ text: String) -> Bool {
        text.contains("/") && text.allSatisfy { $0.isLetter || $0.isNumber || "/.+-_".contains($0) }
    }

    /// A path is one of the repository, or of `Sources`; the ending of a Swift file may be left out.
    private static func exists(_ path: String) -> Bool {
        ["\(path)", "Sources/\(path)", "\(path).swift", "Sources/\(path).swift"].contains {
            FileManager.default.fileExists(atPath: Source.root.appending(path: $0).path)
        }
    }

    @Test("Each path that a document names exists", arguments: documents)
    func paths(_ document: String) throws {
        let text = try String(contentsOf: Source.root.appending(path: document), encoding: .utf8)
        let paths = Self.quoted(text).filter(Self.isPath)
        try #require(paths.count > 5, "\(document) names few paths: are they read as they are written?")
        for path in paths { #expect(Self.exists(path), "\(document) names \(path), which does not exist") }
        #expect(!Self.exists("FieldworkStore/Nowhere"), "the look itself sees what is missing")
    }

    @Test("Each type, function and suite that a document names is in the sources", arguments: documents)
    func names(_ document: String) throws {
        let text = try String(contentsOf: Source.root.appending(path: document), encoding: .utf8)
        // Two capitals or more, and small letters: a name of ours, such as ItemRights.
        let names = Set(
            Self.quoted(text).filter { name in
                name.count(where: \.isUppercase) > 1 && name.contains(where: \.isLowercase)
                    && name.allSatisfy { $0.isLetter || $0.isNumber }
            })
        try #require(names.count > 5)
        var missing = names
        for folder in ["Sources", "Tests"] {
            for file in try Source.files(under: folder) where !missing.isEmpty {
                let text = file.lines.joined(separator: "\n")
                missing = missing.filter { !text.contains($0) && !file.path.contains($0) }
            }
        }
        #expect(missing.isEmpty, "\(document) names \(missing.sorted())")
    }
}
