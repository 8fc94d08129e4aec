import FieldworkREST
import Foundation
import TestSupport
import Testing

@testable import Fieldwork

/// Rules of a layer in a geodatabase on the device: they hold without a network.
@Suite("Attribute rules on the device", .fewAtATime)
struct AttributeRuleTests {
    private static func birds(_ rules: [AttributeRuleDefinition]) -> LayerDefinition {
        var birds = SightingsFile.birds
        birds.attributeRules = rules
        return birds
    }

    private static let title = AttributeRuleDefinition(
        name: "Title", kind: .calculation, fieldName: "comments", script: "Proper($feature.comments)")

    @Test("A calculation sets its field when a feature is added and updated")
    func calculation() async throws {
        try await SightingsFile.with(birds: Self.birds([Self.title])) { url in
            let file = try await Sightings(url)
            try await file.add("white egret")
            #expect(try await file.bird("White Egret") != nil)
            try await file.change("White Egret", ["comments": "brown heron"])
            #expect(try await file.bird("Brown Heron") != nil)
            // Undo brings back what was, without asking the rules.
            #expect(try await file.geodatabase.undo())
            #expect(try await file.bird("White Egret") != nil)
        }
    }

    @Test("An edit that a constraint does not allow is refused with the rule's message, and nothing is stored")
    func constraint() async throws {
        let rule = AttributeRuleDefinition(
            name: "Kinds", kind: .constraint, script: "$feature.comments != 'dodo'",
            errorMessage: "There are no dodos any more.")
        try await SightingsFile.with(birds: Self.birds([rule])) { url in
            let file = try await Sightings(url)
            let error = await #expect(throws: GeodatabaseError.self) { try await file.add("dodo") }
            #expect(error?.details.contains("There are no dodos any more.") == true)
            try await file.add("egret")
            await #expect(throws: GeodatabaseError.self) { try await file.change("egret", ["comments": "dodo"]) }
            #expect(try await file.bird("dodo") == nil)
        }
    }

    @Test("Rules that only the service runs, and those that read other layers, are left to it")
    func leftToTheService() async throws {
        var served = Self.title
        served.excludesClients = true
        let counting = AttributeRuleDefinition(
            name: "Count", kind: .constraint, script: "Count(FeatureSetByName($datastore, 'Birds')) < 0")
        try await SightingsFile.with(birds: Self.birds([served, counting])) { url in
            let file = try await Sightings(url)
            try await file.add("white egret")
            #expect(try await file.bird("white egret") != nil)
        }
    }
}
