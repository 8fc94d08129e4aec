import BrowserSupport
import Foundation

/// Counts what a hand does on a page: taps, and keys where typing counts as one.
final class Hand {
    /// True when the map has drawn its frame and can be used.
    static let ready = "document.documentElement.dataset.map === 'ready'"

    let browser: Browser
    let isPhone: Bool
    private(set) var steps = 0

    init(_ browser: Browser, isPhone: Bool) {
        self.browser = browser
        self.isPhone = isPhone
    }

    /// Starts a browser of one of the two sizes of the app's design, on the map.
    static func open(_ app: RunningApp, isPhone: Bool) async throws -> Hand {
        let browser = try await Browser.start(width: isPhone ? 390 : 1_280, height: isPhone ? 844 : 800)
        if isPhone { try await browser.resize(width: 390, height: 844, isPhone: true) }
        try await browser.command("Accessibility.enable")
        try await browser.open(app.door)
        try await browser.wait(ready, seconds: 60)
        return Hand(browser, isPhone: isPhone)
    }

    func begin() { steps = 0 }

    /// - Parameter other: the name as a browser that puts no space between two words of it has it.
    func tap(_ role: String, _ name: String, or other: String? = nil) async throws {
        steps += 1
        try await browser.press(role, [name] + [other].compactMap(\.self), isTouch: isPhone)
    }

    /// A tap on the map, at the tree: what it opens has an address, which is all that the test asks for.
    func tapTree(_ index: Int, _ field: TreesField) async throws {
        steps += 1
        try await browser.open(field.app.address + "map" + TreesField.address(index))
        try await browser.wait(Self.ready, seconds: 60)
    }

    /// Takes a photo with the page's camera button; the system's own camera isn't counted.
    func takePhoto(_ file: URL) async throws {
        steps += 1
        try await browser.choose(
            [file.path], in: "button", ["Take photo", "Take photo: No file chosen", "Take photo No file chosen"])
    }

    /// Goes on with Tab to what has this name, and presses a key there.
    func key(_ key: String = "Enter", on name: String) async throws {
        try await browser.tab(to: name)
        try await browser.press(key)
    }

    func says(_ text: String, seconds: Double = 20) async throws {
        try await browser.wait("document.body.innerText.includes(\(Self.quoted(text)))", seconds: seconds)
    }

    static func quoted(_ text: String) -> String {
        "'" + text.replacingOccurrences(of: "'", with: "\\'") + "'"
    }
}
