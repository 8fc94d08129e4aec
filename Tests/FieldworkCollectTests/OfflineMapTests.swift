import BrowserSupport
import FieldworkREST
import FieldworkStore
import Foundation
import Testing

@testable import FieldworkCollect

/// An area of a web map is shown and edited as the map says, with a network and without.
@Suite struct OfflineMapTests {
    private static let edges: KeyValuePairs = [
        "west": "-122.65", "south": "45.55", "east": "-122.6", "north": "45.58", "name": "Concordia",
        "session": OfflineField.id,
    ]

    private static func with(_ test: (TreesField, PlainClient) async throws -> Void) async throws {
        try await TreesField.with(map: TreesField.withRules, canSync: true) { field in
            try await test(field, try await PlainClient.visitor(of: field.app))
        }
    }

    private static func goOffline(_ visitor: PlainClient) async throws {
        let taken = try await visitor.post("/offline/new", edges)
        #expect(taken["Location"] == "/jobs/\(OfflineField.id)")
        try await OfflineField.isHere(visitor)
        #expect(try await visitor.post("/offline/mode", ["area": OfflineField.id]).status == 303)
        #expect(try await visitor.get("/map").text.contains("Offline, Concordia"))
    }

    private static func look(_ visitor: PlainClient) async throws {
        _ = try await visitor.post(
            "/data/view",
            [
                "lon": "-122.61", "lat": "45.57", "zoom": "15", "west": "-122.64", "east": "-122.58", "south": "45.56",
                "north": "45.58",
            ])
    }

    /// What of a page is the author's: not what changes with the way to the service, or with each drawing.
    private static func authored(_ page: String) -> [String] {
        page.matches(of: /<(h1|h2|dt|dd|label|legend|summary|b|th)[^>]*>([^<]+)</).map { "\($0.1) \($0.2)" }
            .filter { !$0.contains("Offline") && !$0.contains("Online") }
    }

    @Test func popupsFormsLayersAndListsAreThoseOfTheMap() async throws {
        try await Self.with { field, visitor in
            try await Self.look(visitor)
            let tree = TreesField.address(0)
            let paths = [tree, "\(tree)/edit", "/layers", "/list/0?scope=all", "/map\(tree)"]
            var online: [[String]] = []
            for path in paths { online.append(Self.authored(try await visitor.get(path).text)) }
            try await Self.goOffline(visitor)
            await field.services.stop()
            for (path, expected) in zip(paths, online) {
                #expect(Self.authored(try await visitor.get(path).text) == expected, "\(path)")
                #expect(expected.count > 3, "\(path)")
            }
            try await field.services.comeBack()
        }
    }

    @Test func itsRulesHoldAndWhatFollowsIsSyncedWithTheEdit() async throws {
        try await Self.with { field, visitor in
            try await Self.goOffline(visitor)
            let inspection = "\(TreesField.address(0))/related/1/new"
            _ = try await visitor.post(inspection, ["field.Condition": "Dead", "field.DBH": "11", "session": "a"])
            let inside = try await visitor.post(
                "/add/0", ["lon": "-122.625", "lat": "45.565", "template": "p0", "session": "n"])
            #expect(try await visitor.get(try #require(inside["Location"])).text.contains("Concordia"))
            #expect(try await field.tree(0)?.attributes["Condition"] == .text("Good"), "not sent yet")
            try await OfflineField.sync(visitor)
            #expect(try await field.tree(0)?.attributes["Condition"] == .text("Dead"))
            #expect(try await field.tree(0)?.attributes["DBH"] == .real(11))
            #expect(try await field.rows(of: 3).count == 3)
        }
    }

    /// The map with the trees shown a second time.
    @Sendable private static func withSecondView(_ map: String) -> String {
        let url = map.firstMatch(of: /"url":"([^"]*\/FeatureServer)\/0"/).map { String($0.1) } ?? ""
        let second = """
            {"id":"again","title":"All trees","layerType":"ArcGISFeatureLayer","url":"\(url)/0","visibility":true,
             "popupInfo":{"title":"{Address}","fieldInfos":[{"fieldName":"DBH","visible":true,"isEditable":true}]}},
            {"id":"trees"
            """
        return map.replacing(#"{"id":"trees""#, with: second, maxReplacements: 1)
    }

    @Test func anEditThatTheServiceRefusesIsToldInWhicheverViewOfTheLayerItWasMade() async throws {
        try await TreesField.with(map: Self.withSecondView, canSync: true) { field in
            var definition = try await field.store.service(TreesField.service)
            definition.layers[0].attributeRules = [
                AttributeRuleDefinition(
                    name: "DBH", kind: .constraint, script: "$feature.DBH < 50", excludesClients: true,
                    errorMessage: "No tree here is that thick.")
            ]
            try await field.store.updateService(definition)
            let visitor = try await PlainClient.visitor(of: field.app)
            try await Self.goOffline(visitor)
            let views = try await visitor.get("/layers").text.matches(of: /\/list\/(\d+)/).compactMap { Int($0.1) }
            let second = try #require(views.max(), "a number of its own")
            #expect(second >= 1_000)
            for (index, layer) in [0, second].enumerated() {
                let tree = "/f/\(layer)/\(TreesField.treeIDs[index].uuidString.lowercased())"
                let saved = try await visitor.post("\(tree)/edit", ["field.DBH": "60", "session": "s\(index)"])
                #expect(saved.status == 303, "\(saved.text)")
            }
            _ = try await visitor.post("/sync", [:])
            var page = ""
            for _ in 0..<600 {
                page = try await visitor.get("/changes").text
                if page.contains("Refused by the server") { break }
                try await Task.sleep(for: .milliseconds(50))
            }
            #expect(page.contains(">2 edits<"), "\(page)")
            let refused = page.split(separator: "On the server").first ?? ""
            for tree in ["3250 NE Ainsworth St", "3252 NE Ainsworth St"] { #expect(refused.contains(tree), "\(page)") }
            #expect(!page.contains("On the server"), "\(page)")
            #expect(try await field.tree(1)?.attributes["DBH"] != .real(60))
        }
    }

    private struct Place: Decodable {
        struct View: Decodable {
            let lon: Double
            let lat: Double
        }
        let view: View
        let whole: [[Double]]
    }

    @Test func theMapStaysWhereItWasLookedAt() async throws {
        try await Self.with { _, visitor in
            try await Self.look(visitor)
            try await Self.goOffline(visitor)
            let place = try JSONDecoder().decode(Place.self, from: Data(try await visitor.get("/data/map").body))
            #expect(place.view.lon == -122.61 && place.view.lat == 45.57)
            #expect(place.whole == [[-122.65, 45.55], [-122.6, 45.58]])
        }
    }
}
