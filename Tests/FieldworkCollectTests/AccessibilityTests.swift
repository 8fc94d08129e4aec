import FieldworkREST
import FieldworkStore
import Foundation
import Testing

@testable import FieldworkCollect

/// Where set-up put axe-core; nil when it is not installed.
private enum Axe {
    static let engine: URL? = {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let file = root.appending(path: ".fieldwork/axe/axe.min.js")
        return FileManager.default.isReadableFile(atPath: file.path) ? file : nil
    }()
}

/// axe-core finds nothing on any page, in any theme, on a phone and on a wide screen.
@Suite(
    .serialized,
    .enabled(if: Browser.program != nil, "Chromium isn't installed"),
    .enabled(if: Axe.engine != nil, "axe-core isn't installed; run scripts/setup test"),
    .enabled(if: RunningApp.mapLibrary != nil, "The map library isn't installed; run scripts/setup")
)
struct AccessibilityTests {
    private struct Finding: Decodable, Sendable {
        let rule: String
        let target: String
        let help: String
    }

    private static func findings(_ browser: Browser) async throws -> [Finding] {
        try await browser.evaluate(
            """
            axe.run(document, { resultTypes: ['violations'] }).then(result => result.violations.flatMap(v =>
              v.nodes.map(n => ({ rule: v.id, target: n.target.join(' '), help: (n.failureSummary || v.help).slice(0, 300) }))))
            """)
    }

    @Test func axeFindsNothingOnAnyPageInAnyThemeAndSize() async throws {
        let source = try String(contentsOf: try #require(Axe.engine), encoding: .utf8)
        try await TreesField.with(map: TreesField.withRules) { field in
            let browser = try await Browser.start(width: 1_280, height: 800)
            defer { browser.stop() }
            let tree = TreesField.address(0)
            try await browser.open(field.app.address)
            try await browser.wait("document.documentElement.dataset.map === 'ready'", seconds: 60)
            let visitor = try await PlainClient.visitor(port: field.app.port)
            _ = try await PhotoTests.stage(
                SamplePhoto.jpeg, name: "Crown.jpg", to: "\(tree)/edit", with: ["session": "photo"], as: visitor)
            _ = try await PhotoTests.stage(
                SamplePhoto.jpeg, name: "Bark.jpg", to: "\(tree)/edit", with: ["stage": "yes"], as: visitor)
            _ = try await visitor.post("\(tree)/edit", ["field.DBH": "171"], fields: ["Fieldwork-Fragment": "check"])
            let photo = try #require(
                try await field.store.attachments(
                    AttachmentQuery(features: FeatureQuery()), in: LayerAddress(service: TreesField.service, layerID: 0)
                ).attachments.first?.id)
            let record = try #require(try await field.rows(of: 3).first?.globalID).uuidString.lowercased()
            let pages = [
                "map", "map\(tree)", tree.dropFirst().description, "\(tree.dropFirst())/edit",
                "\(tree.dropFirst())/history", "\(tree.dropFirst())/photos", "\(tree.dropFirst())/photos/\(photo)",
                "conflicts", "offline", "f/0/12345",
                "\(tree.dropFirst())/related/1", "\(tree.dropFirst())/related/1/new", "f/3/\(record)",
                "choose/0/0?for=\(PlainClient.escape("\(tree)/edit"))", "add/0",
                "add/0/form?lon=-122.625&lat=45.565&template=p0", "\(tree.dropFirst())/move", "list", "list/3",
                "changes",
                "layers", "settings", "help/keys", "start",
            ]
            var count = 0
            for (width, height, isPhone) in [(1_280, 800, false), (390, 844, true)] {
                try await browser.resize(width: width, height: height, isPhone: isPhone)
                for page in pages {
                    try await browser.open(field.app.address + page)
                    try await browser.wait("document.readyState === 'complete'")
                    _ = try await browser.evaluate("(() => {\n\(source)\nreturn true; })()", as: Bool.self)
                    for theme in ["light", "dark", "sunlight"] {
                        _ = try await browser.evaluate(
                            "document.documentElement.dataset.theme = '\(theme)'", as: String.self)
                        for finding in try await Self.findings(browser) {
                            Issue.record(
                                "\(page), \(theme), \(width): \(finding.rule) at \(finding.target): \(finding.help)")
                        }
                        count += 1
                    }
                    try await browser.screenshot(
                        "trees-\(isPhone ? "phone" : "wide")-\(page.prefix(60).filter { $0.isLetter || $0.isNumber })")
                }
            }
            #expect(count == pages.count * 6)
        }
    }
}
