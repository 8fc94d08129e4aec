import BrowserSupport
import Fieldwork
import FieldworkGeometry
import FieldworkREST
import FieldworkTiles
import Foundation
import Logging
import Testing

@testable import FieldworkCollect

/// The basemap that comes along with an area, and the map without a server.
@Suite struct AreaBasemapTests {
    /// Looks at the list of areas until the basemap is here too.
    static func basemapIsHere(_ visitor: PlainClient) async throws {
        for _ in 0..<600 {
            let page = try await visitor.get("/offline").text
            if page.contains("with basemap") { return }
            try await Task.sleep(for: .milliseconds(50))
        }
        Issue.record("The basemap did not arrive.")
    }

    @Test(
        "The basemap comes along with an area, is drawn by this process when the server is gone, and goes with the area"
    )
    func along() async throws {
        try await DamageField.with(definition: OfflineField.definition(), hasBasemap: true) { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            let counts = try await visitor.post("/data/area", OfflineField.edges).text
            #expect(counts.contains("Basemap"), "\(counts)")
            try await OfflineField.goOffline(visitor)
            try await Self.basemapIsHere(visitor)
            let folder = field.deviceFolder.appending(path: "areas/\(OfflineField.id)")
            let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            #expect(!files.contains { $0.hasPrefix("basemap-") }, "what came is among the tiles of all areas: \(files)")
            #expect(try Self.tileFiles(field).count == 1)
            await field.services.stop()

            let document = try await visitor.get("/data/basemap?look=light").text
            #expect(document.contains(#""key":"area""#) && document.contains("© City"), "\(document)")
            #expect(try await visitor.get("/data/basemap/area/0/tile/0/0/0").status == 200)
            #expect(try await visitor.get("/data/basemap/area/0/pictures/sprite.json").status == 200)
            #expect(try await visitor.get("/list/0").text.contains("4 "))
            let saved = try await OfflineField.add(visitor, "without-a-server")
            #expect(saved.status == 303 || saved.status == 200)

            // What waits to be sent is asked about, as without a basemap.
            let refused = try await visitor.post("/offline/\(OfflineField.id)/delete", [:])
            #expect(refused.status == 409)
            #expect(try Self.tileFiles(field).count == 1)
            _ = try await visitor.post("/offline/\(OfflineField.id)/delete", ["lose": "yes"])
            #expect(!FileManager.default.fileExists(atPath: folder.path))
            #expect(try Self.tileFiles(field).isEmpty)
        }
    }

    /// The files with tiles of the device.
    static func tileFiles(_ field: DamageField) throws -> [URL] {
        let folder = field.deviceFolder.appending(path: "tiles")
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.filter { $0.hasSuffix(".mbtiles") }.sorted().map { folder.appending(path: $0) }
    }

    @Test("A second area takes only the tiles that are not here, and keeps them when the first one is deleted")
    func shared() async throws {
        try await DamageField.with(definition: OfflineField.definition(), hasBasemap: true) { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            try await OfflineField.goOffline(visitor)
            try await Self.basemapIsHere(visitor)
            _ = try await visitor.post("/offline/mode", ["area": ""])
            let other = "7b2f7a52-3a0c-4a64-9d0e-0f1f5a7c2b12"
            let within: KeyValuePairs = [
                "west": "-98.02", "south": "37.97", "east": "-97.9", "north": "38.1", "name": "Within",
                "session": other,
            ]
            let counts = try await visitor.post("/data/area", within).text
            #expect(counts.contains("on this device already"), "\(counts)")
            _ = try await visitor.post("/offline/new", within)
            let shelf = try AreaShelf(directory: field.deviceFolder.appending(path: "areas"))
            let id = try #require(UUID(uuidString: other))
            // The features and the basemap come side by side.
            for _ in 0..<600 where !shelf.isHere(id) || shelf.basemap(id) == nil {
                try await Task.sleep(for: .milliseconds(50))
            }
            #expect(shelf.basemapSize(id) > 0)
            let file = try #require(Self.tileFiles(field).first)
            #expect(try Self.tileFiles(field).count == 1)
            _ = try await visitor.post("/offline/\(OfflineField.id)/delete", ["lose": "yes"])
            #expect(try SharedTileFile(file).holders().map(\.id) == [id])
            #expect(try await visitor.post("/offline/mode", ["area": other]).status == 303)
            await field.services.stop()
            #expect(try await visitor.get("/data/basemap/area/0/tile/0/0/0").status == 200)
            _ = try await visitor.post("/offline/\(other)/delete", ["lose": "yes"])
            #expect(try Self.tileFiles(field).isEmpty)
        }
    }

    @Test("A newer basemap of the server is told, comes when it is asked for, and takes the place of the older one")
    func newer() async throws {
        try await DamageField.with(definition: OfflineField.definition(), hasBasemap: true) { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            try await OfflineField.goOffline(visitor)
            try await Self.basemapIsHere(visitor)
            let (file, tile) = (try #require(Self.tileFiles(field).first), "/data/basemap/area/0/tile/0/0/0")
            let old = try await visitor.get(tile).body
            let drawn = try await visitor.get("/data/map").text
            func version() async throws -> String {
                let text = try await visitor.get("/data/basemap?look=light").text
                return String(try #require(text.firstMatch(of: /"version":"([0-9a-f]*)"/)).1)
            }
            let former = try await version()
            _ = try await visitor.post("/offline/update", [:])
            try await Self.page(visitor, says: "Update all areas")
            #expect(try await !visitor.get("/offline").text.contains("newer basemap"), "there is none yet")

            try OfflineWholeMapTests.putTown(field)
            _ = try await visitor.post("/offline/update", [:])
            try await Self.page(visitor, says: "The server has a newer basemap, about ")
            #expect(try await visitor.get(tile).body == old, "nothing came that nobody asked for")
            let asked = try await visitor.post("/offline/\(OfflineField.id)/basemap", [:])
            #expect(asked.status == 303 && asked["Location"] == "/offline")
            try await Self.basemapIsHere(visitor)
            let page = try await visitor.get("/offline").text
            #expect(!page.contains("newer basemap"), "\(page)")
            #expect(try await visitor.get(tile).body != old)
            let files = try Self.tileFiles(field)
            #expect(files.count == 1 && files.first != file, "the older tiles are gone: \(files)")
            let shelf = try AreaShelf(directory: field.deviceFolder.appending(path: "areas"))
            let id = try #require(UUID(uuidString: OfflineField.id))
            let wish = try #require(shelf.basemapWish(id))
            #expect(wish.layers.count == 1 && wish.isSettled && !wish.isRenewing, "one in the place of the other")
            // Windows that are open draw it anew, from addresses that their browser has nothing of.
            #expect(try await visitor.get("/data/map").text != drawn)
            #expect(try await version() != former)
        }
    }

    @Test("A newer basemap that can't come leaves the older one, and is told again")
    func newerRefused() async throws {
        try await DamageField.with(definition: OfflineField.definition(), hasBasemap: true) { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            try await OfflineField.goOffline(visitor)
            try await Self.basemapIsHere(visitor)
            await field.app.stop()
            let shelf = try AreaShelf(directory: field.deviceFolder.appending(path: "areas"))
            let (id, older) = (try #require(UUID(uuidString: OfflineField.id)), try Self.tileFiles(field))
            let mark = try #require(shelf.basemap(id)?.mark)
            let basemaps = AreaBasemaps(shelf: shelf, logger: Logger(label: "test")) { _ in RefusingTileSource() }
            await basemaps.lookForNewer(id)
            #expect(shelf.basemapWish(id)?.newer == .init(files: ["basemap-1.vtpk"], bytes: 5_000))
            let area = try #require(try await basemaps.wishNewer(id))
            #expect(shelf.awaitsBasemap(id))
            await basemaps.fetchAll(area)
            #expect(!shelf.awaitsBasemap(id))
            #expect(shelf.basemap(id)?.mark == mark)
            #expect(try Self.tileFiles(field) == older)
            let left = try FileManager.default.contentsOfDirectory(atPath: shelf.folder(id).path)
            #expect(!left.contains { $0.hasPrefix("basemap-") }, "\(left)")
            await basemaps.lookForNewer(id)
            #expect(shelf.basemapWish(id)?.newer == nil, "it was looked a moment ago")
            await basemaps.lookForNewer(id, seconds: 0)
            #expect(shelf.basemapWish(id)?.newer != nil)
        }
    }

    @Test("What is asked for while it is looked for newer tiles is on its way, and isn't told as newer again")
    func askedMeanwhile() async throws {
        try await DamageField.with(definition: OfflineField.definition(), hasBasemap: true) { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            try await OfflineField.goOffline(visitor)
            try await Self.basemapIsHere(visitor)
            await field.app.stop()
            let shelf = try AreaShelf(directory: field.deviceFolder.appending(path: "areas"))
            let id = try #require(UUID(uuidString: OfflineField.id))
            let basemaps = AreaBasemaps(shelf: shelf, logger: Logger(label: "test")) { _ in
                RefusingTileSource(told: {
                    try shelf.changeBasemapWish(of: id) { wish in
                        wish.newer = .init(files: wish.layers.map(\.file), bytes: 1)
                        wish.renew()
                    }
                })
            }
            await basemaps.lookForNewer(id)
            let wish = try #require(shelf.basemapWish(id))
            #expect(wish.isRenewing && wish.newer == nil)
        }
    }

    /// A service that has a newer version, and doesn't let it be taken.
    private struct RefusingTileSource: TileSource {
        /// What happens when the size is asked for.
        var told: @Sendable () throws -> Void = {}

        private static let refusal = ServiceError.serverFailure(details: "Not shared with you", code: 403)

        func version() async throws -> String? { "newer" }
        func job(_ part: Geometry, to file: URL) async throws -> Job { throw Self.refusal }
        func job(begunAs state: Data, to file: URL) throws -> Job { throw Self.refusal }
        func estimate(_ part: Geometry) async throws -> Int64 {
            try told()
            return 5_000
        }
    }

    /// Looks at the list of areas until it says something.
    private static func page(_ visitor: PlainClient, says text: String) async throws {
        for _ in 0..<600 {
            if try await visitor.get("/offline").text.contains(text) { return }
            try await Task.sleep(for: .milliseconds(50))
        }
        Issue.record("The page does not say \(text)")
    }

    @Test("A basemap whose download was broken off goes on at the next start")
    func resumed() async throws {
        try await DamageField.with(definition: OfflineField.definition(), hasBasemap: true) { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            try await OfflineField.goOffline(visitor)
            try await Self.basemapIsHere(visitor)
            await field.app.stop()
            // As if the process had been killed before.
            let shelf = try AreaShelf(directory: field.deviceFolder.appending(path: "areas"))
            let id = try #require(UUID(uuidString: OfflineField.id))
            try await shelf.tiles.tidy { _, _ in false }
            #expect(try Self.tileFiles(field).isEmpty)
            try shelf.changeBasemapWish(of: id) { wish in
                wish.settled = []
                for index in wish.layers.indices { wish.layers[index].tiles = nil }
            }
            #expect(shelf.awaitsBasemap(id) && shelf.basemap(id) == nil)
            try await field.restartedApp { again in
                let visitor = try await PlainClient.visitor(of: again)
                try await Self.basemapIsHere(visitor)
                #expect(try Self.tileFiles(field).count == 1 && shelf.basemapSize(id) > 0)
            }
        }
    }

    @Test("An area that was extended twice goes with the basemap that it has from its first extension, at once")
    func formerStage() async throws {
        try await DamageField.with(definition: OfflineField.definition(), hasBasemap: true) { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            try await OfflineField.goOffline(visitor)
            try await Self.basemapIsHere(visitor)
            await field.app.stop()
            let shelf = try AreaShelf(directory: field.deviceFolder.appending(path: "areas"))
            let id = try #require(UUID(uuidString: OfflineField.id))
            var area = try #require(shelf.area(id))
            func stage(_ seconds: Double) -> OfflineArea {
                OfflineArea(
                    id: UUID(), name: area.name, mapKey: area.mapKey, mapTitle: area.mapTitle, service: area.service,
                    west: area.west, south: area.south, east: area.east, north: area.north,
                    made: area.made.addingTimeInterval(seconds), extends: id)
            }
            let (former, holder) = (stage(1), stage(2))
            for stage in [former, holder] { try shelf.put(stage, jobs: []) }
            for (own, larger) in zip(shelf.ownFiles(id), shelf.ownFiles(holder.id)) {
                try FileManager.default.moveItem(at: own.url, to: larger.url)
            }
            try shelf.setBasemapWish(try #require(shelf.basemapWish(id)), of: former.id)
            let tiles = try SharedTileFile(try #require(Self.tileFiles(field).first))
            try tiles.reserve(former.id, box: try #require(tiles.holder(id)?.box))
            try tiles.complete(former.id, with: nil)
            area.holder = holder.id
            try shelf.put(area)
            try await field.restartedApp { again in
                let visitor = try await PlainClient.visitor(of: again)
                #expect(try await visitor.get("/offline").text.contains("with basemap"))
                #expect(shelf.basemapStage(of: id) == former.id)
                _ = try await visitor.post("/offline/\(OfflineField.id)/delete", ["lose": "yes"])
                #expect(shelf.all().isEmpty, "\(shelf.all())")
                #expect(try Self.tileFiles(field).isEmpty)
            }
        }
    }

    @Test("The file of an area that an earlier version took is drawn as before, and goes with the area")
    func earlier() async throws {
        try await DamageField.with(definition: OfflineField.definition(), hasBasemap: true) { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            try await OfflineField.goOffline(visitor)
            try await Self.basemapIsHere(visitor)
            await field.app.stop()
            let shelf = try AreaShelf(directory: field.deviceFolder.appending(path: "areas"))
            let id = try #require(UUID(uuidString: OfflineField.id))
            let wish = try #require(shelf.basemapWish(id))
            let layer = try #require(wish.layers.first)
            let own = shelf.basemapFile(layer, of: id)
            let shared = try TilePackages.open(try #require(Self.tileFiles(field).first).path)
            try TileExport(of: shared, title: "City", coverage: nil).write(to: own)
            try shelf.changeBasemapWish(of: id) { $0.change(layer.file) { $0.tiles = nil } }
            try await field.restartedApp { again in
                let visitor = try await PlainClient.visitor(of: again)
                #expect(try await visitor.get("/offline").text.contains("with basemap"))
                #expect(try await visitor.get("/data/basemap/area/0/tile/0/0/0").status == 200)
                #expect(try Self.tileFiles(field).isEmpty, "the area doesn't use them")
                _ = try await visitor.post("/offline/\(OfflineField.id)/delete", ["lose": "yes"])
                #expect(!FileManager.default.fileExists(atPath: own.path))
            }
        }
    }
}

/// The whole map in a real browser, with the server gone.
@Suite(
    .serialized, .enabled(if: Browser.program != nil, "Chromium isn't installed"),
    .enabled(if: RunningApp.mapLibrary != nil, "The map library isn't installed; run scripts/setup"))
struct OfflineWholeMapTests {
    private static let ready = "document.documentElement.dataset.map === 'ready'"

    /// Puts a basemap of ours in the place of the server's: land everywhere, and a town with a name in the area.
    static func putTown(_ field: DamageField) throws {
        let tile = try #require(TileAddress(level: 0, column: 0, row: 0))
        var land = VectorLayer(name: "land")
        land.tag("class", .text("wood"))
        land.add(id: 1, kind: .polygon, commands: [9, 0, 0, 26, 8192, 0, 0, 8192, 8191, 0, 15])
        var place = VectorLayer(name: "place")
        place.tag("class", .text("city"))
        place.tag("name", .text("Haven"))
        place.add(id: 2, kind: .point, commands: [9, 934 * 2, 1_579 * 2])
        var bytes: [UInt8] = []
        land.append(to: &bytes)
        place.append(to: &bytes)
        let file = field.deviceFolder.deletingLastPathComponent().appending(path: "town.mbtiles")
        let writer = try MBTilesWriter(path: file.path, format: .vector)
        try writer.add(try GzipStream.compressed(bytes), at: tile)
        try writer.finish(
            TileSetDescription(
                name: "City", attribution: "© City", format: .vector, levels: 0...0,
                vectorLayers: [["id": "land"], ["id": "place"]], schema: BasemapSchema.mark))
        try BasemapFolder(data: field.deviceFolder.deletingLastPathComponent()).add(file, as: "City", replaces: true)
    }

    @Test("Without a server the area is drawn with its basemap and its labels, searched and listed")
    func withoutAServer() async throws {
        try await DamageField.with(definition: OfflineField.definition(), hasBasemap: true) { field in
            try Self.putTown(field)
            let visitor = try await PlainClient.visitor(of: field.app)
            try await OfflineField.goOffline(visitor)
            try await AreaBasemapTests.basemapIsHere(visitor)
            await field.services.stop()
            let browser = try await Browser.start()
            defer { browser.stop() }
            try await browser.open(field.app.door)
            try await browser.wait(Self.ready, seconds: 60)
            let module: String = try await browser.evaluate(
                "document.querySelector('script[type=module]').src.replace('app.js', 'map.js')")
            func drawn(_ condition: String) -> String {
                """
                import('\(module)').then(m => m.instance().queryRenderedFeatures().some(f => \(condition)))
                """
            }
            try await browser.wait(
                drawn("f.layer.id.startsWith('base-0') && f.layer.type === 'fill'"), seconds: 60)
            try await browser.wait(
                drawn("f.layer.type === 'symbol' && f.properties.name === 'Haven'"), seconds: 60)
            try await browser.wait(drawn("f.layer.id.startsWith('layer-0')"), seconds: 60)
            #expect(
                try await browser.evaluate("document.getElementById('attribution').textContent", as: String.self)
                    == "© City")
            try await browser.screenshot("offline-whole-map")
            try await browser.open("\(field.app.address)search?q=Cause%201")
            try await browser.wait("document.querySelector('#panel')?.innerText.includes('Cause 1')", seconds: 60)
            try await browser.open("\(field.app.address)list/0")
            try await browser.wait("document.querySelector('#panel')?.innerText.includes('Cause 1')", seconds: 60)
            // The page asks nobody but this process.
            let others: Int = try await browser.evaluate(
                """
                performance.getEntriesByType('resource').filter(e => !e.name.startsWith(location.origin)
                && !e.name.startsWith('blob:') && !e.name.startsWith('data:')).length
                """)
            #expect(others == 0)
        }
    }
}
