import BrowserSupport
import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import Testing

@testable import FieldworkCollect

/// The page of a feature's history: what this device did and what others did, and the way back.
@Suite struct HistoryTests {
    private static func others(_ field: TreesField, _ attributes: [(String, AttributeValue)], at place: Point? = nil)
        async throws
    {
        let edit = FeatureEdit(
            globalID: TreesField.treeIDs[0], attributes: attributes.map { ($0.0, $0.1) },
            geometry: place.map { .geometry($0) } ?? .unchanged)
        _ = try await field.store.apply(
            EditBatch(
                layers: [LayerEdits(layerID: 0, updates: [edit])], usesGlobalIDs: true, editor: "Dana", moment: Date()),
            to: TreesField.service)
    }

    @Test func whatOthersChangedIsToldWithTheirNameAndRestored() async throws {
        try await TreesField.with { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            let address = TreesField.address(0)
            #expect(try await visitor.get("\(address)/history").text.contains("No change since it was added."))
            let before = try #require(try await field.tree(0)?.geometry as? Point)
            try await Self.others(field, [("Condition", .text("Dead"))])
            try await Self.others(
                field, [("Notes", .text("<b>moved</b>"))],
                at: Point(x: before.x, y: before.y + 100, spatialReference: .webMercator))
            let history = try await visitor.get("\(address)/history").text
            #expect(history.contains("Condition from Good to Dead"))
            #expect(history.contains("Dana"))
            #expect(history.contains("Moved 70 m N") && !history.contains("<b>moved"))
            // The newest first: its place and its text come back together, the condition stays.
            let restore = history.matches(of: /action="([^"]*\/restore)"/).map { String($0.output.1) }
            try #require(restore.count == 2)
            #expect(try await visitor.post(restore[0], ["session": "r"]).status == 303)
            let tree = try await field.tree(0)
            let back = try #require(tree?.geometry as? Point)
            #expect(abs(back.y - before.y) < 0.001)
            #expect(tree?.attributes["Notes"] == .null)
            #expect(tree?.attributes["Condition"] == .text("Dead"))
            #expect(try await visitor.post(restore[1], ["session": "s"]).status == 303)
            #expect(try await field.tree(0)?.attributes["Condition"] == .text("Good"))
            #expect(try await visitor.post(restore[1], ["session": "t"]).status == 409)
            #expect(try await visitor.get("\(address)/history").text.contains("Restored Condition Good"))
        }
    }

    @Test func anEditOfThisDeviceIsToldOnceAndWithoutTheServerFromTheJournal() async throws {
        try await TreesField.with { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            let address = TreesField.address(0)
            _ = try await visitor.post("\(address)/edit", ["field.Condition": "Poor", "session": "mine"])
            let history = try await visitor.get("\(address)/history").text
            #expect(history.matches(of: /<b[^>]*>Condition from Good to Poor<\/b>/).count == 1)
            #expect(history.contains("on the server, from this device"))
            await field.services.stop()
            let alone = try await visitor.get("\(address)/history").text
            #expect(alone.contains("Condition from Good to Poor"))
            #expect(alone.contains("These are the edits of this device."))
            try await field.services.comeBack()
        }
    }

    @Test func inAnAreaItComesFromTheFileAndSaysWhatIsNotSent() async throws {
        try await DamageField.with(points: 2, definition: OfflineField.definition()) { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            try await OfflineField.goOffline(visitor)
            let id = try #require(try await field.serverFeatures().min { $0.objectID < $1.objectID }?.globalID)
            let address = "/f/0/\(id.uuidString.lowercased())"
            await field.services.stop()
            #expect(try await visitor.get("\(address)/history").text.contains("No change since the area was taken."))
            _ = try await visitor.post("\(address)/edit", ["session": "a", "field.typdamage": "Destroyed"])
            let history = try await visitor.get("\(address)/history").text
            #expect(history.matches(of: /to Destroyed<\/b>/).count == 1)
            #expect(history.contains("on this device, not sent"))
            #expect(history.contains("Older changes are on the server."))
            let restore = try #require(history.firstMatch(of: /action="([^"]*\/restore)"/)?.output.1)
            #expect(try await visitor.post(String(restore), ["session": "b"]).status == 303)
            #expect(try await visitor.get("\(address)/history").text.contains("Restored"))
            try await field.services.comeBack()
        }
    }
}
