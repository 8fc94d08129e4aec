import BrowserSupport
import FieldworkREST
import Foundation
import Testing

@testable import FieldworkCollect

/// The behaviours that a map switches on by name.
@Suite struct MapRulesTests {
    private static let inspection = "\(TreesField.address(0))/related/1/new"

    @Test func aTreeFollowsItsNewestInspectionAndGoesBackWithIt() async throws {
        try await TreesField.with(map: TreesField.withRules) { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            let added = try await visitor.post(
                Self.inspection, ["field.Condition": "Dead", "field.DBH": "11", "session": "a"])
            #expect(try await field.tree(0)?.attributes["Condition"] == .text("Dead"))
            #expect(try await field.tree(0)?.attributes["DBH"] == .real(11))
            let edit = try #require(added["Location"]?.split(separator: "edit=").last)
            _ = try await visitor.post("/undo/\(edit)", ["back": "/map"])
            #expect(try await field.rows(of: 3).count == 2)
            #expect(try await field.tree(0)?.attributes["Condition"] == .text("Good"), "that of the newest one left")
            #expect(try await field.tree(0)?.attributes["DBH"] == .real(10))
        }
    }

    @Test func withoutAnInspectionTheTreesValuesAreEmpty() async throws {
        try await TreesField.with(map: TreesField.withRules) { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            for (index, record) in try await field.rows(of: 3).enumerated() {
                let id = try #require(record.globalID).uuidString.lowercased()
                _ = try await visitor.post("/f/3/\(id)/delete", ["session": "d\(index)"])
            }
            #expect(try await field.rows(of: 3).isEmpty)
            #expect(try await field.tree(0)?.attributes["Condition"] == .null)
            #expect(try await field.tree(1)?.attributes["Condition"] == .text("Fair"), "no other tree follows")
        }
    }

    @Test func aNewTreeTakesTheNameOfItsNeighbourhood() async throws {
        try await TreesField.with(map: TreesField.withRules) { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            let inside = try await visitor.post(
                "/add/0", ["lon": "-122.625", "lat": "45.565", "template": "p0", "session": "n"])
            #expect(try await visitor.get(try #require(inside["Location"])).text.contains("Concordia"))
            _ = try await visitor.post(
                "/add/0/form",
                ["lon": "-122.625", "lat": "45.565", "template": "p0", "field.Address": "Inside", "session": "n"])
            _ = try await visitor.post(
                "/add/0/form",
                ["lon": "-122.5", "lat": "45.565", "template": "p0", "field.Address": "Outside", "session": "o"])
            let trees = try await field.rows(of: 0)
            #expect(
                trees.first { $0.attributes["Address"] == .text("Inside") }?.attributes["Neighborhood"]
                    == .text("Concordia"))
            #expect(trees.first { $0.attributes["Address"] == .text("Outside") }?.attributes["Neighborhood"] == .null)
        }
    }

    @Test func aMapWithoutRulesHasNone() async throws {
        try await TreesField.with { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            _ = try await visitor.post(Self.inspection, ["field.Condition": "Dead", "session": "a"])
            #expect(try await field.rows(of: 3).count == 3)
            #expect(try await field.tree(0)?.attributes["Condition"] == .text("Good"))
        }
    }

    @Test func theHistoryShowsTheEditsAndRestoresAValue() async throws {
        try await TreesField.with { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            let address = TreesField.address(0)
            #expect(try await visitor.get("\(address)/history").text.contains("No change since it was added."))
            _ = try await visitor.post("\(address)/edit", ["field.Condition": "Dead", "session": "h"])
            let history = try await visitor.get("\(address)/history").text
            #expect(history.contains("Condition from Good to Dead"))
            let restore = try #require(history.firstMatch(of: /action="([^"]*\/restore)"/)?.output.1)
            _ = try await visitor.post(String(restore), ["session": "r"])
            #expect(try await field.tree(0)?.attributes["Condition"] == .text("Good"))
            #expect(try await visitor.get("\(address)/history").text.contains("Restored Condition Good"))
            #expect(try await visitor.post(String(restore), ["session": "again"]).status == 409)
        }
    }

    @Test func theListIsSearchedSortedAndActedUpon() async throws {
        try await TreesField.with { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            let found = try await visitor.get("/list/0?q=3254&scope=all").text
            #expect(found.contains("1 tree"))
            #expect(found.contains("3254 NE Ainsworth St"))
            #expect(found.contains("\(TreesField.address(2))/edit"))
            #expect(found.contains("\(TreesField.address(2))/delete"))
            #expect(!found.contains("3250 NE Ainsworth St"))
            let sorted = try await visitor.get("/list/0?sort=Condition&scope=all").text
            let dead = try #require(sorted.range(of: "3256 NE Ainsworth St"))
            let good = try #require(sorted.range(of: "3250 NE Ainsworth St"))
            #expect(dead.lowerBound < good.lowerBound)
            #expect(try await visitor.get("/list/0?q=%27%20OR%201%3D1&scope=all").text.contains("match"))
            #expect(try await visitor.get("/list/3").text.contains("2 inspections"))
        }
    }

    @Test func oneValueIsSetForManyAndEachIsCheckedAndTakenBackByItself() async throws {
        try await TreesField.with { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            #expect(try await visitor.get("/list/0?scope=all").text.contains("Select several"))
            let page = try await visitor.get("/list/0/many?scope=all&field=DBH").text
            #expect(page.contains(#"name="field.DBH""#) && !page.contains(#"name="field.Address""#))
            let keys = [0, 2].map { "0/\(TreesField.treeIDs[$0].uuidString.lowercased())" }
            let form: KeyValuePairs = [
                "session": "many", "field": "DBH", "field.DBH": "30", "row": keys[0], "row": keys[1],
            ]
            for words in ["2 trees changed.", "2 had this value already."] {
                let answer = try await visitor.post("/list/0/many?scope=all", form)
                #expect(answer.status == 200)
                #expect(answer.text.contains(words))
            }
            #expect(try await field.tree(0)?.attributes["DBH"] == .real(30))
            #expect(try await field.tree(1)?.attributes["DBH"] == .real(11))
            #expect(try await field.tree(2)?.attributes["DBH"] == .real(30))
            let wrong = try await visitor.post(
                "/list/0/many?scope=all", ["session": "b", "field": "DBH", "field.DBH": "171", "row": keys[0]])
            #expect(wrong.status == 422)
            #expect(wrong.text.contains("171 is more than 120"))
            #expect(try await field.tree(0)?.attributes["DBH"] == .real(30))
            _ = try await visitor.post("/undo", ["back": "/changes"])
            #expect(try await field.tree(0)?.attributes["DBH"] == .real(30))
            #expect(try await field.tree(2)?.attributes["DBH"] == .real(12))
        }
    }
}
