import BrowserSupport
import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import FieldworkTiles
import Foundation
import Testing

@testable import FieldworkCollect

/// axe-core finds nothing on any page, in any theme, on a phone and on a wide screen.
@Suite(
    .serialized,
    .enabled(if: Browser.program != nil, "Chromium isn't installed"),
    .enabled(if: Axe.engine != nil, "axe-core isn't installed; run scripts/setup test"),
    .enabled(if: RunningApp.mapLibrary != nil, "The map library isn't installed; run scripts/setup")
)
struct AccessibilityTests {
    /// The pages whose map is a part of what they ask for; beside the others it is the same one, and drawing it takes long.
    private static func needsMap(_ page: String) -> Bool {
        page.hasPrefix("map") || page.hasPrefix("add/") || ["/move", "/new", "/extend"].contains(where: page.hasSuffix)
    }

    /// Looks at each page in both sizes and three themes, and keeps a picture of each.
    private static func look(
        at pages: [String], of app: RunningApp, _ browser: Browser, picture: String
    ) async throws {
        var count = 0
        for (width, height, isPhone) in [(1_280, 800, false), (390, 844, true)] {
            try await browser.resize(width: width, height: height, isPhone: isPhone)
            for page in pages {
                try await browser.blockMap(!needsMap(page))
                try await browser.open(app.address + page)
                try await browser.wait("document.readyState === 'complete'")
                if needsMap(page) { try await browser.wait(Hand.ready, seconds: 60) }
                count += try await inspect(page, browser, width: width)
                let name = page.prefix(60).filter { $0.isLetter || $0.isNumber }
                try await browser.screenshot("\(picture)-\(isPhone ? "phone" : "wide")-\(name)")
            }
        }
        #expect(count == pages.count * 6)
    }

    /// What the browser shows now, in three themes.
    private static func inspect(_ page: String, _ browser: Browser, width: Int) async throws -> Int {
        try await Axe.load(into: browser)
        let themes = ["light", "dark", "sunlight"]
        for theme in themes {
            _ = try await browser.evaluate("document.documentElement.dataset.theme = '\(theme)'", as: String.self)
            for finding in try await Axe.findings(browser, isLook: theme != "light") {
                Issue.record("\(page), \(theme), \(width): \(finding.rule) at \(finding.target): \(finding.help)")
            }
        }
        return themes.count
    }

    /// The pages of the first start, with a file to choose and one that is gone.
    @Test func axeFindsNothingOnThePagesOfTheFirstStart() async throws {
        try await DamageField.with(points: 25, definition: OfflineField.definition()) { field in
            try await FileField.takeAlong(field, to: field.deviceFolder.appending(path: "area.gpkg"))
            let browser = try await Browser.start(width: 1_280, height: 800)
            defer { browser.stop() }
            try await browser.blockMap(true)
            try await browser.open(field.app.door)
            try await browser.wait("document.querySelector('.top') !== null")
            try await Self.look(
                at: ["start", "start/server", "start/file", "start/file?path=/nowhere.gpkg"], of: field.app, browser,
                picture: "start")
        }
    }

    /// What the forms of the first start answer with: a refusal, the maps of a server, the codes in a picture, the question that comes
    /// before a file is changed, one that can't be opened.
    @Test(.enabled(if: FileField.gdal != nil, "GDAL isn't installed"))
    func axeFindsNothingOnTheAnswersOfTheFirstStart() async throws {
        try await DamageField.with(points: 5) { field in
            let benches = field.deviceFolder.appending(path: "benches.gpkg")
            try await FileField.makeBenches(at: benches)
            let picture = field.deviceFolder.appending(path: "codes.jpg")
            try CodePicture(["https://maps.example.org/FeatureServer", "no address"]).jpeg.write(to: picture)
            let root = field.services.root.absoluteString
            let browser = try await Browser.start(width: 1_280, height: 800)
            defer { browser.stop() }
            try await browser.blockMap(true)
            try await browser.open(field.app.door)
            try await browser.wait("document.querySelector('.top') !== null")
            for (width, height, isPhone) in [(1_280, 800, false), (390, 844, true)] {
                try await browser.resize(width: width, height: height, isPhone: isPhone)
                func look(_ name: String) async throws {
                    let count = try await Self.inspect(name, browser, width: width)
                    #expect(count == 3)
                    try await browser.screenshot("start-\(isPhone ? "phone" : "wide")-\(name)")
                }
                let forms = [
                    ("refused", "server", "service", "http://127.0.0.1:1/FeatureServer", "#service-problem"),
                    ("maps", "server", "service", root, "#maps-heading"),
                    ("question", "file", "path", benches.path, "#asked-heading"),
                    ("missing", "file", "path", "/nowhere.gpkg", "#path-problem"),
                ]
                for (name, page, input, value, answer) in forms {
                    try await browser.open("\(field.app.address)start/\(page)")
                    try await browser.wait("document.readyState === 'complete'")
                    _ = try await browser.evaluate(
                        "(() => { const i = document.querySelector('#\(input)'); i.value = '\(value)'; i.form.submit(); return true; })()",
                        as: Bool.self)
                    try await browser.wait("document.querySelector('\(answer)') !== null", seconds: 60)
                    try await look(name)
                }
                try await browser.open("\(field.app.address)start/server")
                try await browser.choose([picture.path], in: "button", StartBrowserTests.pictureButton)
                try await browser.wait("document.querySelector('#codes-heading') !== null", seconds: 60)
                try await look("codes")
            }
        }
    }

    /// The pages of offline areas: choosing and extending one, its download, a conflict, the changes that wait.
    @Test func axeFindsNothingOnThePagesOfOfflineAreas() async throws {
        var definition = OfflineField.definition()
        definition.conflictRule = .holdForReview
        try await DamageField.with(points: 25, definition: definition) { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            try await OfflineField.goOffline(visitor)
            let point = try #require(try await field.serverFeatures().min { $0.objectID < $1.objectID }?.globalID)
            let address = "/f/0/\(point.uuidString.lowercased())"
            _ = try await visitor.post("\(address)/edit", ["session": "a", "field.typdamage": "Destroyed"])
            _ = try await visitor.post("\(address)/move", ["lon": "-97.9999", "lat": "38"])
            let place = DamageField.place(0)
            let theirs = FeatureEdit(
                globalID: point, attributes: [("typdamage", .text("Minor")), ("primcause", .text("Fire"))],
                geometry: .geometry(
                    Point(
                        x: WebMercator.x(longitude: place.longitude), y: WebMercator.y(latitude: 38.0001),
                        spatialReference: .webMercator)))
            _ = try await field.store.apply(
                EditBatch(
                    layers: [LayerEdits(layerID: 0, updates: [theirs])], usesGlobalIDs: true, editor: "Dana",
                    moment: Date()), to: DamageField.service)
            try await OfflineField.sync(visitor)
            _ = try await OfflineField.add(visitor, "b")

            let browser = try await Browser.start(width: 1_280, height: 800)
            defer { browser.stop() }
            try await browser.blockMap(true)
            try await browser.open(field.app.door)
            try await browser.wait("document.querySelector('.top') !== null")
            let area = OfflineField.id
            try await Self.look(
                at: [
                    "offline", "offline/\(area)/delete", "jobs/\(area)", "changes", "conflicts", "conflicts/0/1",
                    "transaction", "list/0?group=typdamage&choices=open", "start",
                ], of: field.app, browser, picture: "area")
            _ = try await visitor.post("/offline/mode", ["area": ""])
            try await Self.look(
                at: ["offline", "offline/new", "offline/\(area)/extend"], of: field.app, browser, picture: "online")
        }
    }

    @Test func axeFindsNothingOnTheSearchAndWhatItFinds() async throws {
        try await TreesField.with(map: TreesField.withRules, hasLocator: true) { field in
            let browser = try await Browser.start(width: 1_280, height: 800)
            defer { browser.stop() }
            try await browser.blockMap(true)
            try await browser.open(field.app.door)
            try await browser.wait("document.querySelector('.top') !== null")
            try await Self.look(
                at: [
                    "map/at?lat=45.5661&lon=-122.637&name=3230%20NE%20Holman%20St&detail=Portland&z=17", "search",
                    "search?q=3254", "search?q=holman", "search?q=zzyzxqq",
                ], of: field.app, browser, picture: "search")
        }
    }

    @Test func axeFindsNothingOnAnyPageInAnyThemeAndSize() async throws {
        try await TreesField.with(map: TreesField.withRules) { field in
            let browser = try await Browser.start(width: 1_280, height: 800)
            defer { browser.stop() }
            let tree = TreesField.address(0)
            try await browser.open(field.app.door)
            try await browser.wait("document.documentElement.dataset.map === 'ready'", seconds: 60)
            let visitor = try await PlainClient.visitor(of: field.app)
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
            try await Self.look(at: pages, of: field.app, browser, picture: "trees")
        }
    }
}
