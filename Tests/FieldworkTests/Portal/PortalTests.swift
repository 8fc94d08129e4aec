import FieldworkGeometry
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Fieldwork

@Suite("Portals", .fewAtATime)
struct PortalTests {
    private static func id(_ text: String) throws -> PortalItem.ID { try #require(PortalItem.ID(text)) }

    /// A portal with somebody signed in.
    private static func withAna(
        _ test: (ContentScript, PortalScript, Portal) async throws -> Void
    ) async throws {
        try await ContentScript.with { content, script, url, environment, manager in
            manager.arcGISAuthenticationChallengeHandler = ScriptedHandler.signingIn(after: .zero)
            let portal = Portal(url: url, connection: .authenticated, environment: environment)
            try await portal.load()
            try await test(content, script, portal)
        }
    }

    @Test("An authenticated portal asks for a sign-in when it is loaded, an anonymous one does not")
    func connections() async throws {
        try await ContentScript.with { _, script, url, environment, manager in
            let handler = ScriptedHandler.signingIn(after: .zero)
            manager.arcGISAuthenticationChallengeHandler = handler
            let open = Portal(url: url, connection: .anonymous, environment: environment)
            try await open.load()
            #expect(open.user == nil && open.info?.portalName == "Fieldwork" && handler.challenges.isEmpty)
            let closed = Portal(url: url, connection: .authenticated, environment: environment)
            try await closed.load()
            #expect(closed.user?.username == "ana" && closed.user?.fullName == "Ana Alba")
            #expect(closed.user?.role == .publisher && handler.challenges.count == 1)
            #expect(script.value(\.signIns) == 1)
        }
    }

    @Test("A portal without a sign-in fails to load with an error of its own, and can be loaded after it")
    func cancelled() async throws {
        try await ContentScript.with { _, _, url, environment, manager in
            let portal = Portal(url: url, connection: .authenticated, environment: environment)
            await #expect {
                try await portal.load()
            } throws: { error in
                if case ArcGISAuthenticationError.tokenRequired = error { true } else { false }
            }
            manager.arcGISAuthenticationChallengeHandler = ScriptedHandler { _ in .cancel }
            await #expect(throws: ArcGISChallengeCancellationError.self) { try await portal.retryLoad() }
            manager.arcGISAuthenticationChallengeHandler = ScriptedHandler.signingIn(after: .zero)
            try await portal.retryLoad()
            #expect(portal.user?.username == "ana")
        }
    }

    @Test("A person's own item is read after a sign-in, though the portal tells nobody of it")
    func privateItem() async throws {
        try await ContentScript.with { content, _, url, environment, manager in
            let handler = ScriptedHandler.signingIn(after: .zero)
            manager.arcGISAuthenticationChallengeHandler = handler
            content.put("m1", ["type": "Web Map", "title": "Mine", "extent": [[-123, 45], [-122, 46]]], data: "{}")
            let portal = Portal(url: url, connection: .anonymous, environment: environment)
            let item = PortalItem(portal: portal, id: try Self.id("m1"))
            try await item.load()
            #expect(item.title == "Mine" && item.kind == .webMap && item.owner == "ana" && item.access == .private)
            #expect(item.extent?.xMax == -122 && item.modificationDate == item.modified && item.created != nil)
            #expect(handler.challenges.count == 1)
        }
    }

    @Test("Results come page by page until the last")
    func pages() async throws {
        try await Self.withAna { content, _, portal in
            for number in 10..<35 { content.put("i\(number)", ["type": "Web Map", "title": "Map"]) }
            var parameters: PortalQueryParameters? = .items(ofKinds: [.webMap], owner: "a\"na", searchText: "trees")
            #expect(parameters?.query == #"(type:"Web Map") AND owner:"a\"na" AND (trees)"#)
            var found: [String] = []
            while let present = parameters {
                let page = try await portal.findItems(queryParameters: present)
                #expect(page.totalResultsCount == 25 && page.results.count <= 10)
                found += page.results.compactMap { $0.id?.rawValue }
                parameters = page.nextQueryParameters
            }
            #expect(found == (10..<35).map { "i\($0)" })
            #expect(PortalQueryParameters(query: "", limit: 1_000).limit == Limits.portalPage)
            #expect(PortalQueryParameters(query: "", limit: 0).limit == 1)
        }
    }

    // MARK: Items

    @Test("An item is added, changed, shared and deleted")
    func life() async throws {
        try await Self.withAna { content, _, portal in
            let user = try #require(portal.user)
            let item = PortalItem(portal: portal, kind: .webMap, title: "Trees", tags: ["a", "b"])
            let folder = try await user.addFolder(titled: "Field")
            try await user.add(item, with: .json(Data(#"{"version":"2.31"}"#.utf8)), to: folder)
            let id = try #require(item.id?.rawValue)
            #expect(content.item(id)?["title"]?.stringValue == "Trees" && item.tags == ["a", "b"])
            #expect(item.folderID == "f0")
            #expect(String(decoding: try await item.data, as: UTF8.self) == #"{"version":"2.31"}"#)
            item.title = "More trees"
            item.snippet = "All of them"
            try await item.updateProperties()
            #expect(content.item(id)?["title"]?.stringValue == "More trees")
            try await item.share(with: .everyone)
            #expect(item.access == .everyone)
            #expect(try await user.content.items.count == 1)
            #expect(try await user.content.folders.map(\.title) == ["Field"])
            try await user.delete(item)
            #expect(content.item(id) == nil)
        }
    }

    @Test("An item whose answer was lost when it was added is there once, and its object knows it")
    func lostAnswer() async throws {
        try await Self.withAna { content, _, portal in
            content.state.withLock { $0.losses = 1 }
            let item = PortalItem(portal: portal, kind: .geoJSON, title: "Once")
            try await portal.user?.add(item, with: .json(Data("{}".utf8)))
            #expect(content.state.withLock { $0.items.count } == 1)
            #expect(content.item(try #require(item.id?.rawValue)) != nil)
            await #expect(throws: CommonError.self) {
                try await portal.user?.add(item, with: .json(Data("{}".utf8)))
            }
        }
    }

    @Test("A change sends what was set here alone, and is not sent over another person's change of the same")
    func othersChanges() async throws {
        try await Self.withAna { content, _, portal in
            content.put("i1", ["type": "CSV", "title": "Old", "snippet": "Old"])
            let item = PortalItem(portal: portal, id: try Self.id("i1"))
            try await item.load()
            content.change("i1", "snippet", "Of another person")
            item.title = "New"
            try await item.updateProperties()
            #expect(content.item("i1")?["title"]?.stringValue == "New")
            #expect(content.item("i1")?["snippet"]?.stringValue == "Of another person")
            #expect(item.snippet == "Of another person")
            content.change("i1", "title", "Of another person")
            item.title = "Newer"
            await #expect {
                try await item.updateProperties()
            } throws: { error in
                if case PortalError.itemWasChanged = error { true } else { false }
            }
            #expect(content.item("i1")?["title"]?.stringValue == "Of another person")
        }
    }

    @Test("Groups that refuse an item are named")
    func refusedSharing() async throws {
        try await Self.withAna { content, _, portal in
            content.put("i1", ["type": "CSV", "title": "A"])
            content.state.withLock { $0.refusesGroups = true }
            let item = PortalItem(portal: portal, id: try Self.id("i1"))
            let group = try #require(PortalGroup(JSONObject(["id": "g1", "title": "Crew"]), portal: portal))
            await #expect(throws: PortalError.notShared(details: "A can't be shared with g1.")) {
                try await item.share(with: .private, groups: [group])
            }
        }
    }

    @Test("Thumbnails, resources and related items are read; a name that leads out of an item is refused")
    func parts() async throws {
        try await Self.withAna { content, _, portal in
            content.put("m1", ["type": "Web Map", "title": "Map", "thumbnail": "thumbnail/a.png"])
            let item = PortalItem(portal: portal, id: try Self.id("m1"))
            try await item.load()
            let picture = try #require(item.thumbnail)
            try await picture.load()
            #expect(picture.data == Data([0x89, 0x50, 0x4E, 0x47]))
            let resource = try #require(try await item.resources.first)
            #expect(resource.name == "images/a b.png" && resource.size == 3)
            #expect(String(decoding: try await item.data(of: resource), as: UTF8.self) == "images|a b.png")
            #expect(try await item.relatedItems(by: .mapToArea).map(\.typeName) == ["Map Area"])
            let outside = PortalItemResource(name: "../../self", size: 0, creationDate: nil)
            await #expect(throws: CommonError.self) { _ = try await item.data(of: outside) }
        }
    }

    // MARK: Maps

    private static let document = """
        {"version":"2.31","operationalLayers":[],"tables":[],"own":{"kept":true},\
        "initialState":{"viewpoint":{"targetGeometry":{"xmin":0,"ymin":0,"xmax":1,"ymax":1,\
        "spatialReference":{"wkid":4326}}}}}
        """

    @Test("A map of a portal is read, changed and saved, and what the SDK does not know of it stays")
    func savedMap() async throws {
        try await Self.withAna { content, _, portal in
            content.put("m1", ["type": "Web Map", "title": "Map"], data: Self.document)
            let map = Map(item: PortalItem(portal: portal, id: try Self.id("m1")))
            try await map.load()
            map.minScale = 5_000
            try await map.save()
            let saved = try JSONParser.parse(content.state.withLock { $0.data["m1"] ?? "" })
            #expect(saved["own"]?["kept"]?.boolValue == true)
            #expect(saved["minScale"]?.doubleValue == 5_000)
            // The same map again: its own change is not another person's.
            map.minScale = 6_000
            try await map.save()
        }
    }

    @Test("A map that another person changed is not overwritten, and can be saved as a new one")
    func changedMap() async throws {
        try await Self.withAna { content, _, portal in
            content.put("m1", ["type": "Web Map", "title": "Map"], data: Self.document)
            let map = Map(item: PortalItem(portal: portal, id: try Self.id("m1")))
            try await map.load()
            content.change("m1", "title", "Of another person")
            map.minScale = 5_000
            await #expect {
                try await map.save()
            } throws: { error in
                if case PortalError.itemWasChanged = error { true } else { false }
            }
            #expect(content.state.withLock { $0.data["m1"] } == Self.document)
            try await map.save(to: portal, title: "My own", tags: ["own"])
            let item = try #require(map.item as? PortalItem)
            #expect(item.title == "My own" && item.id?.rawValue != "m1" && item.kind == .webMap)
            #expect(content.state.withLock { $0.items.count } == 2)
        }
    }

    @Test("A map is not saved where nobody is signed in")
    func notSignedIn() async throws {
        try await ContentScript.with { _, _, url, environment, _ in
            let portal = Portal(url: url, connection: .anonymous, environment: environment)
            await #expect {
                try await Map().save(to: portal, title: "A")
            } throws: { error in
                if case PortalError.notSignedIn = error { true } else { false }
            }
        }
    }
}
