import BrowserSupport
import Fieldwork
import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import FieldworkTiles
import Foundation
import Testing

@testable import FieldworkCollect

/// Areas taken along, through the app's pages without a script.
@Suite struct OfflineAreaTests {
    private static func with(_ test: (DamageField, PlainClient) async throws -> Void) async throws {
        try await DamageField.with(points: 25, definition: OfflineField.definition()) { field in
            try await test(field, try await PlainClient.visitor(of: field.app))
        }
    }

    @Test func anAreaIsTakenEditedSyncedAndLeftAgainWithoutBeingDeleted() async throws {
        try await Self.with { field, visitor in
            let choosing = try await visitor.get("/offline/new")
            // The frame leaves a margin of the view: it holds 20 of the 25 in a row.
            #expect(choosing.text.contains("20 features"))
            try await OfflineField.goOffline(visitor)
            let list = try await visitor.get("/list/0")
            #expect(list.text.contains("Cause 7"))
            #expect(!list.text.contains("Cause 25"))
            #expect(list.text.contains("Offline, Reno"))

            await field.services.stop()
            let added = try await OfflineField.add(visitor, "a")
            #expect(added.status == 303)
            let page = try await visitor.get(try #require(added["Location"]))
            #expect(page.text.contains("On this device, not sent"))
            try await field.services.comeBack()
            #expect(try await field.serverFeatures().count == 25)

            try await OfflineField.sync(visitor)
            #expect(try await field.serverFeatures().count == 26)
            #expect(try await visitor.get("/offline").text.contains("Last sync today"))

            _ = try await visitor.post("/offline/mode", ["area": ""])
            let online = try await visitor.get("/offline")
            #expect(online.text.contains("Edits go to the server at once."))
            #expect(online.text.contains("Reno"))
            #expect(try await visitor.get("/list/0").text.contains("Cause 25"))
        }
    }

    @Test("A delete that was taken back before the sync deletes nothing on the server")
    func takenBackDelete() async throws {
        try await Self.with { field, visitor in
            let before = try await field.serverFeatures()
            let first = try #require(before.min { $0.objectID < $1.objectID })
            let address = "/f/0/\(try #require(first.globalID).uuidString.lowercased())"
            try await OfflineField.goOffline(visitor)
            let deleted = try await visitor.post("\(address)/delete", ["session": "d"])
            let edit = try #require(deleted["Location"]?.split(separator: "edit=").last)
            #expect(try await visitor.post("/undo/\(edit)", ["back": "/map"]).status == 303)
            try await OfflineField.sync(visitor)
            let after = try await field.serverFeatures()
            #expect(after.count == before.count)
            let same = try #require(after.first { $0.globalID == first.globalID })
            #expect(same.attributes["primcause"] == first.attributes["primcause"])
            #expect(try #require(same.geometry).isEqual(to: try #require(first.geometry), tolerance: 0.001))
        }
    }

    /// How a delete is taken back.
    enum WayBack: CaseIterable {
        case online, onlineWhileTheServerIsAway, inAnArea, inAnAreaAfterASync

        var isOnline: Bool { self == .online || self == .onlineWhileTheServerIsAway }
        /// Whether the server has been told of the delete.
        var isSent: Bool { self != .inAnArea }
    }

    @Test(
        "A feature that was deleted and taken back has its photo once, here and on the server",
        arguments: WayBack.allCases)
    func takenBackWithItsPhoto(_ way: WayBack) async throws {
        var definition = OfflineField.definition()
        definition.layers[0].hasAttachments = true
        try await DamageField.with(points: 4, definition: definition) { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            let feature = try #require(try await field.serverFeatures().min { $0.objectID < $1.objectID })
            var edits = LayerEdits(layerID: 0)
            edits.attachments = AttachmentEdits(adds: [
                FieldworkREST.AttachmentEdit(
                    parent: .objectID(feature.objectID), name: "crack.jpg", contentType: "image/jpeg",
                    content: AttachmentContent(bytes: Array("a photo".utf8)))
            ])
            let added = try await field.store.apply(
                EditBatch(layers: [edits], moment: Date()), to: DamageField.service)
            #expect(!added.hasErrors)
            func served() async throws -> [String] {
                let address = LayerAddress(service: DamageField.service, layerID: 0)
                return try await field.store.attachments(AttachmentQuery(), in: address).attachments.map(\.name)
            }
            try #require(try await served() == ["crack.jpg"])
            let address = "/f/0/\(try #require(feature.globalID).uuidString.lowercased())"
            if !way.isOnline { try await OfflineField.goOffline(visitor) }
            #expect(try await visitor.get("\(address)/edit").text.contains("crack.jpg"))
            let deleted = try await visitor.post("\(address)/delete", ["session": "d"])
            let edit = try #require(deleted["Location"]?.split(separator: "edit=").last)
            if way.isSent { try await OfflineField.sync(visitor) }
            #expect(try await served() == (way.isSent ? [] : ["crack.jpg"]))
            if way == .onlineWhileTheServerIsAway { await field.services.stop() }
            #expect(try await visitor.post("/undo/\(edit)", ["back": "/map"]).status == 303)
            if way == .onlineWhileTheServerIsAway {
                #expect(try await visitor.get("\(address)/edit").text.contains("crack.jpg"))
                try await field.services.comeBack()
            }
            for _ in 0..<2 { try await OfflineField.sync(visitor) }
            #expect(try await served() == ["crack.jpg"], "neither lost nor doubled")
            #expect(try await visitor.get("\(address)/edit").text.split(separator: "crack.jpg").count > 1)
        }
    }

    @Test func theSizeOfAnAreaIsSaidBeforeItIsTakenAndIsAboutRight() async throws {
        try await DamageField.with(points: 2_000, definition: OfflineField.definition()) { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            let edges: KeyValuePairs = [
                "west": "-98.05", "south": "37.95", "east": "-97.5", "north": "85", "name": "All",
                "session": OfflineField.id,
            ]
            let counted = try await visitor.post("/data/area", edges).text
            #expect(counted.contains("2,000 features"))
            let said = try #require(counted.firstMatch(of: /about (\d+) kB/).flatMap { Double($0.1) })
            _ = try await visitor.post("/offline/new", edges)
            try await OfflineField.isHere(visitor)
            let shelf = try AreaShelf(directory: field.deviceFolder.appending(path: "areas"))
            let size = Double(shelf.size(try #require(UUID(uuidString: OfflineField.id)))) / 1_000
            #expect(abs(said - size) < size * 0.25, "said \(said), is \(size)")
        }
    }

    @Test func anAreaGetsAnotherNameAndStaysInUse() async throws {
        try await Self.with { _, visitor in
            try await OfflineField.goOffline(visitor)
            let long = String(repeating: "x", count: FieldworkCollect.Limits.areaName + 1)
            for name in ["  ", long] {
                let refused = try await visitor.post("/offline/\(OfflineField.id)/name", ["name": name])
                #expect(refused.status == 400)
            }
            let renamed = try await visitor.post("/offline/\(OfflineField.id)/name", ["name": " North <b>side</b> "])
            #expect(renamed.status == 303)
            let page = try await visitor.get("/offline").text
            #expect(page.contains("Offline, North &lt;b&gt;side&lt;/b&gt;"))
            #expect(page.contains("In use"))
            #expect(!page.contains("Reno"))
            _ = try await visitor.post("/offline/mode", ["area": ""])
            #expect(try await visitor.get("/changes").text.contains("Work offline in North &lt;b&gt;side&lt;/b&gt;"))
        }
    }

    @Test func anAreaIsChosenByTheNameOfAPolygonOfTheMap() async throws {
        try await OfflineField.withDistrict("O’Hara's \"West\"") { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            #expect(try await visitor.get("/offline/new?place=nowhere").text.contains("No place of this map is called"))
            let found = try await visitor.get("/offline/new?place=hara%27s").text
            let link = try #require(found.firstMatch(of: /href="(\/offline\/new\?west=[^"]+)"/)).1
            let chosen = try await visitor.get(String(link).replacingOccurrences(of: "&amp;", with: "&")).text
            #expect(chosen.contains(#"name="west" inputmode="decimal" autocomplete="off" value="-97.95""#))
            #expect(chosen.contains(#"data-fit="-97.95,38.05,"#))
            #expect(chosen.contains("5 features"), "four points and the district")
            #expect(chosen.contains("O’Hara&#39;s &quot;West&quot;"))
        }
    }

    @Test func aPhotoAloneThatWasNotSentGuardsItsArea() async throws {
        var definition = OfflineField.definition()
        definition.layers[0].hasAttachments = true
        try await DamageField.with(points: 2, definition: definition) { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            try await OfflineField.goOffline(visitor)
            await field.app.stop()
            let shelf = try AreaShelf(directory: field.deviceFolder.appending(path: "areas"))
            let area = try #require(UUID(uuidString: OfflineField.id).flatMap(shelf.area))
            let geodatabase = Geodatabase(fileURL: try #require(shelf.files(area.id).first).url)
            try await geodatabase.load()
            let table = try #require(geodatabase.featureTables.first)
            let found = try await table.queryFeatures(using: QueryParameters()).features()
            let feature = try #require(found.first { _ in true } as? ArcGISFeature)
            _ = try await feature.addAttachment(
                named: "photo.jpg", contentType: "image/jpeg", data: Data("a photo".utf8))
            geodatabase.close()
            let app = try await RunningApp.start(services: field.services.root, folder: field.deviceFolder)
            do {
                let visitor = try await PlainClient.visitor(of: app)
                let asked = try await visitor.get("/offline/\(OfflineField.id)/delete")
                #expect(asked.text.contains("1 edit was not sent."))
                #expect(try await visitor.post("/offline/\(OfflineField.id)/delete", [:]).status == 409)
                await app.stop()
            } catch {
                await app.stop()
                throw error
            }
            #expect(shelf.isHere(area.id))
        }
    }

    @Test func anAreaWithUnsentEditsIsNotDeletedInOneStep() async throws {
        try await Self.with { field, visitor in
            try await OfflineField.goOffline(visitor)
            _ = try await OfflineField.add(visitor, "a")
            let asked = try await visitor.get("/offline/\(OfflineField.id)/delete")
            #expect(asked.text.contains("1 edit was not sent."))
            let refused = try await visitor.post("/offline/\(OfflineField.id)/delete", [:])
            #expect(refused.status == 409)
            #expect(refused.text.contains("Nothing was deleted"))
            #expect(try await visitor.get("/list/0").text.contains("Offline, Reno"))

            try await OfflineField.sync(visitor)
            let deleted = try await visitor.post("/offline/\(OfflineField.id)/delete", [:])
            #expect(deleted.status == 303)
            let after = try await visitor.get("/offline")
            #expect(after.text.contains("No area on this device yet."))
            #expect(try await field.serverFeatures().count == 26)
        }
    }

    @Test func aPlaceOutsideTheAreaIsToldOnThePageWhereItWasChosen() async throws {
        try await Self.with { _, visitor in
            try await OfflineField.goOffline(visitor)
            let outside = try await OfflineField.add(visitor, "a", lon: "-97.60", lat: "38.40")
            #expect(outside.status == 422)
            #expect(outside.text.contains("is outside the area Reno"))
            #expect(outside.text.contains("value=\"-97.60\""))
            #expect(try await visitor.get("/changes").text.contains("Everything is sent"))
        }
    }

    @Test func theWorkGoesOnInTheAreaAfterARestart() async throws {
        try await Self.with { field, visitor in
            try await OfflineField.goOffline(visitor)
            _ = try await OfflineField.add(visitor, "a")
            await field.services.stop()
            try await field.restartedApp { app in
                let again = try await PlainClient.visitor(of: app)
                let list = try await again.get("/list/0")
                #expect(list.text.contains("Offline, Reno"))
                #expect(list.text.contains("Earthquake"))
                #expect(list.text.contains("1 not sent"))
            }
            try await field.services.comeBack()
        }
    }

    @Test func aServiceWithoutTheCapabilitySyncSaysSoAndOffersNothing() async throws {
        try await DamageField.with(points: 1) { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            let page = try await visitor.get("/offline")
            #expect(page.text.contains("its service doesn&#39;t have the capability Sync"))
            #expect(!page.text.contains("href=\"/offline/new\""))
            #expect(try await visitor.post("/offline/new", OfflineField.edges).status == 409)
        }
    }

    @Test func edgesThatEncloseNothingAreTurnedBackWithWhatWasTyped() async throws {
        try await Self.with { _, visitor in
            let wrong = try await visitor.post(
                "/offline/new", ["west": "-97", "south": "38", "east": "-98", "north": "39", "name": "<b>Reno</b>"])
            #expect(wrong.status == 422)
            #expect(wrong.text.contains("These edges enclose no area"))
            #expect(wrong.text.contains("&lt;b&gt;Reno&lt;/b&gt;"))
            #expect(wrong.text.contains("value=\"-97\""))
        }
    }
}
