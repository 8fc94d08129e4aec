import BrowserSupport
import Foundation
import Testing

@testable import FieldworkCollect

/// The first pages in a real browser: what is printed for a code is seen, read and opened.
@Suite(
    .serialized,
    .enabled(if: Browser.program != nil, "Chromium isn't installed"),
    .enabled(if: RunningApp.mapLibrary != nil, "The map library isn't installed; run scripts/setup")
)
struct StartBrowserTests {
    static let pictureButton = [
        "Choose a picture", "Choose a picture: No file chosen", "Choose a picture No file chosen",
    ]

    /// The SVG of `fieldwork code` as a browser draws it, photographed as PNG; the page makes a JPEG of it.
    @Test func theOfficesCodeOpensTheMap() async throws {
        try await DamageField.with(points: 5) { field in
            let url = "\(field.services.root.absoluteString)/DamageAssessment/FeatureServer"
            let svg = try #require(CodeMaker(url)).svg
            let browser = try await Browser.start()
            defer { browser.stop() }
            try await browser.open("data:image/svg+xml;base64,\(Data(svg.utf8).base64EncodedString())")
            try await browser.wait("document.querySelector('path') !== null")
            let picture = field.deviceFolder.appending(path: "code.png")
            try await browser.screenshot("start-code").write(to: picture)

            try await browser.open(field.app.door)
            try await browser.wait(Hand.ready, seconds: 60)
            try await browser.open("\(field.app.address)start/server")
            try await browser.choose([picture.path], in: "button", Self.pictureButton)
            try await browser.wait("document.body.innerText.includes('The code says')", seconds: 60)
            #expect(
                try await browser.evaluate("document.querySelector('.said bdi').textContent", as: String.self) == url)
            try await browser.screenshot("start-code-read")
            try await browser.click(".said button")
            try await browser.wait(Hand.ready, seconds: 60)
            #expect(try await browser.evaluate("location.pathname", as: String.self) == "/map")
            #expect(browser.takeComplaints() == [])
        }
    }

    @Test func whatTheBrowserCannotDrawIsAnsweredOnThePage() async throws {
        try await DamageField.with(points: 1) { field in
            let file = field.deviceFolder.appending(path: "picture.heic")
            try Data("no picture".utf8).write(to: file)
            let browser = try await Browser.start(width: 390, height: 844)
            defer { browser.stop() }
            try await browser.open(field.app.door)
            try await browser.wait(Hand.ready, seconds: 60)
            try await browser.open("\(field.app.address)start/server")
            try await browser.choose([file.path], in: "button", Self.pictureButton)
            try await browser.wait("document.body.innerText.includes('this kind of picture')", seconds: 60)
        }
    }

    /// A second press while the first is under way asks once.
    @Test func aFileIsOpenedFromTheListOfThisDevice() async throws {
        try await DamageField.with(points: 25, definition: OfflineField.definition()) { field in
            try await FileField.takeAlong(field, to: field.deviceFolder.appending(path: "area.gpkg"))
            let browser = try await Browser.start()
            defer { browser.stop() }
            try await browser.open(field.app.door)
            try await browser.wait(Hand.ready, seconds: 60)
            try await browser.open("\(field.app.address)start")
            try await browser.click("a[href=\"/start/file\"]")
            try await browser.wait("document.body.innerText.includes('area.gpkg')")
            try await browser.screenshot("start-file")
            _ = try await browser.evaluate(
                "(() => { const b = document.querySelector('form[action=\"/start/file\"] button'); b.click(); b.click(); return true; })()",
                as: Bool.self)
            try await browser.wait("document.querySelector('#state')?.innerText.includes('Offline, area')", seconds: 60)
            try await browser.wait(Hand.ready, seconds: 60)
            #expect(browser.takeComplaints() == [])
        }
    }
}
