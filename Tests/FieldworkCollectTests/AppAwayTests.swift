import BrowserSupport
import FieldworkREST
import Foundation
import Testing

@testable import FieldworkCollect

/// A page that stays open while the app, or the server, is away.
@Suite(
    .serialized,
    .enabled(if: Browser.program != nil, "Chromium isn't installed"),
    .enabled(if: RunningApp.mapLibrary != nil, "The map library isn't installed; run scripts/setup")
)
struct AppAwayTests {
    private static let edit = TreesField.address(0).dropFirst() + "/edit"

    /// Opens a tree's form, stops the app and types into it.
    private static func typeWithoutTheApp(_ field: TreesField, _ browser: Browser) async throws {
        try await browser.open(field.app.door)
        try await browser.wait(Hand.ready, seconds: 60)
        try await browser.open(field.app.address + edit)
        try await browser.wait(Hand.ready, seconds: 60)
        await field.app.stop()
        _ = try await browser.evaluate(
            """
            (() => { const e = document.getElementById('field-Notes'); e.closest('details')?.setAttribute('open', '');
            e.focus(); e.select(); return true; })()
            """, as: Bool.self)
        try await browser.type("Typed while the app was down")
        try await browser.wait("document.getElementById('draft-line').textContent.includes('Only in this window')")
    }

    private static func restart(_ field: TreesField) async throws -> RunningApp {
        try await RunningApp.start(
            services: field.services.root, folder: field.deviceFolder, webMap: field.mapFile, port: field.app.port)
    }

    private static let save =
        "[...document.querySelectorAll('#panel form[data-form] button')].find(b => b.innerText === 'Save').click() ?? true"

    @Test("What is typed while the app is down is saved by the same page when the app was started again")
    func savedAfterARestart() async throws {
        try await TreesField.with { field in
            let browser = try await Browser.start()
            defer { browser.stop() }
            try await Self.typeWithoutTheApp(field, browser)
            let next = try await Self.restart(field)
            do {
                _ = try await browser.evaluate(Self.save, as: Bool.self)
                try await browser.wait("location.pathname.startsWith('/map')", seconds: 40)
                #expect(try await field.tree(0)?.attributes["Notes"] == .text("Typed while the app was down"))
                await next.stop()
            } catch {
                await next.stop()
                throw error
            }
        }
    }

    @Test("What is typed while the app is down becomes a draft when the app is back, without Save")
    func keptAfterARestart() async throws {
        try await TreesField.with { field in
            let browser = try await Browser.start(width: 390, height: 844)
            defer { browser.stop() }
            try await browser.resize(width: 390, height: 844, isPhone: true)
            try await Self.typeWithoutTheApp(field, browser)
            // The bar says what is wrong and covers neither Cancel nor Save.
            try await browser.wait("!document.getElementById('stopped').hidden", seconds: 40)
            try await browser.screenshot("app-away-phone")
            let isFree = try await browser.evaluate(
                """
                [...document.querySelectorAll('#panel .ph button')].every(b => { const r = b.getBoundingClientRect();
                return b.contains(document.elementFromPoint(r.x + r.width / 2, r.y + r.height / 2)); })
                """, as: Bool.self)
            #expect(isFree)
            let next = try await Self.restart(field)
            do {
                let visitor = try await PlainClient.visitor(of: next)
                try await browser.wait(
                    "document.getElementById('draft-line').textContent.includes('kept on this device')", seconds: 40)
                try await browser.wait("document.getElementById('stopped').hidden", seconds: 40)
                #expect(try await visitor.get("/\(Self.edit)").text.contains("Typed while the app was down"))
                await next.stop()
            } catch {
                await next.stop()
                throw error
            }
        }
    }

    @Test("An app with another key leaves what was typed in the page, and Save works when the new address was opened")
    func savedWithAnotherKey() async throws {
        try await TreesField.with { field in
            let browser = try await Browser.start()
            defer { browser.stop() }
            try await Self.typeWithoutTheApp(field, browser)
            try FileManager.default.removeItem(at: field.deviceFolder.appending(path: PageKey.fileName))
            let next = try await Self.restart(field)
            do {
                #expect(next.key != field.app.key)
                _ = try await browser.evaluate(Self.save, as: Bool.self)
                try await browser.wait("document.querySelector('.over-note')?.innerText.includes('still here')")
                try await browser.screenshot("another-key")
                let typed = "document.getElementById('field-Notes').value"
                #expect(try await browser.evaluate(typed, as: String.self) == "Typed while the app was down")
                try await browser.command("Target.createTarget", ["url": next.door, "background": true])
                var isSaved = false
                for _ in 0..<100 where !isSaved {
                    _ = try? await browser.evaluate(Self.save, as: Bool.self)
                    try await Task.sleep(for: .milliseconds(200))
                    let notes = try await field.tree(0)?.attributes["Notes"]
                    isSaved = notes == .text("Typed while the app was down")
                }
                #expect(isSaved)
                await next.stop()
            } catch {
                await next.stop()
                throw error
            }
        }
    }

    @Test("A visitor without the key sees a page with its styles, and opens the map with the key")
    func theClosedPage() async throws {
        try await DamageField.with(points: 3) { field in
            let browser = try await Browser.start()
            defer { browser.stop() }
            for (width, height, isPhone) in [(1_280, 800, false), (390, 844, true)] {
                try await browser.resize(width: width, height: height, isPhone: isPhone)
                try await browser.open(field.app.address + "map")
                try await browser.wait(
                    "document.readyState === 'complete' && document.querySelector('main.welcome') !== null")
                let button = try await browser.evaluate(
                    "getComputedStyle(document.querySelector('.btn.main')).backgroundColor", as: String.self)
                #expect(button != "rgba(0, 0, 0, 0)" && button != "rgb(239, 239, 239)", "a styled button")
                #expect(try await browser.evaluate("document.documentElement.scrollWidth", as: Int.self) <= width)
                try await browser.screenshot("closed-\(isPhone ? "phone" : "wide")")
            }
            _ = try await browser.evaluate("document.getElementById('key').focus() ?? true", as: Bool.self)
            try await browser.type(field.app.key)
            // The browser reports the refusals before as failed loads.
            _ = browser.takeComplaints()
            try await browser.press("Enter")
            try await browser.wait(Hand.ready, seconds: 60)
            #expect(try await browser.evaluate("location.href", as: String.self) == field.app.address + "map")
            #expect(browser.takeComplaints() == [])
        }
    }

    @Test("Without the server a tap on the map says that there is no answer while it still waits for one")
    func aTapWithoutTheServer() async throws {
        try await DamageField.with(points: 25) { field in
            let browser = try await Browser.start(width: 390, height: 844)
            defer { browser.stop() }
            try await browser.resize(width: 390, height: 844, isPhone: true)
            try await browser.open(field.app.door)
            try await browser.wait(Hand.ready, seconds: 60)
            await field.services.stop()
            _ = try await browser.evaluate(
                """
                (() => { window.tapped = performance.now();
                new MutationObserver(() => { window.told ??= performance.now() - window.tapped; })
                  .observe(document.getElementById('over'), { childList: true }); return true; })()
                """, as: Bool.self)
            try await browser.tap(x: 195, y: 300)
            try await browser.wait("document.querySelector('.over-note')?.innerText.includes('answer')")
            try await browser.screenshot("tap-without-server")
            // Ten seconds is what the refusal itself takes; the design's limit is one.
            #expect(try await browser.evaluate("window.told", as: Double.self) < 5_000)
            try await browser.wait(
                "document.querySelector('.over-note')?.innerText.includes('The server didn')", seconds: 60)
            let list = try await PlainClient.visitor(of: field.app).get("/list/0?scope=all&sort=primcause").text
            #expect(list.contains("The list didn&#39;t load") || list.contains("The list didn't load"))
            #expect(!list.contains("Nothing here."))
        }
    }
}
