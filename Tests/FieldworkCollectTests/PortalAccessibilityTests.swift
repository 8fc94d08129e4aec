import BrowserSupport
import FieldworkGeometry
import FieldworkPortal
import FieldworkREST
import FieldworkStore
import Foundation
import Testing

@testable import FieldworkCollect

/// axe-core finds nothing on the portal's pages and on the app's pages of an account, which work by keyboard and on a telephone.
@Suite(
    .serialized,
    .enabled(if: Browser.program != nil, "Chromium isn't installed"),
    .enabled(if: Axe.engine != nil, "axe-core isn't installed; run scripts/setup test")
)
struct PortalAccessibilityTests {
    private static let password = "correct horse"

    private struct Office: Sendable {
        var services: RunningServices
        var portal: Portal
        var device: URL
        /// A map that everyone sees, and a group with a long title.
        var map: Item
        var group: Group

        var home: String { services.root.absoluteString.replacing("/rest/services", with: "/home") }
    }

    /// A server with an administrator and an editor, maps and a group.
    private static func with(_ test: (Office) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "fieldwork-office-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try await GeoPackageStore.open(at: folder.appending(path: "server"))
        try await store.createService(DamageField.definition())
        let portal = try await Portal(try RecordDatabase(file: Portal.file(in: folder)), passwordCost: 4)
        let author = Author(name: "test", address: "")
        for (name, role) in [("ana", Role.administrator), ("ben", .editor)] {
            try await portal.addPerson(name, password: password, role: role, by: author)
        }
        var change = ItemChange()
        (change.title, change.type) = ("Damage of the storms of this winter, by district", "Web Map")
        change.snippet = "Reports after storms, with photos."
        change.thumbnail = ItemContent(
            name: ItemContent.thumbnail, type: "image/jpeg", fileName: "map.jpg", modified: 0,
            bytes: [UInt8](SamplePhoto.jpeg))
        let map = try await portal.addItem(change, owner: "ana", for: .everybody, by: author)
        _ = try await portal.share(map.id, everyone: true, for: .everybody, by: author)
        let group = try await portal.addGroup(
            title: "Donaudampfschifffahrtsgesellschaftskapitänsvereinigung", for: .everybody, owner: "ana", by: author)
        _ = try await portal.addMembers(["ben"], to: group.id, for: .everybody, by: author)
        let services = try await RunningServices.start(store: store, dataFolder: folder, portal: portal)
        do {
            try await test(
                Office(
                    services: services, portal: portal, device: folder.appending(path: "device"), map: map, group: group
                ))
        } catch {
            await services.stop()
            throw error
        }
        await services.stop()
        await portal.close()
        try await store.close()
    }

    private static let sizes = [(1_280, 800, false), (390, 844, true)]

    /// Looks at a page of the portal in both sizes, light and dark.
    private static func look(_ name: String, at address: String?, _ browser: Browser) async throws {
        for (width, height, isPhone) in sizes {
            try await browser.resize(width: width, height: height, isPhone: isPhone)
            if let address { try await browser.open(address) }
            try await browser.wait("document.readyState === 'complete'")
            #expect(
                try await browser.evaluate("document.documentElement.scrollWidth <= innerWidth", as: Bool.self),
                "\(name) is wider than a window of \(width)")
            try await Axe.load(into: browser)
            for scheme in ["light", "dark"] {
                try await browser.command(
                    "Emulation.setEmulatedMedia", ["features": [["name": "prefers-color-scheme", "value": scheme]]])
                for finding in try await Axe.findings(browser, isLook: scheme == "dark") {
                    Issue.record("\(name), \(scheme), \(width): \(finding.rule) at \(finding.target): \(finding.help)")
                }
            }
            try await browser.command("Emulation.setEmulatedMedia", ["features": [[String: String]]()])
            try await browser.screenshot("portal-\(isPhone ? "phone" : "wide")-\(name)")
        }
    }

    @Test("axe finds nothing on the portal's pages, and a person signs in and shares a map with the keyboard alone")
    func pages() async throws {
        try await Self.with { office in
            let browser = try await Browser.start(width: 1_280, height: 800)
            defer { browser.stop() }
            let missing = "\(office.home)/item.html?id=\(String(repeating: "0", count: 32))"
            let address = "\(office.home)/item.html?id=\(office.map.id)"
            try await Self.look("gallery-nobody", at: office.home, browser)
            try await Self.look("closed", at: missing, browser)
            try await Self.look("item-nobody", at: address, browser)

            try await browser.resize(width: 1_280, height: 800)
            try await browser.open(address)
            try await browser.tab(to: "Sign in")
            try await browser.press("Enter")
            try await browser.wait("document.activeElement?.id === 'username'")
            try await browser.type("ana")
            try await browser.press("Tab")
            try await browser.type("not the password")
            try await browser.press("Enter")
            try await browser.wait("document.querySelector('[role=alert]') !== null")
            #expect(try await browser.evaluate("document.querySelector('#username').value", as: String.self) == "ana")
            try await Self.look("sign-in-failed", at: nil, browser)
            try await browser.resize(width: 1_280, height: 800)
            _ = try await browser.evaluate(
                "(() => { document.querySelector('#password').focus(); return true; })()", as: Bool.self)
            try await browser.type(Self.password)
            try await browser.press("Enter")
            try await browser.wait("location.href === '\(address)'")

            try await browser.tab(to: office.group.title)
            try await browser.press(" ")
            try await browser.tab(to: "Change")
            try await browser.press("Enter")
            try await browser.wait("document.querySelector('[role=status]') !== null")
            let shared = try await office.portal.facts(ofItem: office.map.id).sharing
            #expect(shared.everyone && shared.groups == [office.group.id])

            let service = try #require(try await office.portal.item(ofService: "DamageAssessment"))
            for (name, path) in [
                ("gallery", ""), ("everything", "?show=all"), ("nothing", "?q=zzyzxqq"),
                ("no-search", "?q=" + String(repeating: "(", count: 40) + "a"),
                ("item", "/item.html?id=\(service.id)"), ("groups", "/groups"), ("group", "/groups/\(office.group.id)"),
                ("people", "/people"), ("person", "/people/ben"), ("self", "/people/ana"), ("visitors", "/visitors"),
            ] {
                try await Self.look(name, at: office.home + path, browser)
            }
        }
    }

    @Test("axe finds nothing on the app's pages of an account and of a portal's maps")
    func account() async throws {
        try await Self.with { office in
            let app = try await RunningApp.start(services: office.services.root, folder: office.device)
            do {
                let browser = try await Browser.start(width: 1_280, height: 800)
                defer { browser.stop() }
                try await browser.blockMap(true)
                try await browser.open(app.door)
                try await browser.wait("document.readyState === 'complete'")
                let portal = PlainClient.escape(
                    office.services.root.absoluteString.replacing("/rest/services", with: ""))
                try await Self.look("app-sign-in", at: "\(app.address)account/sign-in", browser)
                try await Self.look("app-maps-nobody", at: "\(app.address)start/portal?server=\(portal)", browser)
                for (name, password, answer) in [
                    ("app-wrong", "not it", "document.querySelector('#sign-in-problem') !== null"),
                    ("app-account", Self.password, "!location.pathname.startsWith('/account')"),
                ] {
                    try await browser.open("\(app.address)account/sign-in?server=\(portal)")
                    try await browser.wait("document.querySelector('#password') !== null")
                    _ = try await browser.evaluate(
                        "(() => { const f = document.querySelector('#password').form; f.user.value = 'ben'; f.password.value = '\(password)'; f.submit(); return true; })()",
                        as: Bool.self)
                    do { try await browser.wait(answer) } catch {
                        let said = try await browser.evaluate("document.body.innerText", as: String.self)
                        Issue.record("\(name): \(said)")
                        throw error
                    }
                    try await Self.look(name, at: name == "app-account" ? "\(app.address)account" : nil, browser)
                }
                for (name, path) in [
                    ("app-sign-out", "account/sign-out"), ("app-maps", "start/portal?server=\(portal)"),
                    ("app-no-maps", "start/portal?server=\(portal)&q=zzyzxqq"), ("app-start", "start"),
                ] {
                    try await Self.look(name, at: app.address + path, browser)
                }
            } catch {
                await app.stop()
                throw error
            }
            await app.stop()
        }
    }
}
