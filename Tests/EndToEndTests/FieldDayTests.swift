import BrowserSupport
import Foundation
import Testing

/// Where the set-up of this clone puts the map library.
private let mapLibrary = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: ".fieldwork/maplibre/maplibre-gl.js")

/// A day of field work in the browser, from the portal's map to the office and back: the demo's server is ended for as long as the crew
/// has no network, and the app in the midst of its work.
@Suite(
    "A day in the field", .serialized, .timeLimit(.minutes(5)),
    .enabled(if: Browser.program != nil, "Chromium isn't installed"),
    .enabled(
        if: FileManager.default.fileExists(atPath: mapLibrary.path),
        "The map library isn't installed; run scripts/setup")
)
struct FieldDayTests {
    private static let ready = "document.documentElement.dataset.map === 'ready'"
    private static let picture =
        Data(
            base64Encoded:
                "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
        ?? Data()

    /// The demo's services and portal, on a port that stays.
    private static func demo(_ folder: URL, port: Int = 0) async throws -> FieldworkProcess {
        let process = try FieldworkProcess.start(
            ["demo", "--data", folder.appending(path: "data").path, "--port", "\(port)"])
        _ = try await process.readyLine()
        return process
    }

    private static func says(_ text: String, _ browser: Browser, seconds: Double = 30) async throws {
        try await browser.wait("document.body.innerText.includes('\(text)')", seconds: seconds)
    }

    private static func fill(_ field: String, _ text: String, _ browser: Browser) async throws {
        try await browser.wait("document.getElementById('\(field)') !== null")
        _ = try await browser.evaluate(
            """
            (() => { const e = document.getElementById('\(field)'); e.focus(); e.select?.(); return true; })()
            """, as: Bool.self)
        try await browser.type(text)
    }

    /// Signs in to the portal on the first page, and opens its map of the trees.
    private static func signIn(_ person: String, _ password: String, portal: String, _ browser: Browser) async throws {
        try await browser.click("a[href^=\"/account/sign-in\"]")
        try await fill("server", portal, browser)
        try await fill("user", person, browser)
        try await fill("password", password, browser)
        try await browser.press("button", ["Sign in"])
        try await says("Maps of", browser)
        try await browser.screenshot("field-day-maps")
        try await browser.wait(
            """
            (() => { const b = [...document.querySelectorAll('form[action="/start"] button')]
            .find(e => e.innerText.includes('Trees of Portland')); b?.click(); return Boolean(b); })()
            """)
        try await browser.wait(ready, seconds: 60)
    }

    /// Takes the neighbourhood along by its name, and works in it.
    private static func takeArea(_ root: String, _ browser: Browser) async throws {
        try await browser.open("\(root)offline")
        try await browser.wait(ready, seconds: 60)
        try await browser.press("link", ["Take an area offline"])
        try await fill("area-place", "Concordia", browser)
        try await browser.press("button", ["Find"])
        try await browser.click("#panel ul a[href*=\"name=Concordia\"]")
        try await browser.wait("document.getElementById('area-name')?.value === 'Concordia'")
        try await browser.screenshot("field-day-area")
        try await browser.press("button", ["Download"])
        try await browser.wait("document.querySelector('form[action=\"/offline/mode\"] button') !== null", seconds: 120)
        try await browser.wait("!document.getElementById('panel').innerText.includes('The basemap')", seconds: 60)
        try await browser.press("button", ["Work offline in Concordia"])
        try await says("Offline, Concordia", browser)
        try await browser.wait(ready, seconds: 60)
    }

    /// Adds a tree with a photo where the map is looked at, and an inspection that finds it dead.
    /// - Returns: the address of the tree.
    private static func addTree(_ photo: URL, _ browser: Browser) async throws -> String {
        try await browser.press("link", ["Add tree"])
        try await browser.wait("document.getElementById('place-lat')?.value.length > 0")
        let place = try await browser.evaluate(
            "['lat', 'lon'].map(e => Number(document.getElementById(`place-${e}`).value))", as: [Double].self)
        try await browser.press("button", ["Place here"])
        try await browser.press("radio", ["Good"])
        try await browser.choose(
            [photo.path], in: "button", ["Take photo", "Take photo: No file chosen", "Take photo No file chosen"])
        try await says("New photo 1", browser)
        try await browser.press("button", ["Save"])
        try await says("Create feature succeeded.", browser)
        let tree = try await browser.evaluate("location.pathname", as: String.self)
        try await browser.press("link", ["Add inspection"])
        try await browser.press("radio", ["Dead"])
        try await browser.press("button", ["Save"])
        try await says("Create feature succeeded.", browser)
        // However fast that went, the map is looked at where the tree is.
        try await Task.sleep(for: .seconds(2))
        let view = try await browser.evaluate(
            "fetch('/data/map').then(e => e.json()).then(e => [e.view.lat, e.view.lon])", as: [Double].self)
        #expect(zip(place, view).allSatisfy { abs($0 - $1) < 0.002 }, "\(place) \(view)")
        try await browser.screenshot("field-day-inspected")
        return tree.replacing("/map/f/", with: "/f/")
    }

    private static let diameter = "77.5"

    /// Changes the diameter of another tree near by.
    /// - Returns: its address.
    private static func changeAnother(_ tree: String, _ root: String, _ browser: Browser) async throws -> String {
        try await browser.open("\(root)/list/0?scope=all")
        try await browser.wait("document.querySelectorAll('.desk-list a[data-feature], a[data-feature]').length > 1")
        let feature = try await browser.evaluate(
            """
            [...document.querySelectorAll('a[data-feature]')].map(e => e.dataset.feature)
            .find(e => !'\(tree)'.endsWith(e))
            """, as: String.self)
        try await browser.open("\(root)/f/\(feature)")
        try await browser.press("link", ["Edit"])
        try await browser.wait("document.querySelector('[name=\"field.DBH\"]') !== null")
        let field = try await browser.evaluate("document.querySelector('[name=\"field.DBH\"]').id", as: String.self)
        try await fill(field, diameter, browser)
        try await browser.press("button", ["Save"])
        try await says("Update attribute succeeded.", browser)
        return "/f/\(feature)"
    }

    @Test(
        "A tree with photo and inspection, made without a network and through the end of the app, is on a second device after the sync"
    )
    func day() async throws {
        let folder = try TemporaryFolder()
        var office = try await Self.demo(folder.url)
        let port = try #require(URL(string: office.services)?.port)
        let portal = "\(office.services.replacing("/rest/services", with: ""))/home"
        let said = try office.errors()
        let password = try #require(said.firstMatch(of: #/  ben \(editor\)  ([a-z0-9-]{19})\n/#)?.1)
        let photo = folder.url.appending(path: "tree.png")
        try Self.picture.write(to: photo)
        let crew = folder.url.appending(path: "crew")
        var app = try await CollectVisitor.start([], data: crew)
        let browser = try await Browser.start()
        defer { browser.stop() }
        try await browser.command("Accessibility.enable")
        try await browser.open(app.door)
        try await Self.signIn("ben", String(password), portal: portal, browser)
        try await Self.takeArea("\(app.root)/", browser)

        // The network is gone.
        await office.kill()
        let tree = try await Self.addTree(photo, browser)
        let other = try await Self.changeAnother(tree, app.root, browser)
        try await browser.open("\(app.root)/changes")
        try await Self.says("3 edits", browser)

        // So is the app, in the midst of it; nothing of the work is.
        await app.process.kill()
        app = try await CollectVisitor.start([], data: crew)
        try await browser.open(app.door)
        try await Self.says("Offline, Concordia", browser)
        try await browser.open("\(app.root)\(tree)")
        try await Self.says("Dead", browser)
        try await Self.says("Photos and files 1", browser)

        office = try await Self.demo(folder.url, port: port)
        try await browser.open("\(app.root)/changes")
        try await browser.press("button", ["Sync now"])
        try await Self.says("Everything is sent", browser, seconds: 60)
        try await browser.screenshot("field-day-sent")

        // A second device sees it.
        let second = try await Browser.start()
        defer { second.stop() }
        try await second.command("Accessibility.enable")
        let elsewhere = try await CollectVisitor.start([], data: folder.url.appending(path: "second"))
        try await second.open(elsewhere.door)
        try await Self.signIn("ben", String(password), portal: portal, second)
        try await second.open("\(elsewhere.root)\(tree)")
        for text in ["Dead", "Photos and files 1", "Inspections 1"] { try await Self.says(text, second) }
        try await second.open("\(elsewhere.root)\(other)")
        try await Self.says(Self.diameter, second)

        // The area goes, and the work goes on with the network.
        try await browser.open("\(app.root)/offline")
        try await browser.press("link", ["Delete Concordia"])
        try await browser.press("button", ["Delete"])
        try await Self.says("No area on this device yet.", browser)
        try await Self.says("Online", browser)
        try await browser.open("\(app.root)\(tree)")
        try await Self.says("Dead", browser)
        let areas = try FileManager.default.subpathsOfDirectory(atPath: crew.appending(path: "areas").path)
        #expect(areas.isEmpty, "\(areas)")
        await elsewhere.process.kill()
        await app.process.kill()
        #expect(await office.interrupt() == 0)
    }
}
