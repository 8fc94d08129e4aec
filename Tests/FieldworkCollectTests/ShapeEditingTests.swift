import BrowserSupport
import FieldworkGeometry
import FieldworkREST
import Foundation
import Testing

@testable import FieldworkCollect

/// Areas drawn and edited vertex by vertex through the app's pages without a script, over a real server.
@Suite struct ShapeEditingTests {
    private static func definition() -> ServiceDefinition {
        var definition = DamageField.definition()
        definition.layers[0].geometryType = .polygon
        definition.layers[0].drawingInfo = nil
        return definition
    }

    private static func with(_ test: (DamageField, PlainClient) async throws -> Void) async throws {
        try await DamageField.with(points: 0, definition: definition()) { field in
            try await test(field, try await PlainClient.visitor(of: field.app))
        }
    }

    private static let corners = [("-97.9", "38.0"), ("-97.9", "38.1"), ("-97.8", "38.1"), ("-97.8", "38.0")]

    private static func draw(_ visitor: PlainClient, _ corners: [(String, String)] = Self.corners) async throws {
        for (lon, lat) in corners {
            let answer = try await visitor.post(
                "/add/0/sketch", ["do": "add", "lon": lon, "lat": lat, "template": "t1"])
            #expect(answer.status == 303)
        }
    }

    private static func ring(_ field: DamageField) async throws -> [Point] {
        let polygon = try #require(try await field.serverFeatures().first?.geometry as? Polygon)
        return Array(polygon.parts[0].points)
    }

    @Test(
        "A new area of a map with pop-ups is saved as it is drawn, and its form follows where it may be changed",
        arguments: [true, false])
    func formAfterTheShape(_ mayChange: Bool) async throws {
        var definition = Self.definition()
        if !mayChange {
            definition.capabilities = [.query, .create, .editing]
            definition.layers[0].capabilities = [.query, .create, .editing]
        }
        try await DamageField.with(points: 0, definition: definition) { field in
            let layer = "\(field.services.root.absoluteString)/DamageAssessment/FeatureServer/0"
            let document = """
                {"operationalLayers":[{"id":"areas","title":"Areas","layerType":"ArcGISFeatureLayer","url":"\(layer)",
                "popupInfo":{"title":"{typdamage}","fieldInfos":[
                {"fieldName":"typdamage","label":"Damage","visible":true,"isEditable":true}]}}],
                "baseMap":{"title":"None","baseMapLayers":[]},"version":"2.31"}
                """
            let device = field.deviceFolder.appending(path: "second")
            try FileManager.default.createDirectory(at: device, withIntermediateDirectories: true)
            let file = device.appending(path: "Areas.webmap.json")
            try Data(document.utf8).write(to: file)
            let app = try await RunningApp.start(services: field.services.root, folder: device, webMap: file)
            do {
                let visitor = try await PlainClient.visitor(of: app)
                try await Self.draw(visitor)
                let saved = try await visitor.post("/add/0/sketch", ["do": "save"])
                let place = try #require(saved["Location"])
                #expect(place.contains("/edit?edit=") == mayChange, "\(place)")
                #expect(try await Self.ring(field).count == 4)
                let form = try await visitor.get(place)
                #expect(form.status == 200)
                #expect(!mayChange || form.text.contains("Damage"))
                await app.stop()
            } catch {
                await app.stop()
                throw error
            }
        }
    }

    @Test func anAreaIsDrawnSavedReshapedAndTakenBack() async throws {
        try await Self.with { field, visitor in
            try await Self.draw(visitor)
            let page = try await visitor.get("/add/0/sketch")
            #expect(page.text.contains("Vertex 4 of 4"))
            #expect(page.text.contains("Undo: add vertex 4"))
            #expect(page.text.contains("km², edge"))
            let saved = try await visitor.post("/add/0/sketch", ["do": "save"])
            #expect(try #require(saved["Location"]).hasPrefix("/map/f/0/"))
            let before = try await Self.ring(field)
            #expect(before.count == 4)
            #expect(try await field.serverFeatures().first?.attributes["typdamage"] == .text("Affected"))

            let address = "/f/\(try await field.firstReference())/geometry"
            _ = try await visitor.post(address, ["do": "choose:0.2"])
            _ = try await visitor.post(address, ["do": "move", "lon": "-97.7", "lat": "38.2"])
            let insert = try await visitor.post(address, ["do": "insert:0.0", "lon": "-97.95", "lat": "38.05"])
            #expect(insert.status == 303)
            _ = try await visitor.post(address, ["do": "undo"])
            #expect(try await visitor.get(address).text.contains("Redo: add vertex 2"))
            let changed = try await visitor.post(address, ["do": "save"])
            let after = try await Self.ring(field)
            #expect(after.count == 4)
            // The server may begin the ring elsewhere; the corners that were not touched are where they were.
            let kept = before.filter { one in after.contains { abs($0.x - one.x) < 0.001 && abs($0.y - one.y) < 0.001 }
            }
            #expect(kept.count == 3)

            let edit = try #require(changed["Location"]?.components(separatedBy: "edit=").last)
            _ = try await visitor.post("/undo/\(edit)", ["back": "/map"])
            let back = try await Self.ring(field)
            #expect(
                before.allSatisfy { one in back.contains { abs($0.x - one.x) < 0.001 && abs($0.y - one.y) < 0.001 } })
        }
    }

    @Test func whatIsWrongIsSaidAndTheSketchStays() async throws {
        try await Self.with { field, visitor in
            try await Self.draw(visitor, Array(Self.corners.prefix(2)))
            let early = try await visitor.post("/add/0/sketch", ["do": "save"])
            #expect(early.status == 422)
            #expect(early.text.contains("An area needs 3 vertices"))
            let nowhere = try await visitor.post("/add/0/sketch", ["do": "add", "lon": "east", "lat": "38"])
            #expect(nowhere.status == 422)
            #expect(nowhere.text.contains("value=\"east\""))
            // The third corner is on the other side of the first edge: the fourth makes it cross.
            try await Self.draw(visitor, [("-97.8", "38.0"), ("-97.8", "38.1")])
            let crossed = try await visitor.post("/add/0/sketch", ["do": "save"])
            #expect(crossed.text.contains("The edge crosses itself."))
            #expect(try await field.serverFeatures().isEmpty)
            _ = try await visitor.post("/add/0/sketch", ["do": "repair"])
            #expect(try await visitor.post("/add/0/sketch", ["do": "save"]).status == 303)
            #expect(try await field.serverFeatures().count == 1)
        }
    }

    @Test func aVertexSnapsToTheCornerOfAnotherArea() async throws {
        try await Self.with { field, visitor in
            try await Self.draw(visitor)
            _ = try await visitor.post("/add/0/sketch", ["do": "save"])
            _ = try await visitor.post(
                "/add/0/sketch", ["do": "add", "lon": "-97.80001", "lat": "38.10001", "tolerance": "50"])
            let page = try await visitor.get("/add/0/sketch")
            #expect(page.text.contains("Snapped to a corner of"))
            #expect(page.text.contains("\u{2212}97.8</td>"))
            _ = try await visitor.post("/add/0/sketch", ["do": "snap"])
            _ = try await visitor.post(
                "/add/0/sketch", ["do": "add", "lon": "-97.89999", "lat": "38.10001", "tolerance": "50"])
            #expect(try await visitor.get("/add/0/sketch").text.contains("\u{2212}97.89999</td>"))
        }
    }

    @Test func aSketchIsThereAfterARestartAndSavedOnce() async throws {
        try await Self.with { field, visitor in
            try await Self.draw(visitor)
            try await field.restartedApp { app in
                let again = try await PlainClient.visitor(of: app)
                #expect(try await again.get("/add/0/sketch").text.contains("Vertex 4 of 4"))
                #expect(try await again.post("/add/0/sketch", ["do": "save"]).status == 303)
            }
            #expect(try await field.serverFeatures().count == 1)
        }
    }
}
