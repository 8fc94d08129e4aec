import BrowserSupport
import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import Testing

@testable import FieldworkCollect

/// The seed's work through the app's pages without a script, over the SDK and a real server.
@Suite struct CollectEditingTests {
    private static func created(_ answer: PlainClient.Answer) throws -> (path: String, edit: String) {
        let location = try #require(answer["Location"])
        let parts = location.split(separator: "?", maxSplits: 1).map(String.init)
        return (parts[0], parts.count > 1 ? parts[1].replacingOccurrences(of: "edit=", with: "") : "")
    }

    /// Within a millimetre: the short format of queries rounds.
    private static func isSamePlace(_ one: FeatureRecord?, _ other: FeatureRecord) throws -> Bool {
        try #require(one?.geometry).isEqual(to: try #require(other.geometry), tolerance: 0.001)
    }

    @Test func aTapOnEmptyGroundCreatesAFeatureOnTheServer() async throws {
        try await DamageField.with(points: 2) { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            let ground = try await visitor.post("/data/identify", ["lon": "-97.5", "lat": "38.5", "tolerance": "50"])
            #expect(ground.status == 200)
            #expect(ground.text.contains("Create feature"))
            let answer = try await visitor.post(
                "/add/0", ["lon": "-97.5", "lat": "38.5", "template": "t3", "session": "one"])
            #expect(answer.status == 303)
            let page = try await visitor.get(try #require(answer["Location"]))
            #expect(page.text.contains("Create feature succeeded."))
            #expect(page.text.contains("On the server"))
            let features = try await field.serverFeatures()
            #expect(features.count == 3)
            let new = try #require(features.max { $0.objectID < $1.objectID })
            #expect(new.attributes["typdamage"] == .text("Major"))
            #expect(new.attributes["primcause"] == .text("Earthquake"))
        }
    }

    @Test func theSameFormPostedTwiceIsOneEdit() async throws {
        try await DamageField.with(points: 0) { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            let form: KeyValuePairs = ["lon": "-97.5", "lat": "38.5", "template": "t0", "session": "same"]
            let first = try Self.created(try await visitor.post("/add/0", form))
            let second = try Self.created(try await visitor.post("/add/0", form))
            #expect(first.edit == second.edit)
            #expect(try await field.serverFeatures().count == 1)
        }
    }

    @Test func updateMoveAndDeleteReachTheServerAndAreTakenBack() async throws {
        try await DamageField.with(points: 1) { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            let before = try #require(try await field.serverFeatures().first)
            let address = "/f/\(try await field.firstReference())"

            let updated = try Self.created(
                try await visitor.post("\(address)/attribute", ["field": "typdamage", "value": "Destroyed"]))
            #expect(try await field.serverFeatures().first?.attributes["typdamage"] == .text("Destroyed"))
            _ = try await visitor.post("/undo/\(updated.edit)", ["back": "/map"])
            #expect(try await field.serverFeatures().first?.attributes["typdamage"] == .text("Inaccessible"))

            let moved = try Self.created(try await visitor.post("\(address)/move", ["lon": "-97.25", "lat": "38.25"]))
            let place = try #require(try await field.serverFeatures().first?.geometry?.place)
            #expect(abs(place.longitude + 97.25) < 1e-6 && abs(place.latitude - 38.25) < 1e-6)
            _ = try await visitor.post("/undo/\(moved.edit)", ["back": "/map"])
            #expect(try Self.isSamePlace(try await field.serverFeatures().first, before))

            let deleted = try Self.created(try await visitor.post("\(address)/delete", ["session": "d"]))
            #expect(try await field.serverFeatures().isEmpty)
            let back = try await visitor.post("/undo/\(deleted.edit)", ["back": "/map"])
            #expect(back.status == 303)
            let again = try #require(try await field.serverFeatures().first)
            #expect(again.globalID == before.globalID, "who else knows the feature finds it again")
            #expect(again.attributes["primcause"] == before.attributes["primcause"])
            #expect(try Self.isSamePlace(again, before))
        }
    }

    @Test("A value that was changed again is not taken back, whoever changed it", arguments: [false, true])
    func whatWasChangedSinceIsNotTakenBack(byOthers: Bool) async throws {
        try await DamageField.with(points: 1) { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            let address = "/f/\(try await field.firstReference())"
            let updated = try Self.created(
                try await visitor.post("\(address)/attribute", ["field": "typdamage", "value": "Destroyed"]))
            if byOthers {
                let id = try #require(try await field.serverFeatures().first?.globalID)
                let edit = FeatureEdit(globalID: id, attributes: [("typdamage", .text("Minor"))])
                _ = try await field.store.apply(
                    EditBatch(
                        layers: [LayerEdits(layerID: 0, updates: [edit])], usesGlobalIDs: true, moment: Date()),
                    to: DamageField.service)
            } else {
                _ = try await visitor.post("\(address)/attribute", ["field": "typdamage", "value": "Minor"])
            }
            let answer = try await visitor.post("/undo/\(updated.edit)", ["back": "/map"])
            #expect(answer.status == 409)
            #expect(answer.text.contains("was changed since."))
            #expect(try await field.serverFeatures().first?.attributes["typdamage"] == .text("Minor"))
        }
    }

    @Test("Without the server, too, what is taken back is as it was, and what was changed again stays")
    func takenBackOnTheDevice() async throws {
        try await DamageField.with(points: 1) { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            let before = try #require(try await field.serverFeatures().first)
            let address = "/f/\(try await field.firstReference())"
            #expect(try await visitor.get("/map").status == 200)
            #expect(try await visitor.get(address).status == 200)
            await field.services.stop()
            let first = try Self.created(
                try await visitor.post("\(address)/attribute", ["field": "typdamage", "value": "Destroyed"]))
            let second = try Self.created(
                try await visitor.post("\(address)/attribute", ["field": "typdamage", "value": "Minor"]))
            #expect(try await visitor.post("/undo/\(first.edit)", ["back": "/map"]).status == 409)
            #expect(try await visitor.get(address).text.contains("Minor"))
            for edit in [second, first] {
                #expect(try await visitor.post("/undo/\(edit.edit)", ["back": "/map"]).status == 303)
            }
            let moved = try Self.created(try await visitor.post("\(address)/move", ["lon": "-97.25", "lat": "38.25"]))
            #expect(try await visitor.post("/undo/\(moved.edit)", ["back": "/map"]).status == 303)
            let deleted = try Self.created(try await visitor.post("\(address)/delete", ["session": "d"]))
            #expect(try await visitor.post("/undo/\(deleted.edit)", ["back": "/map"]).status == 303)
            try await field.services.comeBack()
            _ = try await visitor.post("/sync", ["back": "/changes"])
            for _ in 0..<100 where !(try await visitor.get("/changes").text.contains("Everything is sent")) {
                try await Task.sleep(for: .milliseconds(100))
            }
            let features = try await field.serverFeatures()
            let after = try #require(features.first)
            #expect(features.count == 1 && after.globalID == before.globalID)
            #expect(after.attributes["typdamage"] == before.attributes["typdamage"])
            #expect(try Self.isSamePlace(after, before))
        }
    }

    @Test("A form that was cut off on its way changes nothing")
    func cutOff() async throws {
        try await DamageField.with(points: 1) { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            let before = try await field.serverFeatures()
            let address = "/f/\(try await field.firstReference())/edit"
            for body in ["session=c&field.primcause=F%C3%A4lle%6", "session=c&field.primcause=Storm%"] {
                let answer = try await visitor.send(
                    "POST", address,
                    fields: [
                        "Origin": "http://127.0.0.1:\(visitor.port)",
                        "Content-Type": "application/x-www-form-urlencoded",
                    ], body: body)
                #expect(answer.status == 400, "\(body)")
            }
            #expect(try await field.serverFeatures() == before)
        }
    }

    @Test func undoOfACreateTakesTheFeatureAwayAgain() async throws {
        try await DamageField.with(points: 0) { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            _ = try await visitor.post("/add/0", ["lon": "-97.5", "lat": "38.5", "template": "t0", "session": "c"])
            #expect(try await field.serverFeatures().count == 1)
            let undone = try await visitor.post("/undo", ["back": "/map"])
            #expect(undone.status == 303)
            #expect(try await field.serverFeatures().isEmpty)
            let nothing = try await visitor.post("/undo", ["back": "/map"])
            #expect(nothing.status == 404)
        }
    }

    @Test func wrongValuesAreTurnedBackWithTheirReasonAndNothingIsChanged() async throws {
        try await DamageField.with(points: 1) { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            let before = try await field.serverFeatures()
            let address = "/f/\(try await field.firstReference())/edit"
            let cases: [(String, String, String)] = [
                ("field.occupants", "121", "more than 120"), ("field.occupants", "many", "Type a whole number."),
                ("field.occupants", "99999999999999", "larger than this field holds"),
                ("field.primcause", String(repeating: "x", count: 255), "255 characters are more than the 254"),
                ("field.typdamage", "Exploded", "isn&#39;t one of the values"),
                ("field.inspected", "yesterday", "Type a date and a time."),
                ("field.inspected", "2026-02-30T10:00", "Type a date and a time."),
            ]
            for (field, value, reason) in cases {
                let answer = try await visitor.post(address, [field: value, "session": "wrong"])
                #expect(answer.status == 422, "\(field)=\(value.prefix(20))")
                #expect(answer.text.contains(reason), "\(field)=\(value.prefix(20))")
                #expect(answer.text.contains("aria-invalid=\"true\"") || field == "field.typdamage")
            }
            #expect(try await field.serverFeatures() == before)
        }
    }

    @Test func whatALayerDoesNotLetBeDeletedStays() async throws {
        var definition = DamageField.definition()
        definition.layers[0].capabilities.remove(.delete)
        try await DamageField.with(points: 1, definition: definition) { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            let address = "/f/\(try await field.firstReference())"
            let answer = try await visitor.post("\(address)/delete", ["session": "d"])
            #expect(answer.status == 409)
            #expect(answer.text.contains("be deleted."), "it says what is not allowed")
            #expect(!(try await visitor.get(address).text.contains("\(address)/delete")), "and isn't offered")
            #expect(try await field.serverFeatures().count == 1)
            #expect(answer.status >= 400)
            #expect(try await field.serverFeatures().count == 1)
            #expect(try await visitor.get(address).status == 200, "it is still here as well")
        }
    }

    @Test(arguments: [(-97.8, -97.8), (190, -170), (-190, 170), (-457.8, -97.8)] as [(Double, Double)])
    func aMapThatWasDraggedPastTheEdgeOfTheWorldCountsOn(longitude: Double, same: Double) throws {
        let place = try #require(Place(longitude: longitude, latitude: 38))
        #expect(abs(place.longitude - same) < 1e-9 && place.latitude == 38)
        #expect(Place(longitude: 600, latitude: 0) == nil && Place(longitude: 0, latitude: 86) == nil)
    }

    @Test func savingAFormChangesOnlyWhatWasChanged() async throws {
        try await DamageField.with(points: 1) { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            let address = "/f/\(try await field.firstReference())/edit"
            let answer = try await visitor.post(
                address,
                [
                    "field.typdamage": "Inaccessible", "field.primcause": "Cause 1", "field.occupants": "4",
                    "field.inspected": "2026-05-14T14:05", "session": "s",
                ])
            #expect(answer.status == 303)
            let feature = try #require(try await field.serverFeatures().first)
            #expect(feature.attributes["occupants"] == .integer(4))
            let changes = try await visitor.get("/changes")
            #expect(changes.text.contains("Occupants from 0 to 4"))
            #expect(!changes.text.contains("Primary cause from"))
        }
    }

    @Test func valuesWithMarkupAreShownAsText() async throws {
        let evil = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>&amp;"
        try await DamageField.with(points: 1) { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            let reference = try await field.firstReference()
            let saved = try await visitor.post("/f/\(reference)/edit", ["field.primcause": evil, "session": "x"])
            #expect(saved.status == 303)
            #expect(try await field.serverFeatures().first?.attributes["primcause"] == .text(evil))
            let place = DamageField.place(0)
            _ = try await visitor.post(
                "/data/view",
                [
                    "lon": "\(place.longitude)", "lat": "\(place.latitude)", "zoom": "8", "west": "-99", "south": "37",
                    "east": "-97", "north": "39",
                ])
            for path in [
                "/map", "/map/f/\(reference)", "/f/\(reference)", "/f/\(reference)/edit", "/f/\(reference)/move",
                "/list",
                "/changes",
            ] {
                let page = try await visitor.get(path)
                #expect(page.status == 200, "\(path)")
                #expect(!page.text.contains("<script>alert"), "\(path)")
                #expect(!page.text.contains("<img"), "\(path)")
                #expect(page.text.contains("&lt;script&gt;alert(1)"), "\(path)")
            }
        }
    }

    @Test func withoutTheServerEditsStayOnTheDeviceAndGoOutWhenItIsBack() async throws {
        try await DamageField.with(points: 1) { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            // Seen once while the server answers.
            #expect(try await visitor.get("/map").status == 200)
            let address = "/f/\(try await field.firstReference())"
            #expect(try await visitor.get(address).status == 200)
            await field.services.stop()

            let created = try await visitor.post(
                "/add/0", ["lon": "-97.5", "lat": "38.5", "template": "t1", "session": "away"])
            #expect(created.status == 303)
            let page = try await visitor.get(try #require(created["Location"]))
            #expect(page.text.contains("On this device, not sent"))
            let changes = try await visitor.get("/changes")
            #expect(changes.text.contains("1 edit<"))
            #expect(changes.text.contains("No connection"))
            let overlay = try await visitor.get("/data/overlay")
            #expect(overlay.text.contains("\"app:layer\":0"))
            #expect(try await field.serverFeatures().count == 1)

            try await field.services.comeBack()
            let synced = try await visitor.post("/sync", ["back": "/changes"])
            #expect(synced.status == 303)
            for _ in 0..<100 where try await field.serverFeatures().count < 2 {
                try await Task.sleep(for: .milliseconds(100))
            }
            #expect(try await field.serverFeatures().count == 2)
            #expect(try await visitor.get("/changes").text.contains("Everything is sent"))
        }
    }

    @Test func unsentEditsAreSavedAsAFileWhenTheServerIsGoneForGood() async throws {
        try await DamageField.with(points: 2) { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            #expect(!(try await visitor.get("/changes").text.contains("Save unsent edits as a file")))
            // The page has been there before the server went.
            let id = try #require(try await field.serverFeatures().min { $0.objectID < $1.objectID }?.globalID)
            let address = "/f/0/\(id.uuidString.lowercased())"
            _ = try await visitor.get(address)
            await field.services.stop()
            let hostile = "<script>\u{5e9}\u{5dc}\u{5d5}\u{5dd} 🌳"
            let saved = try await visitor.post("\(address)/edit", ["session": "one", "field.primcause": hostile])
            #expect(saved.status == 303)
            #expect(try await visitor.get("/changes").text.contains("Save unsent edits as a file"))
            let file = try await visitor.get("/changes/unsent.geojson")
            #expect(file["Content-Disposition"]?.contains("attachment") == true)
            let json = try #require(
                try JSONSerialization.jsonObject(with: Data(file.body)) as? [String: Any])
            let features = try #require(json["features"] as? [[String: Any]])
            try #require(features.count == 1)
            let properties = try #require(features[0]["properties"] as? [String: Any])
            #expect(properties["primcause"] as? String == hostile)
            let geometry = try #require(features[0]["geometry"] as? [String: Any])
            #expect(geometry["type"] as? String == "Point")
            let edit = try #require(features[0]["fieldwork"] as? [String: Any])
            #expect(edit["kind"] as? String == "update")
            try await field.services.comeBack()
        }
    }

    @Test func unsentEditsAreThereAfterTheAppIsStartedAgain() async throws {
        try await DamageField.with(points: 1) { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            #expect(try await visitor.get("/map").status == 200)
            await field.services.stop()
            _ = try await visitor.post("/add/0", ["lon": "-97.5", "lat": "38.5", "template": "t1", "session": "kept"])
            try await field.restartedApp { app in
                let next = try await PlainClient.visitor(of: app)
                try await field.services.comeBack()
                _ = try await next.get("/map")
                for _ in 0..<150 where try await field.serverFeatures().count < 2 {
                    try await Task.sleep(for: .milliseconds(100))
                }
                #expect(try await field.serverFeatures().count == 2)
                let undone = try await next.post("/undo", ["back": "/map"])
                #expect(undone.status == 303)
                for _ in 0..<50 where try await field.serverFeatures().count > 1 {
                    try await Task.sleep(for: .milliseconds(100))
                }
                #expect(try await field.serverFeatures().count == 1)
            }
        }
    }

    @Test func tilesHoldTheFeaturesAndAnswerConditionally() async throws {
        try await DamageField.with(points: 25) { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            #expect(try await visitor.get("/map").status == 200)
            // The tile of level 6 that holds the grid of points.
            let path = "/data/tiles/0/6/14/24"
            let tile = try await visitor.get(path)
            #expect(tile.status == 200)
            #expect(tile["Content-Type"] == "application/vnd.mapbox-vector-tile")
            #expect(tile.body.count > 25 * 10)
            let tag = try #require(tile["ETag"])
            #expect(try await visitor.get(path, fields: ["If-None-Match": tag]).status == 304)
            #expect(try await visitor.get("/data/tiles/0/4/0/0").status == 204)
            #expect(try await visitor.get("/data/tiles/0/1/5/0").status == 404)
            #expect(try await visitor.get("/data/tiles/9/0/0/0").status == 404)
            _ = try await visitor.post("/add/0", ["lon": "-97.51", "lat": "38.51", "template": "t0", "session": "t"])
            #expect(try await visitor.get(path)["ETag"] != tag)
        }
    }
}
