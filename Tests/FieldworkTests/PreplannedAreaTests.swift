import FieldworkGeometry
import FieldworkPortal
import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

@testable import Fieldwork

@Suite("Areas that are prepared", .fewAtATime)
struct PreplannedAreaTests {
    @Test("Two crews get the same file, edit offline, and nothing is lost or doubled; a third person's edits arrive")
    func twoCrews() async throws {
        try await AreaPortal.with { portal in
            let made = try await portal.prepare()
            #expect(made.services == 1 && made.size > 0 && made.reasons.isEmpty)
            let prepared = try #require(try await portal.replicas().first)
            #expect(prepared.definition.preparedScope != nil)
            // Changed after the file was made: both crews get it with their first synchronisation.
            try await portal.edit(1, cause: "Desk")
            try await portal.own.signIn("ben")
            let (north, south) = (try await portal.download("north"), try await portal.download("south"))
            defer { for result in [north, south] { result.mobileMapPackage.close() } }
            #expect(!north.hasErrors && !south.hasErrors)
            // No row was read for them: the file is the one that was made before.
            let before = try await north.causes()
            #expect(before.count == 10 && before.contains("Cause 0") && !before.contains("Desk"))
            #expect(try await south.causes() == before)
            let ids = try await portal.replicas().map(\.definition.id)
            #expect(Set(ids).count == 3)
            let own = [north, south].compactMap { $0.mobileMapPackage.geodatabases.first?.syncID }
            #expect(Set(own).count == 2 && !own.contains(prepared.definition.id))

            try await north.add("From north")
            try await south.add("From south")
            #expect(try await portal.sync(north.offlineMap).hasErrors == false)
            try await portal.edit(2, cause: "Desk again")
            #expect(try await portal.sync(south.offlineMap).hasErrors == false)
            #expect(try await portal.sync(north.offlineMap).hasErrors == false)
            let served = try await portal.served()
            #expect(served.count == 22 && served.count { $0 == "From north" } == 1)
            #expect(served.count { $0 == "From south" } == 1)
            let expected = before.filter { !["Cause 0", "Cause 1"].contains($0) }
            let after = (expected + ["Desk", "Desk again", "From north", "From south"]).sorted()
            #expect(try await north.causes() == after)
            #expect(try await south.causes() == after)
        }
    }

    @Test("The areas of a map are listed with what they are; one whose files are not ready can't be downloaded")
    func listing() async throws {
        try await AreaPortal.with { portal in
            #expect(try await portal.task().preplannedMapAreas.isEmpty)
            let made = try await portal.prepare()
            try await portal.own.signIn("vera")
            let area = try #require(try await portal.task().preplannedMapAreas.first)
            #expect(area.portalItem.title == "North" && area.packagingStatus == nil && area.contentItems.isEmpty)
            try await area.load()
            #expect(area.packagingStatus == .complete && area.contentItems.count == 1)
            #expect(area.contentSize == made.size && area.packagingDate != nil)
            let extent = try #require(area.areaOfInterest?.extent)
            #expect(abs(extent.xMin - OfflineService.area.xMin) < 0.01)
            try await portal.map.reread()
            #expect(portal.map.typeKeywords.contains("Offline"))

            let other = try #require(URL(string: "http://127.0.0.1/arcgis/rest/services/Other/FeatureServer"))
            #expect(try await area.makeGenerateGeodatabaseParameters(of: other) == nil)
            for end in ["", "/"] {
                let service = try #require(URL(string: portal.own.service.rootURL.absoluteString + end))
                let ready = try #require(try await area.makeGenerateGeodatabaseParameters(of: service))
                #expect(ready.reference != nil && ready.layerOptions.map(\.layerID) == [0])
            }

            for (status, isKnown) in [("processing", true), ("failed", true)] {
                var change = ItemChange()
                change.others["properties"] = ["status": .string(status)]
                try await portal.own.store.updateItem(
                    made.area.rawValue, change, for: .everybody, by: Author(name: "test", address: ""))
                let unready = PreplannedMapArea(portalItem: area.portalItem)
                await #expect {
                    try await unready.load()
                } throws: { error in
                    if case MappingError.packagingNotComplete = error { true } else { false }
                }
                #expect((unready.packagingStatus != nil) == isKnown)
            }
        }
    }

    @Test("A download that was broken off goes on in another process, under the same replica")
    func broken() async throws {
        try await AreaPortal.with { portal in
            try await portal.prepare()
            let first = try await portal.job("crew")
            let state = first.toJSON()
            first.start()
            let note = portal.folder("crew.making").appending(path: "data.gpkg.job")
            for _ in 0..<2_000 where !FileManager.default.fileExists(atPath: note.path) {
                try await Task.sleep(for: .milliseconds(1))
            }
            first.pause()
            let again = try DownloadPreplannedOfflineMapJob(
                snapshot: try JSONParser.parse(state), environment: portal.own.environment())
            #expect(again.parameters.preplannedMapArea.portalItem.id != nil)
            again.start()
            let result = try await again.output
            defer { result.mobileMapPackage.close() }
            #expect(try await result.causes().count == 10)
            // The prepared one and the crew's.
            #expect(try await portal.replicas().count == 2)
            #expect(try MobileMapPackage.damage(fileURL: portal.folder("crew")).isEmpty)
        }
    }

    @Test("An area that is prepared anew gives newer files; who has the former ones goes on with them")
    func renewal() async throws {
        try await AreaPortal.with { portal in
            try await portal.prepare()
            let former = try await portal.download("former")
            defer { former.mobileMapPackage.close() }
            let begun = try await portal.job("begun")
            try await portal.edit(1, cause: "Newer")
            let area = try #require(try await portal.task().preplannedMapAreas.first)
            _ = try await MapAreaMaker(map: portal.map).update(area)
            #expect(try await portal.replicas([.retired]).count == 1)
            let newer = try await portal.download("newer")
            defer { newer.mobileMapPackage.close() }
            #expect(try await newer.causes().contains("Newer"))
            #expect(try await !former.causes().contains("Newer"))
            // It read the area before, and takes what there is now.
            begun.start()
            let late = try await begun.output
            defer { late.mobileMapPackage.close() }
            #expect(try await late.causes().contains("Newer"))
            try await former.add("From the former file")
            #expect(try await portal.sync(former.offlineMap).hasErrors == false)
            #expect(try await former.causes().contains("Newer"))
            #expect(try await portal.served().count { $0 == "From the former file" } == 1)

            try await MapAreaMaker(map: portal.map).delete(
                try #require(try await portal.task().preplannedMapAreas.first))
            #expect(try await portal.task().preplannedMapAreas.isEmpty)
            #expect(try await portal.replicas().allSatisfy { $0.definition.preparedScope == nil })
            #expect(try await portal.sync(newer.offlineMap).hasErrors == false)
        }
    }

    @Test("An area that is never synchronised registers nothing with its services")
    func withoutUpdates() async throws {
        try await AreaPortal.with { portal in
            try await portal.prepare()
            let result = try await portal.download("copy") { $0.updateMode = .noUpdates }
            defer { result.mobileMapPackage.close() }
            #expect(try await result.causes().count == 10)
            #expect(result.mobileMapPackage.geodatabases.first?.syncID == nil)
            #expect(try await portal.replicas().count == 1)
            #expect(try await portal.sync(result.offlineMap).layerResults.isEmpty)
        }
    }

    @Test("Who sees the map and may not read its features gets none of them")
    func withoutRight() async throws {
        try await AreaPortal.with { portal in
            try await portal.prepare()
            let service = try await portal.own.store.facts(ofService: portal.own.service.name.path).id
            _ = try await portal.own.store.share(
                service, organisation: false, for: .everybody, by: Author(name: "test", address: ""))
            try await portal.own.signIn("vera")
            await #expect(throws: (any Error).self) { _ = try await portal.download("secret") }
            #expect(!FileManager.default.fileExists(atPath: portal.folder("secret").path))
            let left = FileManager.default.enumerator(atPath: portal.folder("secret.making").path)
            #expect((left?.allObjects as? [String] ?? []).allSatisfy { !$0.contains(".gpkg") || $0.hasSuffix(".job") })
            #expect(try await portal.replicas().count == 1)
        }
    }
}
