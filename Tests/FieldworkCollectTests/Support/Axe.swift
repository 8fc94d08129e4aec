import BrowserSupport
import Foundation
import Testing

/// axe-core, which finds what keeps people from using a page.
enum Axe {
    struct Finding: Decodable, Sendable {
        let rule: String
        let target: String
        let help: String
    }

    /// Where set-up put it; nil when it is not installed.
    static let engine: URL? = {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let file = root.appending(path: ".fieldwork/axe/axe.min.js")
        return FileManager.default.isReadableFile(atPath: file.path) ? file : nil
    }()

    static func load(into browser: Browser) async throws {
        let source = try String(contentsOf: try #require(engine), encoding: .utf8)
        _ = try await browser.evaluate("(() => {\n\(source)\nreturn true; })()", as: Bool.self)
    }

    /// What depends on the look. Everything else is the same in each theme.
    private static let ofTheLook = "['color-contrast', 'target-size', 'link-in-text-block']"

    /// - Parameter isLook: whether only what depends on the look is looked at.
    static func findings(_ browser: Browser, isLook: Bool) async throws -> [Finding] {
        let only = isLook ? ", runOnly: \(ofTheLook)" : ""
        return try await browser.evaluate(
            """
            axe.run(document, { resultTypes: ['violations']\(only) }).then(result => result.violations.flatMap(v =>
              v.nodes.map(n => ({ rule: v.id, target: n.target.join(' '), help: (n.failureSummary || v.help).slice(0, 300) }))))
            """)
    }
}
