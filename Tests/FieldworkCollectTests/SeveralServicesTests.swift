import BrowserSupport
import FieldworkREST
import FieldworkStore
import Foundation
import Testing

@testable import Fieldwork
@testable import FieldworkCollect

/// An area of a map that shows the features of two services, both of which number their layers from 0.
@Suite struct SeveralServicesTests {
    private static let edges: KeyValuePairs = [
        "west": "-122.635", "south": "45.56", "east": "-122.626", "north": "45.572", "name": "Concordia",
        "session": OfflineField.id,
    ]

    private static func take(_ visitor: PlainClient) async throws {
        let taken = try await visitor.post("/offline/new", edges)
        #expect(taken["Location"] == "/jobs/\(OfflineField.id)", "\(taken.text)")
        try await OfflineField.isHere(visitor)
    }

    private static func goOffline(_ visitor: PlainClient) async throws {
        try await take(visitor)
        #expect(try await visitor.post("/offline/mode", ["area": OfflineField.id]).status == 303)
    }

    /// Edits a tree and adds a hydrant, in the area.
    private static func edit(_ visitor: PlainClient) async throws {
        let tree = "\(TreesField.address(0))/edit"
        #expect(try await visitor.post(tree, ["field.DBH": "44", "session": "t"]).status == 303)
        let added = try await visitor.post(
            "/add/\(HydrantsField.layer)/form",
            ["lon": "-122.629", "lat": "45.566", "template": "n", "field.Name": "Hydrant 4", "session": "h"])
        #expect(added.status == 303, "\(added.text)")
    }

    @Test("Both services come along, each in its file; what is edited in one layer 0 goes to its own service")
    func bothComeAlong() async throws {
        try await HydrantsField.with { field, visitor in
            try await Self.goOffline(visitor)
            #expect(try field.files() == ["\(OfflineField.id)/area-2.gpkg", "\(OfflineField.id)/area.gpkg"])
            #expect(try await field.replicas() == [1, 1])
            await field.services.stop()
            await field.trees.services.stop()
            let map = try await visitor.get("/list/0?scope=all").text
            #expect(map.contains("3250 NE Ainsworth St"))
            #expect(try await visitor.get("/list/\(HydrantsField.layer)?scope=all").text.contains("Hydrant 2"))
            try await Self.edit(visitor)
            #expect(try await visitor.get("/changes").text.contains("2 edits"))

            try await field.services.comeBack()
            try await field.trees.services.comeBack()
            try await OfflineField.sync(visitor)
            #expect(try await field.trees.tree(0)?.attributes["DBH"] == .real(44))
            #expect(try await field.hydrants().count == 4)
            #expect(try await field.trees.rows(of: 0).count == 6)

            _ = try await visitor.post("/offline/\(OfflineField.id)/delete", [:])
            #expect(try field.files().isEmpty)
            #expect(try await field.replicas() == [0, 0])
        }
    }

    @Test("A service that can't be reached keeps the other from nothing, and is named")
    func oneServiceIsDown() async throws {
        try await HydrantsField.with { field, visitor in
            try await Self.goOffline(visitor)
            try await Self.edit(visitor)
            await field.services.stop()
            _ = try await visitor.post("/sync", [:])
            var page = ""
            for _ in 0..<600 {
                page = try await visitor.get("/changes").text
                if page.contains("Not all of the area was synced.") { break }
                try await Task.sleep(for: .milliseconds(50))
            }
            #expect(page.contains("Not all of the area was synced.") && page.contains("Hydrants: "), "\(page)")
            let parts = page.components(separatedBy: "On the server")
            #expect(parts.count == 2 && page.contains("1 edit"), "\(page)")
            #expect(parts.first?.contains("Hydrant 4") == true && parts.last?.contains("Hydrant 4") == false, "\(page)")
            #expect(try await field.trees.tree(0)?.attributes["DBH"] == .real(44))
            // What waits can't be deleted without a word.
            let refused = try await visitor.post("/offline/\(OfflineField.id)/delete", [:])
            #expect(refused.status == 409 && refused.text.contains("1 edit"))

            try await field.services.comeBack()
            try await OfflineField.sync(visitor)
            #expect(try await field.hydrants().count == 4)
        }
    }

    @Test("A download that ended between two files goes on with the second")
    func theDownloadGoesOn() async throws {
        try await HydrantsField.with { field, visitor in
            try await Self.take(visitor)
            await field.trees.app.stop()
            let areas = field.trees.deviceFolder.appending(path: "areas/\(OfflineField.id)")
            for name in try FileManager.default.contentsOfDirectory(atPath: areas.path) where name.hasPrefix("area-2.")
            {
                try FileManager.default.removeItem(at: areas.appending(path: name))
            }
            let first = areas.appending(path: "area.gpkg")
            let before = try FileManager.default.attributesOfItem(atPath: first.path)[.systemFileNumber] as? Int
            try await field.trees.restartedApp { app in
                let again = try await PlainClient.visitor(of: app)
                try await OfflineField.isHere(again)
                let now = try FileManager.default.attributesOfItem(atPath: first.path)[.systemFileNumber] as? Int
                #expect(now == before)
                _ = try await again.post("/offline/mode", ["area": OfflineField.id])
                #expect(try await again.get("/list/\(HydrantsField.layer)?scope=all").text.contains("Hydrant 2"))
            }
        }
    }

    @Test("An area of which a file is missing is not thrown away with edits in the other one unless that is said")
    func aFileIsMissing() async throws {
        try await HydrantsField.with { field, visitor in
            try await Self.goOffline(visitor)
            try await Self.edit(visitor)
            await field.trees.app.stop()
            let areas = field.trees.deviceFolder.appending(path: "areas/\(OfflineField.id)")
            for name in try FileManager.default.contentsOfDirectory(atPath: areas.path) where name.hasPrefix("area-2.")
            {
                try FileManager.default.removeItem(at: areas.appending(path: name))
            }
            await field.services.stop()
            try await field.trees.restartedApp { app in
                let again = try await PlainClient.visitor(of: app)
                let cancelled = try await again.post("/jobs/\(OfflineField.id)/cancel", [:])
                #expect(cancelled["Location"] == "/offline/\(OfflineField.id)/delete")
                #expect(try await again.post("/offline/\(OfflineField.id)/delete", [:]).status == 409)
                #expect(try field.files() == ["\(OfflineField.id)/area.gpkg"])
            }
        }
    }

    @Test("A map of which one service has no Sync can't be taken offline, and the service is named")
    func oneServiceCannotSync() async throws {
        try await HydrantsField.with(canSync: false) { field, visitor in
            let page = try await visitor.get("/offline").text
            #expect(page.contains("be taken offline: Hydrants doesn"), "\(page)")
            #expect(try await visitor.post("/offline/new", Self.edges).status == 409)
            #expect(try field.files().isEmpty)
        }
    }

    @Test("A larger area takes the place of both files, and no replica of the smaller one stays")
    func anAreaOfTwoServicesGrows() async throws {
        let id = "11d0b5de-6f3c-4f7a-8a55-1a2b3c4d5e6f"
        try await HydrantsField.with { field, visitor in
            try await Self.goOffline(visitor)
            try await Self.edit(visitor)
            _ = try await visitor.post("/offline/mode", ["area": ""])
            let larger = try await visitor.post(
                "/offline/\(OfflineField.id)/extend",
                ["west": "-122.65", "south": "45.55", "east": "-122.6", "north": "45.58", "session": id])
            #expect(larger["Location"] == "/jobs/\(id)", "\(larger.text)")
            var page = ""
            for _ in 0..<600 {
                page = try await visitor.get("/jobs/\(id)").text
                if page.contains("Concordia is larger now.") { break }
                try await Task.sleep(for: .milliseconds(50))
            }
            #expect(page.contains("Concordia is larger now."), "\(page)")
            for _ in 0..<200 where try await field.replicas() != [1, 1] {
                try await Task.sleep(for: .milliseconds(50))
            }
            #expect(try await field.replicas() == [1, 1])
            #expect(try field.files() == ["\(id)/area-2.gpkg", "\(id)/area.gpkg"])
            #expect(try await field.hydrants().count == 4, "what was not sent was sent")
            _ = try await visitor.post("/offline/mode", ["area": OfflineField.id])
            #expect(try await visitor.get("/list/\(HydrantsField.layer)?scope=all").text.contains("4 "))
            #expect(try await visitor.get("/list/0?scope=all").text.contains("6 trees"))
        }
    }

    /// The files of the area, opened without the app.
    private static func open(_ field: HydrantsField) async throws -> OpenMap {
        let device = field.trees.deviceFolder
        let shelf = try AreaShelf(directory: device.appending(path: "areas"))
        let area = try #require(UUID(uuidString: OfflineField.id).flatMap(shelf.area))
        return try await OpenMap.open(
            area, files: shelf.files(area.id), webMap: shelf.webMap(area.id), dataDirectory: device)
    }

    /// In a transaction, a tree is edited and a hydrant deleted.
    private static func editInTransaction(_ map: OpenMap) async throws {
        try map.beginTransaction()
        let tree = try await map.find(FeatureReference(layer: 0, key: .global(TreesField.treeIDs[1])))
        let before = FeatureSnapshot(tree.feature)
        tree.feature.setAttributeValue(55.0, forKey: "DBH")
        _ = try await map.update(tree, kind: .update, before: before, session: nil, detail: "")
        let layer = try #require(map.layer(HydrantsField.layer))
        let hydrants = try await layer.table.features(QueryParameters(), .loadAll)
        let first = try #require(Array(hydrants.features()).first)
        let found = try await map.find(try #require(layer.reference(of: first)))
        _ = try await map.delete(found, session: nil)
    }

    private static func state(_ map: OpenMap) async throws -> (diameter: Double?, hydrants: Int?) {
        let tree = try await map.find(FeatureReference(layer: 0, key: .global(TreesField.treeIDs[1])))
        let hydrants = try await map.layer(HydrantsField.layer)?.table.queryFeatureCount(using: QueryParameters())
        return (tree.feature.attributes["DBH"] as? Double, hydrants)
    }

    @Test("A transaction that was kept in one file when the process ended is kept in the other at the next start")
    func aKeepingThatWasBrokenOff() async throws {
        try await HydrantsField.with { field, visitor in
            try await Self.take(visitor)
            await field.trees.app.stop()
            let map = try await Self.open(field)
            try await Self.editInTransaction(map)
            try #require(map.offline?.parts.count == 2)
            try map.offline?.geodatabases.first?.commitTransaction()
            // The open transaction of the second file is taken back by its end.
            map.offline?.close()
            let next = try await Self.open(field)
            #expect(next.transaction == nil)
            let state = try await Self.state(next)
            #expect(state.diameter == 55 && state.hydrants == 2)
            next.offline?.close()
        }
    }

    @Test("A transaction of two files that is half kept can be kept whole, and is not thrown away")
    func aHalfKeptTransactionIsNotDiscarded() async throws {
        try await HydrantsField.with { field, visitor in
            try await Self.take(visitor)
            await field.trees.app.stop()
            let map = try await Self.open(field)
            try await Self.editInTransaction(map)
            try map.offline?.geodatabases.first?.commitTransaction()
            await #expect(throws: CollectError.self) { try await map.discardTransaction() }
            #expect(try await map.keepTransaction() == 2)
            let state = try await Self.state(map)
            #expect(state.diameter == 55 && state.hydrants == 2 && map.transaction == nil)
            map.offline?.close()
        }
    }

    @Test("A transaction of two files is thrown away in both")
    func aTransactionIsDiscarded() async throws {
        try await HydrantsField.with { field, visitor in
            try await Self.take(visitor)
            await field.trees.app.stop()
            let map = try await Self.open(field)
            let before = try await Self.state(map)
            try await Self.editInTransaction(map)
            #expect(try await map.discardTransaction() == 2)
            let after = try await Self.state(map)
            #expect(after.diameter == before.diameter && after.hydrants == 3)
            map.offline?.close()
        }
    }
}
