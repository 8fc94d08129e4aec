import BrowserSupport
import FieldworkREST
import Testing

@testable import FieldworkCollect

/// A page that is made before something happens, and listens only after it.
@Suite(
    .serialized,
    .enabled(if: Browser.program != nil, "Chromium isn't installed"),
    .enabled(if: RunningApp.mapLibrary != nil, "The map library isn't installed; run scripts/setup")
)
struct EventStreamStartTests {
    /// Saves an edit, and waits for its answer, in the moment before the window would listen.
    private static let script = """
        const Listener = window.EventSource;
        window.EventSource = class extends Listener {
          constructor(address) {
            if (!window.wasLate) {
              window.wasLate = true;
              const request = new XMLHttpRequest();
              request.open('POST', '\(TreesField.address(0))/edit', false);
              request.setRequestHeader('Content-Type', 'application/x-www-form-urlencoded');
              request.send('session=late&field.Notes=Said%20meanwhile');
            }
            super(address);
          }
        };
        """

    @Test func whatHappensBeforeAPageListensIsToldToIt() async throws {
        try await TreesField.with { field in
            let hand = try await Hand.open(field.app, isPhone: false)
            let browser = hand.browser
            defer { browser.stop() }
            _ = try await browser.command("Page.enable")
            _ = try await browser.command("Page.addScriptToEvaluateOnNewDocument", ["source": Self.script])
            try await browser.open(field.app.address + "changes")
            try await browser.wait("window.wasLate === true")
            try await browser.wait("document.getElementById('panel').innerText.includes('Said meanwhile')")
            #expect(try await field.tree(0)?.attributes["Notes"] == .text("Said meanwhile"))
        }
    }
}
