import BrowserSupport
import FieldworkREST
import Foundation
import Testing

@testable import FieldworkCollect

/// A feature whose parts go with it when it is deleted, and come back with it when that is taken back.
@Suite(.serialized)
struct DeletedWholeTests {
    enum Place: String, CaseIterable, Sendable {
        case online, offline, offlineAndSynced
    }

    private static func goOffline(_ visitor: PlainClient) async throws {
        let edges: KeyValuePairs = [
            "west": "-122.70", "south": "45.50", "east": "-122.55", "north": "45.60", "name": "Concordia",
            "session": OfflineField.id,
        ]
        #expect(try await visitor.post("/offline/new", edges)["Location"] == "/jobs/\(OfflineField.id)")
        try await OfflineField.isHere(visitor)
        #expect(try await visitor.post("/offline/mode", ["area": OfflineField.id]).status == 303)
    }

    @Test("The inspections of a tree that was deleted and taken back are there again, once", arguments: Place.allCases)
    func takenBack(_ place: Place) async throws {
        try await TreesField.with(canSync: true) { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            let before = try await field.rows(of: 3)
            try #require(before.count == 2)
            if place != .online { try await Self.goOffline(visitor) }
            let address = TreesField.address(0)
            let deleted = try await visitor.post("\(address)/delete", ["session": "d"])
            let edit = try #require(deleted["Location"]?.split(separator: "edit=").last)
            if place == .offlineAndSynced { try await OfflineField.sync(visitor) }
            let meanwhile = try await field.rows(of: 3).count
            #expect(meanwhile == (place == .offline ? 2 : 0))

            #expect(try await visitor.post("/undo/\(edit)", ["back": "/map"]).status == 303)
            #expect(try await visitor.get(address).text.contains("Inspections"))
            for _ in 0..<(place == .online ? 0 : 2) { try await OfflineField.sync(visitor) }
            #expect(try await field.tree(0) != nil)
            let after = try await field.rows(of: 3)
            #expect(after.compactMap(\.globalID) == before.compactMap(\.globalID))
            #expect(after.map { $0.attributes["TreeID"] } == before.map { $0.attributes["TreeID"] })
            #expect(after.map { $0.attributes["DBH"] } == before.map { $0.attributes["DBH"] })
        }
    }
}
