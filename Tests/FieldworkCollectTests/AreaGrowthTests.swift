import BrowserSupport
import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import Testing

@testable import FieldworkCollect

/// Areas that are extended: the larger one takes the place of the smaller one when it is whole, and nothing is lost on the way.
@Suite struct AreaGrowthTests {
    private static let id = "11d0b5de-6f3c-4f7a-8a55-1a2b3c4d5e6f"
    /// All 25 points.
    private static let edges: KeyValuePairs = [
        "west": "-98.05", "south": "37.95", "east": "-97.55", "north": "38.45", "session": id,
    ]

    private static func with(_ test: (DamageField, PlainClient) async throws -> Void) async throws {
        try await DamageField.with(points: 25, definition: OfflineField.definition()) { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            try await OfflineField.goOffline(visitor)
            try await test(field, visitor)
        }
    }

    private static func online(_ visitor: PlainClient) async throws {
        _ = try await visitor.post("/offline/mode", ["area": ""])
    }

    private static func extend(_ visitor: PlainClient) async throws {
        let begun = try await visitor.post("/offline/\(OfflineField.id)/extend", edges)
        #expect(begun["Location"] == "/jobs/\(id)")
    }

    /// Looks at the extension until its page says something.
    private static func job(_ visitor: PlainClient, says text: String) async throws {
        for _ in 0..<600 {
            let page = try await visitor.get("/jobs/\(id)").text
            if page.contains(text) { return }
            try #require(!page.contains("The download stopped"), "\(page)")
            try await Task.sleep(for: .milliseconds(50))
        }
        Issue.record("The extension never said: \(text)")
    }

    private static func replicas(_ field: DamageField, are count: Int) async throws {
        var live = 0
        for _ in 0..<200 {
            live = try await field.store.replicas(of: DamageField.service).count { $0.state == .live }
            if live == count { return }
            try await Task.sleep(for: .milliseconds(50))
        }
        #expect(live == count)
    }

    private static func files(_ field: DamageField) throws -> [String] {
        let areas = field.deviceFolder.appending(path: "areas")
        return try FileManager.default.subpathsOfDirectory(atPath: areas.path).filter { $0.hasSuffix(".gpkg") }
    }

    @Test func aLargerAreaTakesThePlaceOfItsAreaWithItsNameAndWhatCanBeUndone() async throws {
        try await Self.with { field, visitor in
            _ = try await visitor.post("/offline/\(OfflineField.id)/name", ["name": "Reno, west"])
            _ = try await OfflineField.add(visitor, "a")
            try await Self.online(visitor)
            let page = try await visitor.get("/offline/\(OfflineField.id)/extend").text
            #expect(page.contains("Extend Reno, west") && page.contains("What Reno, west holds stays in it."))
            #expect(page.contains("4 features") && !page.contains("This overlaps"))
            try await Self.extend(visitor)
            try await Self.job(visitor, says: "Reno, west is larger now.")
            #expect(try await field.serverFeatures().count == 26, "what was not sent was sent")

            let mode = try await visitor.post("/offline/mode", ["area": OfflineField.id])
            #expect(mode.status == 303)
            await field.services.stop()
            let list = try await visitor.get("/list/0?scope=all").text
            #expect(list.contains("26 ") && list.contains("Cause 25") && list.contains("Offline, Reno, west"))
            // What was done before can be taken back, in the other file.
            let undo = try #require(try await visitor.get("/changes").text.firstMatch(of: /action="(\/undo\/[^"]+)"/)).1
            #expect(try await visitor.post(String(undo), [:]).status == 303)
            // A place that was outside of the area is in it now.
            #expect(try await OfflineField.add(visitor, "b", lon: "-97.60", lat: "38.40").status == 303)
            try await field.services.comeBack()
            try await OfflineField.sync(visitor)
            #expect(try await field.serverFeatures().count == 26)
            try await Self.replicas(field, are: 1)
            #expect(try Self.files(field) == ["\(Self.id)/area.gpkg"])

            try await Self.online(visitor)
            let within = try await visitor.post("/offline/\(OfflineField.id)/extend", OfflineField.edges)
            #expect(within.status == 422)
            #expect(within.text.contains("holds all of this already."))
            // The folder that holds the file is no area of its own.
            for path in ["/offline/\(Self.id)/delete", "/offline/\(Self.id)/name"] {
                #expect(try await visitor.post(path, ["name": "x", "lose": "yes"]).status == 404)
            }
            _ = try await visitor.post("/offline/\(OfflineField.id)/delete", [:])
            #expect(try Self.files(field).isEmpty)
            try await Self.replicas(field, are: 0)
        }
    }

    /// A transaction that is open keeps the area as it is; so does a restart. Ended, its edits go on in the larger area.
    @Test func whatIsNotSentKeepsTheAreaInUseUntilItIs() async throws {
        try await Self.with { field, visitor in
            _ = try await visitor.post("/transaction/start", [:])
            _ = try await OfflineField.add(visitor, "a")
            try await Self.online(visitor)
            try await Self.extend(visitor)
            try await Self.job(visitor, says: "A transaction is open in Reno.")
            #expect(try await visitor.get("/offline").text.contains("Larger: all is here"))
            #expect(try await field.serverFeatures().count == 25)
            try await field.restartedApp { app in
                let again = try await PlainClient.visitor(of: app)
                try await Self.job(again, says: "A transaction is open in Reno.")
                _ = try await again.post("/offline/mode", ["area": OfflineField.id])
                #expect(!(try await again.get("/list/0?scope=all").text.contains("Cause 25")))
                _ = try await again.post("/transaction/go-on", [:])
                _ = try await again.post("/transaction/keep", [:])
                _ = try await again.post("/jobs/\(Self.id)/use", [:])
                try await Self.job(again, says: "Reno is larger now.")
                // It was on show, and still is.
                let list = try await again.get("/list/0?scope=all").text
                #expect(list.contains("Offline, Reno") && list.contains("Cause 25"))
                #expect(try await field.serverFeatures().count == 26)
                try await Self.replicas(field, are: 1)
            }
        }
    }

    /// At the start the larger area takes its place while the area is opened and edited: no edit goes into the file that goes.
    @Test func whatIsEditedWhileTheFilesChangeIsInTheAreaOrRefused() async throws {
        try await Self.with { field, visitor in
            _ = try await visitor.post("/transaction/start", [:])
            _ = try await OfflineField.add(visitor, "a")
            try await Self.online(visitor)
            try await Self.extend(visitor)
            try await Self.job(visitor, says: "A transaction is open in Reno.")
            _ = try await visitor.post("/offline/mode", ["area": OfflineField.id])
            _ = try await visitor.post("/transaction/keep", [:])
            try await field.restartedApp { app in
                let again = try await PlainClient.visitor(of: app)
                var kept = 0
                for number in 0..<12 {
                    let longitude = "\(-97.95 + Double(number) * 1e-3)"
                    let added = try await OfflineField.add(again, "c\(number)", lon: longitude)
                    if added.status == 303 { kept += 1 }
                }
                try await Self.job(again, says: "Reno is larger now.")
                try await OfflineField.sync(again)
                #expect(try await field.serverFeatures().count == 26 + kept)
                #expect(kept > 0)
            }
        }
    }

    @Test func aCancelledExtensionLeavesTheAreaAsItWas() async throws {
        try await Self.with { field, visitor in
            _ = try await visitor.post("/transaction/start", [:])
            _ = try await OfflineField.add(visitor, "a")
            try await Self.online(visitor)
            try await Self.extend(visitor)
            try await Self.job(visitor, says: "A transaction is open in Reno.")
            #expect(try await visitor.post("/jobs/\(Self.id)/cancel", [:]).status == 303)
            #expect(try Self.files(field) == ["\(OfflineField.id)/area.gpkg"])
            try await Self.replicas(field, are: 1)
            _ = try await visitor.post("/offline/mode", ["area": OfflineField.id])
            _ = try await visitor.post("/transaction/keep", [:])
            try await OfflineField.sync(visitor)
            #expect(try await field.serverFeatures().count == 26)
        }
    }

    @Test func aFrameThatOverlapsAnAreaOffersToExtendIt() async throws {
        try await Self.with { _, visitor in
            try await Self.online(visitor)
            let asked = "west=-97.9&south=38&east=-97.7&north=38.3"
            let page = try await visitor.get("/offline/new?\(asked)").text
            let link = try #require(page.firstMatch(of: /<a href="(\/offline\/[^"]+)" data-panel>Extend Reno/)).1
            let extending = try await visitor.get(String(link).replacingOccurrences(of: "&amp;", with: "&")).text
            // The frame holds both.
            for (edge, value) in [("west", "-98.05"), ("south", "37.95"), ("east", "-97.7"), ("north", "38.3")] {
                #expect(
                    extending.contains(#"name="\#(edge)" inputmode="decimal" autocomplete="off" value="\#(value)""#))
            }
            let apart = try await visitor.get("/offline/new?west=-97.7&south=38.2&east=-97.5&north=38.4").text
            #expect(!apart.contains("This overlaps"))
        }
    }

    /// A process that ends between the steps leaves nothing that is taken for something else.
    @Test func theShelfKnowsWhichFileIsInUseAfterEachStep() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "fieldwork-shelf-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let shelf = try AreaShelf(directory: folder)
        func area(_ seconds: Double, extends: UUID? = nil) throws -> OfflineArea {
            let area = OfflineArea(
                id: UUID(), name: "Reno", mapKey: "m", mapTitle: "M", service: folder, west: 0, south: 0,
                east: extends == nil ? 1 : 2, north: 1, made: Date(timeIntervalSince1970: seconds), extends: extends)
            try shelf.put(area, jobs: [Data("{}".utf8)])
            try Data("x".utf8).write(to: try #require(shelf.ownFiles(area.id).first).url)
            return area
        }
        let first = try area(1)
        let second = try area(2, extends: first.id)
        #expect(shelf.areas().map(\.id) == [first.id])
        #expect(shelf.growth(of: first)?.id == second.id)
        #expect(shelf.leftovers().isEmpty)
        #expect(shelf.files(first.id) == shelf.ownFiles(first.id))

        try shelf.grow(first, into: second)
        let grown = try #require(shelf.area(first.id))
        #expect(shelf.files(first.id) == shelf.ownFiles(second.id))
        #expect(grown.east == 2 && shelf.growth(of: grown) == nil)
        #expect(shelf.leftovers() == [first.id])
        try shelf.removeLeftover(first.id)
        #expect(shelf.leftovers().isEmpty && shelf.isHere(first.id))

        // Once more: the holder before is left over, the area's own folder stays.
        let third = try area(3, extends: first.id)
        #expect(shelf.growth(of: grown)?.id == third.id)
        try shelf.grow(grown, into: third)
        #expect(shelf.leftovers() == [second.id])
        try shelf.removeLeftover(second.id)
        #expect(shelf.isHere(first.id) && shelf.areas().map(\.id) == [first.id])
        // Without its area a holder is nobody's.
        try shelf.remove(first.id)
        #expect(shelf.leftovers() == [third.id])
    }

    @Test("Photos that are on the device already come from there: of an area that holds at least half of the new one")
    func photos() async throws {
        var definition = OfflineField.definition()
        definition.layers[0].hasAttachments = true
        try await DamageField.with(points: 25, definition: definition) { field in
            let first = try #require(try await field.serverFeatures().first)
            let photo = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 7) }
            var edits = LayerEdits(layerID: 0)
            edits.attachments = AttachmentEdits(adds: [
                FieldworkREST.AttachmentEdit(
                    parent: .objectID(first.objectID), name: "porch.jpg", contentType: "image/jpeg",
                    content: AttachmentContent(bytes: photo))
            ])
            _ = try await field.store.apply(EditBatch(layers: [edits], moment: Date.now), to: DamageField.service)
            let visitor = try await PlainClient.visitor(of: field.app)
            try await OfflineField.goOffline(visitor)
            try await Self.online(visitor)
            let shelf = try AreaShelf(directory: field.deviceFolder.appending(path: "areas"))
            let area = try #require(UUID(uuidString: OfflineField.id).flatMap(shelf.area))
            let (service, file) = (area.service, try #require(shelf.files(area.id).first).url)
            // A quarter more, and five times as much.
            for (east, sources) in [(area.east + 0.05, [file]), (area.east + 0.8, [])] {
                let larger = OfflineArea(
                    id: UUID(), name: "", mapKey: area.mapKey, mapTitle: "", service: service, west: area.west,
                    south: area.south, east: east, north: area.north, made: Date())
                #expect(shelf.overlappingFiles(of: service, with: larger) == sources)
            }
            let begun = try await visitor.post(
                "/offline/\(OfflineField.id)/extend",
                ["west": "-98.05", "south": "37.95", "east": "-97.8", "north": "38.15", "session": Self.id])
            #expect(begun["Location"] == "/jobs/\(Self.id)")
            let job = try #require(UUID(uuidString: Self.id).flatMap { shelf.job($0, file: 0) })
            let state = try JSONParser.parse(job)["parameters"]
            #expect(state?["attachmentSources"]?.arrayValue?.compactMap(\.stringValue) == [file.path])
            try await Self.job(visitor, says: "Reno is larger now.")
            #expect(try await visitor.post("/offline/mode", ["area": OfflineField.id]).status == 303)
            await field.services.stop()
            let id = try #require(first.globalID).uuidString.lowercased()
            #expect(try await visitor.get("/f/0/\(id)").text.contains("porch.jpg"))
        }
    }
}
