import BrowserSupport
import FieldworkStore
import Foundation
import Logging
import Testing

@testable import FieldworkCollect

/// Addresses without a network, in an area that was taken along.
@Suite struct AreaLocatorTests {
    private static let area: KeyValuePairs<String, String> = [
        "west": "-122.6405", "south": "45.560", "east": "-122.6195", "north": "45.570", "name": "Holman",
        "session": OfflineField.id,
    ]

    /// Takes the street along, with its addresses, and works there.
    static func goOffline(_ visitor: PlainClient, _ field: TreesField) async throws {
        _ = try await visitor.post("/offline/new", area)
        try await OfflineField.isHere(visitor)
        let file = field.deviceFolder.appending(path: "areas/\(OfflineField.id)/addresses.locator")
        for _ in 0..<400 where !FileManager.default.fileExists(atPath: file.path) {
            try await Task.sleep(for: .milliseconds(50))
        }
        #expect(FileManager.default.fileExists(atPath: file.path), "the locator came along")
        _ = try await visitor.post("/offline/mode", ["area": OfflineField.id])
    }

    @Test func addressesAreFoundAndFilledInAnAreaWithoutANetwork() async throws {
        try await TreesField.with(map: TreesField.withRules, canSync: true, hasLocator: true) { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            try await Self.goOffline(visitor, field)
            await field.services.stop()
            let page = try await visitor.get("/search?q=3210%20NE%20Holman").text
            #expect(page.contains("Searching Holman, on this device, and its addresses."))
            #expect(page.contains("3210 NE Holman St") && page.contains("on this device"))
            #expect(try await visitor.get("/search?q=3254").text.contains("3254 NE Ainsworth St"))
            let query = "lon=-122.63&lat=45.56608&template=p0"
            _ = try await visitor.get("/add/0/form?\(query)")
            let told = try await visitor.get("/data/fill/0?\(query)").text
            #expect(told.contains(#""address":"3300 NE Holman St""#) && told.contains("on this device"), "\(told)")
            let here = try await visitor.get("/data/address?lat=45.5661&lon=-122.637").text
            #expect(here.contains("3230 NE Holman St"), "\(here)")
        }
    }

    /// The version that a locator file says it has; nil for what is no locator.
    private static func version(of file: URL) throws -> String? {
        try StoreConnection(path: file.path, mode: .look(isAlone: false)).text(
            "SELECT value FROM gc_meta WHERE key = 'version'")
    }

    /// Makes the area's locator one of an earlier version.
    private static func age(_ file: URL) throws {
        try StoreConnection(path: file.path, mode: .readWrite).execute(
            "UPDATE gc_meta SET value = '1' WHERE key = 'version'")
    }

    @Test func aLocatorOfAnEarlierVersionIsFetchedAgainWhenItsServerCanBeReached() async throws {
        try await TreesField.with(map: TreesField.withRules, canSync: true, hasLocator: true) { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            try await Self.goOffline(visitor, field)
            let file = field.deviceFolder.appending(path: "areas/\(OfflineField.id)/addresses.locator")
            let current = try #require(try Self.version(of: file))
            #expect(current != "1")
            try Self.age(file)
            let id = try #require(UUID(uuidString: OfflineField.id))
            let shelf = try AreaShelf(directory: field.deviceFolder.appending(path: "areas"))
            let locators = AreaLocators(shelf: shelf, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
            #expect(await locators.needsRenewal(of: try #require(shelf.area(id))))
            try await field.restartedApp { app in
                let again = try await PlainClient.visitor(of: app)
                // The first page that shows the map opens it.
                _ = try await again.get("/search?q=holman")
                for _ in 0..<400 where try Self.version(of: file) != current {
                    try await Task.sleep(for: .milliseconds(50))
                }
                #expect(try Self.version(of: file) == current)
                #expect(try await again.get("/search?q=3210%20NE%20Holman").text.contains("on this device"))
            }
        }
    }

    @Test func aLocatorOfAnEarlierVersionStaysWhereItIsWhileItsServerCannotBeReached() async throws {
        try await TreesField.with(map: TreesField.withRules, canSync: true, hasLocator: true) { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            try await Self.goOffline(visitor, field)
            let file = field.deviceFolder.appending(path: "areas/\(OfflineField.id)/addresses.locator")
            try Self.age(file)
            let before = try Data(contentsOf: file)
            await field.services.stop()
            try await field.restartedApp { app in
                let again = try await PlainClient.visitor(of: app)
                #expect(try await again.get("/search?q=3210%20NE%20Holman").text.contains("The locator doesn"))
            }
            #expect(try Data(contentsOf: file) == before)
        }
    }

    @Test func anAreaOfAServerWithoutALocatorIsWholeWithoutOneAndSaysSo() async throws {
        try await TreesField.with(map: TreesField.withRules, canSync: true) { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            _ = try await visitor.post("/offline/new", Self.area)
            try await OfflineField.isHere(visitor)
            _ = try await visitor.post("/offline/mode", ["area": OfflineField.id])
            let page = try await visitor.get("/search?q=holman").text
            #expect(page.contains("No locator was taken along with this area."))
        }
    }
}
