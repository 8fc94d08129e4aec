import BrowserSupport
import FieldworkREST
import Foundation
import Testing

@testable import FieldworkCollect

/// Transactions in an offline area: the seed's work through the app's pages.
@Suite struct TransactionTests {
    private static func with(_ test: (DamageField, PlainClient) async throws -> Void) async throws {
        try await DamageField.with(points: 25, definition: OfflineField.definition()) { field in
            let visitor = try await PlainClient.visitor(of: field.app)
            try await OfflineField.goOffline(visitor)
            try await test(field, visitor)
        }
    }

    /// How many features the list of the area has.
    private static func count(_ visitor: PlainClient) async throws -> Int {
        try await visitor.get("/list/0").text.components(separatedBy: "class=\"open\"").count - 1
    }

    @Test func editsAreKeptTogetherAndOnlyThenSent() async throws {
        try await Self.with { field, visitor in
            let started = try await visitor.post("/transaction/start", [:])
            #expect(try await visitor.get(try #require(started["Location"])).text.contains("Transaction started."))
            _ = try await OfflineField.add(visitor, "a")
            _ = try await OfflineField.add(visitor, "b", lon: "-97.93")
            let page = try await visitor.get("/map")
            #expect(page.text.contains("Transaction: 2 edits not kept yet"))
            let early = try await visitor.post("/sync", [:])
            #expect(early.text.contains("Sync waits until the transaction is ended."))
            let kept = try await visitor.post("/transaction/keep", [:])
            #expect(try await visitor.get(try #require(kept["Location"])).text.contains("2 edits kept."))
            #expect(try await field.serverFeatures().count == 25)
            try await OfflineField.sync(visitor)
            #expect(try await field.serverFeatures().count == 27)
        }
    }

    @Test func discardingAsksAndThenEverythingIsAsBefore() async throws {
        try await Self.with { field, visitor in
            let before = try await Self.count(visitor)
            _ = try await visitor.post("/transaction/start", [:])
            _ = try await OfflineField.add(visitor, "a")
            let reference = try await field.firstReference()
            _ = try await visitor.post(
                "/f/\(reference)/attribute", ["field": "typdamage", "value": "Destroyed", "session": "b"])
            #expect(try await Self.count(visitor) == before + 1)
            let asked = try await visitor.post("/transaction/ask", [:])
            let question = try await visitor.get(try #require(asked["Location"]))
            #expect(question.text.contains("Discard 2 edits?"))
            _ = try await visitor.post("/transaction/discard", [:])
            #expect(try await Self.count(visitor) == before)
            #expect(try await visitor.get("/f/\(reference)").text.contains("Inaccessible"))
            #expect(try await visitor.get("/changes").text.contains("Nothing to send."))
        }
    }

    @Test func whereTheRuleAsksForATransactionNothingIsEditedOutsideOfOne() async throws {
        try await Self.with { _, visitor in
            _ = try await visitor.post("/transaction/rule", ["required": "yes"])
            for path in ["/add", "/add/0"] {
                #expect(try await visitor.get(path).text.contains("Start a transaction first"))
            }
            #expect(try await OfflineField.add(visitor, "a").status == 409)
            _ = try await visitor.post("/transaction/start", [:])
            #expect(try await OfflineField.add(visitor, "a").status == 303)
        }
    }

    @Test func aTransactionThatTheProcessLeftOpenIsThereAgainWithAllItsEditsOnce() async throws {
        try await Self.with { field, visitor in
            let before = try await Self.count(visitor)
            let reference = try await field.firstReference()
            _ = try await visitor.post("/transaction/start", [:])
            _ = try await OfflineField.add(visitor, "a")
            _ = try await visitor.post(
                "/f/\(reference)/attribute", ["field": "typdamage", "value": "Destroyed", "session": "b"])
            try await field.restartedApp { app in
                let again = try await PlainClient.visitor(of: app)
                let page = try await again.get("/map")
                #expect(page.text.contains("A transaction with 2 edits was not finished."))
                #expect(try await Self.count(again) == before + 1)
                #expect(try await again.get("/f/\(reference)").text.contains("Destroyed"))
                _ = try await again.post("/transaction/keep", [:])
                try await OfflineField.sync(again)
            }
            let features = try await field.serverFeatures()
            #expect(features.count == 26)
            #expect(features.filter { $0.attributes["typdamage"] == .text("Destroyed") }.count == 6)
        }
    }
}
