import BrowserSupport
import Foundation
import Testing

@testable import FieldworkCollect

/// A web map decides what the app shows and lets edit.
@Suite struct WebMapTests {
    @Test func theLayersKeepTheMapsOrderNamesAndRights() async throws {
        try await TreesField.with { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            let layers = try await visitor.get("/layers").text
            let trees = try #require(layers.range(of: "Street trees"))
            let hoods = try #require(layers.range(of: "Neighborhoods"))
            #expect(trees.lowerBound < hoods.lowerBound)
            #expect(layers.contains("its pop-up is switched off in the map"))
            #expect(layers.contains("Trees of Portland"))
        }
    }

    @Test func aLayerWhosePopUpIsSwitchedOffIsNotFoundByATap() async throws {
        try await TreesField.with { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            let place = TreesField.place(0)
            let tree = try await visitor.post(
                "/data/identify", ["lon": "\(place.longitude)", "lat": "\(place.latitude)", "tolerance": "5"])
            #expect(tree["Location"]?.contains(TreesField.treeIDs[0].uuidString.lowercased()) == true)
            let ground = try await visitor.post(
                "/data/identify", ["lon": "-122.6205", "lat": "45.562", "tolerance": "5"])
            #expect(ground.text.contains("callout ground"))
        }
    }

    @Test func aLayerThatTheAuthorSwitchedOffStaysOffUntilSomeoneShowsIt() async throws {
        let change: @Sendable (String) -> String = {
            $0.replacingOccurrences(
                of: #"FeatureServer/1","visibility":true"#, with: #"FeatureServer/1","visibility":false"#)
        }
        try await TreesField.with(map: change) { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            #expect(try await visitor.get("/data/map").text.contains(#""visible":false"#))
            _ = try await visitor.post("/layers", ["visible": "0", "visible": "1"])
            #expect(try await !visitor.get("/data/map").text.contains(#""visible":false"#))
        }
    }

    @Test func aLayerThatDoesNotLoadIsToldAndTheOthersWork() async throws {
        let change: @Sendable (String) -> String = {
            $0.replacingOccurrences(of: "Trees/FeatureServer/1", with: "Gone/FeatureServer/1")
        }
        try await TreesField.with(map: change) { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            #expect(try await visitor.get("/layers").text.contains("Neighborhoods didn't load."))
            #expect(try await visitor.get(TreesField.address(0)).status == 200)
        }
    }

    @Test func aFilterOfTheMapHoldsForListsAndTaps() async throws {
        let change: @Sendable (String) -> String = {
            $0.replacingOccurrences(
                of: #""id":"trees","#, with: #""id":"trees","layerDefinition":{"definitionExpression":"DBH > 12"},"#)
        }
        try await TreesField.with(map: change) { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            #expect(try await visitor.get("/list/0").text.contains("3 trees"))
            #expect(try await visitor.get(TreesField.address(0)).status == 404)
            #expect(try await visitor.get(TreesField.address(5)).status == 200)
        }
    }

    @Test func aFileThatIsNoWebMapIsSaidAndTheFirstPageOffersOthers() async throws {
        try await TreesField.with(map: { _ in "{]" }) { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            let answer = try await visitor.get("/map")
            #expect(answer.status == 303)
            let start = try await visitor.get(try #require(answer["Location"]))
            #expect(start.text.contains("Which map do you want to open?"))
        }
    }

    @Test func aLayersNumberStaysWhenTheMapChanges() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "numbers-\(UUID().uuidString)/layers.json")
        defer { try? FileManager.default.removeItem(at: file.deletingLastPathComponent()) }
        var first = try LayerNumbers(file: file)
        #expect(first.number(service: "a", layer: 0, occurrence: 0) == 0)
        #expect(first.number(service: "b", layer: 0, occurrence: 0) == 1_000)
        #expect(first.number(service: "a", layer: 0, occurrence: 1) == 1_001)
        try first.save()
        var second = try LayerNumbers(file: file)
        #expect(second.number(service: "c", layer: 0, occurrence: 0) == 1_002)
        #expect(second.number(service: "b", layer: 0, occurrence: 0) == 1_000)
    }
}
