import BrowserSupport
import Fieldwork
import Foundation
import Testing

@testable import FieldworkCollect

/// GeoPackages of the user's, opened in their place.
@Suite struct HeldFileTests {
    private static func with(_ test: (DamageField, PlainClient, URL) async throws -> Void) async throws {
        try await DamageField.with(points: 25, definition: OfflineField.definition()) { field in
            try await test(
                field, try await PlainClient.visitor(of: field.app),
                field.deviceFolder.appending(path: "area.gpkg"))
        }
    }

    @Test func anAreaThatTheCommandMadeIsEditedInPlaceSyncedAndLeftOnTheDisk() async throws {
        try await Self.with { field, visitor, file in
            try await FileField.takeAlong(field, to: file)
            let offered = try await visitor.get("/start/file").text
            #expect(offered.contains("area.gpkg") && offered.contains("Taken from Damage Assessment"))
            #expect(offered.contains("Damage to buildings"))
            let opened = try await visitor.post("/start/file", ["path": file.path])
            #expect(opened["Location"] == "/map")
            let list = try await visitor.get("/list/0").text
            #expect(list.contains("Offline, area") && list.contains("Cause 7") && !list.contains("Cause 25"))

            let added = try await OfflineField.add(visitor, "a")
            #expect(added.status == 303)
            #expect(try await visitor.get(try #require(added["Location"])).text.contains("On this device, not sent"))
            _ = try await visitor.post("/undo", [:])
            _ = try await OfflineField.add(visitor, "b")
            #expect(try await field.serverFeatures().count == 25)
            try await OfflineField.sync(visitor)
            #expect(try await field.serverFeatures().count == 26)
            #expect(try await visitor.get("/offline").text.contains("Last sync today"))
            #expect(try Self.packages(under: field.deviceFolder) == [file.path], "nothing was copied")

            _ = try await OfflineField.add(visitor, "c")
            let id = try await FileField.area(visitor)
            let asked = try await visitor.get("/offline/\(id)/delete").text
            #expect(asked.contains("The file stays on the disk") && asked.contains("1 edit in it"))
            #expect(try await visitor.post("/offline/\(id)/delete", [:]).status == 303)
            #expect(FileManager.default.fileExists(atPath: file.path))
            // What was not sent goes on from the file.
            #expect(try await visitor.post("/start/file", ["path": file.path])["Location"] == "/map")
            #expect(try await visitor.get("/list/0").text.contains("1 not sent"))
            try await OfflineField.sync(visitor)
            #expect(try await field.serverFeatures().count == 27)
        }
    }

    private static func packages(under folder: URL) throws -> [String] {
        let walker = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
        return walker.compactMap { $0 as? URL }.filter { $0.pathExtension == "gpkg" && !$0.path.contains("/services/") }
            .map(\.path)
    }

    @Test func theWorkGoesOnInTheFileAfterARestartAndWhereItWasMovedTo() async throws {
        try await Self.with { field, visitor, file in
            try await FileField.takeAlong(field, to: file)
            _ = try await visitor.post("/start/file", ["path": file.path])
            _ = try await OfflineField.add(visitor, "a")
            await field.app.stop()
            let moved = field.deviceFolder.appending(path: "moved.gpkg")
            let app = try await RunningApp.start(services: field.services.root, folder: field.deviceFolder)
            do {
                let again = try await PlainClient.visitor(of: app)
                #expect(try await again.get("/list/0").text.contains("1 not sent"))
                await app.stop()
            } catch {
                await app.stop()
                throw error
            }
            try FileManager.default.moveItem(at: file, to: moved)
            let third = try await RunningApp.start(services: field.services.root, folder: field.deviceFolder)
            do {
                let again = try await PlainClient.visitor(of: third)
                let away = try #require(try await again.get("/map")["Location"])
                #expect(away.hasPrefix("/start/file?path="))
                #expect(try await again.get(away).text.contains("There is no file"))
                #expect(try await again.post("/start/file", ["path": moved.path])["Location"] == "/map")
                let changes = try await again.get("/changes").text
                #expect(changes.contains("1 edit") && changes.contains("Undo: "), "the journal goes with it")
                await third.stop()
            } catch {
                await third.stop()
                throw error
            }
        }
    }

    @Test func aCopyOfAReplicaIsRefused() async throws {
        try await Self.with { field, visitor, file in
            try await FileField.takeAlong(field, to: file)
            let copy = field.deviceFolder.appending(path: "copy.gpkg")
            try FileManager.default.copyItem(at: file, to: copy)
            _ = try await visitor.post("/start/file", ["path": file.path])
            let refused = try await visitor.post("/start/file", ["path": copy.path])
            #expect(refused.status == 422 && refused.text.contains("copy.gpkg is a copy of"))
            // The same file by another name is no copy.
            let link = field.deviceFolder.appending(path: "link.gpkg")
            try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file)
            #expect(try await visitor.post("/start/file", ["path": link.path])["Location"] == "/map")
            #expect(try await visitor.get("/offline").text.components(separatedBy: "/delete\"").count == 2)
        }
    }

    @Test func aCopyOfAnAreaThatTheAppTookIsRefused() async throws {
        try await Self.with { field, visitor, file in
            try await OfflineField.goOffline(visitor)
            let own = field.deviceFolder.appending(path: "areas/\(OfflineField.id)/area.gpkg")
            #expect(try await visitor.post("/start/file", ["path": own.path])["Location"] == "/map")
            _ = try await visitor.post("/offline/mode", ["area": ""])
            await field.app.stop()
            try FileManager.default.copyItem(at: own, to: file)
            let app = try await RunningApp.start(services: field.services.root, folder: field.deviceFolder)
            do {
                let again = try await PlainClient.visitor(of: app)
                let refused = try await again.post("/start/file", ["path": file.path])
                #expect(refused.text.contains("area.gpkg is a copy of the area Reno"))
                await app.stop()
            } catch {
                await app.stop()
                throw error
            }
        }
    }

    @Test func aFileThatAnotherFieldworkWorksInIsLeftToIt() async throws {
        try await Self.with { field, visitor, file in
            try await FileField.takeAlong(field, to: file)
            let use = try GeodatabaseUse.begin(file)
            let refused = try await visitor.post("/start/file", ["path": file.path])
            #expect(refused.status == 422 && refused.text.contains("open in another Fieldwork"))
            use.end()
            #expect(try await visitor.post("/start/file", ["path": file.path])["Location"] == "/map")
            #expect(throws: CommonError.self) { try GeodatabaseUse.begin(file) }
            use.end()
            #expect(throws: CommonError.self) { try GeodatabaseUse.begin(file) }
        }
    }

    @Test func whatCannotBeOpenedIsToldWithTheReason() async throws {
        try await Self.with { field, visitor, file in
            let folder = field.deviceFolder
            let text = folder.appending(path: "text<b>.gpkg")
            try Data("SQLite format 3".utf8).write(to: text)
            for (typed, reason) in [
                ("", "There is no path yet."), ("area.gpkg", "A path begins with / or ~/."),
                ("/tmp/\u{0}area", "That is not the path of a file."),
                (folder.appending(path: "gone.gpkg").path, "There is no file"),
                (folder.path, "is no file."), ("/dev/zero", "is no file."),
                (text.path, "text&lt;b&gt;.gpkg is no GeoPackage."),
                ("file://elsewhere/area.gpkg", "no address of a file of this device"),
                (folder.appending(path: "areas/area.json").path, "There is no file"),
            ] {
                let page = try await visitor.post("/start/file", ["path": typed])
                #expect(page.status == 422 && page.text.contains(reason), "\(typed): \(page.text)")
                #expect(!page.text.contains("text<b>"))
            }
            #expect(!(try await visitor.get("/start/file").text.contains("text&lt;b&gt;")), "it isn't offered")
            let stranger = try await visitor.post(
                "/start/file", ["path": file.path], fields: ["Origin": "http://evil.example"])
            #expect(stranger.status == 403)
        }
    }

    /// Of no service: asked about once, then edited; all is in the file.
    @Test(.enabled(if: FileField.gdal != nil, "GDAL isn't installed"))
    func aGeoPackageOfNoServiceIsEditedInPlaceAfterTheUserAgreed() async throws {
        try await Self.with { field, visitor, _ in
            let file = field.deviceFolder.appending(path: "Benches.gpkg")
            try await FileField.makeBenches(at: file)
            let before = try Data(contentsOf: file)
            #expect(try await visitor.get("/start/file").text.contains("Of no server · benches"))
            let asked = try await visitor.post("/start/file", ["path": file.path])
            #expect(asked.status == 200 && asked.text.contains("Fieldwork adds to the file what edits need"))
            #expect(try Data(contentsOf: file) == before, "looking changes nothing")
            let opened = try await visitor.post("/start/file", ["path": file.path, "agreed": "yes"])
            #expect(opened["Location"] == "/map")
            let list = try await visitor.get("/list/0").text
            #expect(list.contains("Bench by the pond") && list.contains("File Benches") && list.contains("all saved"))
            let added = try await visitor.post(
                "/add/0", ["lon": "-97.9", "lat": "38.05", "template": "n", "session": "a", "field.name": "New bench"])
            #expect(added.status == 303)
            let page = try await visitor.get(try #require(added["Location"])).text
            #expect(page.contains("In the file") && !page.contains("not sent"))
            let changes = try await visitor.get("/changes").text
            #expect(changes.contains("All saved") && changes.contains("connected to a server"))
            #expect(!changes.contains("Sync now") && !changes.contains("not sent") && !changes.contains("Work online"))
            _ = try await visitor.post("/undo", [:])
            #expect(!(try await visitor.get("/list/0").text.contains("New bench")))
            let offline = try await visitor.get("/offline").text
            #expect(offline.contains("goes nowhere else") && !offline.contains("Sync now"))

            _ = try await visitor.post("/transaction/start", [:])
            _ = try await visitor.post(
                "/add/0", ["lon": "-97.9", "lat": "38.05", "template": "n", "session": "b", "field.name": "Kept bench"])
            let id = try await FileField.area(visitor)
            #expect(try await visitor.post("/offline/\(id)/delete", [:]).status == 409)
            _ = try await visitor.post("/transaction/keep", [:])
            #expect(try await visitor.get("/changes").text.contains("All saved"))
            #expect(try await visitor.post("/offline/\(id)/delete", [:]).status == 303)
            let geodatabase = Geodatabase(fileURL: file)
            try await geodatabase.load()
            let table = try #require(geodatabase.featureTables.first)
            #expect(try await table.queryFeatureCount(using: QueryParameters()) == 3)
            geodatabase.close()
        }
    }

    @Test func theCommandsFileOpensAtTheStart() async throws {
        try await Self.with { field, visitor, file in
            try await FileField.takeAlong(field, to: file)
            await field.app.stop()
            let app = try await RunningApp.start(
                services: field.services.root, folder: field.deviceFolder, file: file)
            do {
                let again = try await PlainClient.visitor(of: app)
                #expect(try await again.get("/list/0").text.contains("Offline, area"))
                await app.stop()
            } catch {
                await app.stop()
                throw error
            }
        }
    }
}
