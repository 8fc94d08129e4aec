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

    @Test("In a file without a service, rules read its other layers and its relationships")
    func otherLayers() async throws {
        let rule = AttributeRuleDefinition(
            name: "Nests", kind: .calculation, fieldName: "comments",
            script: "`${$feature.kind} ${Count(FeatureSetByRelationshipName($feature, 'Nests'))}`",
            events: [.update])
        let few = AttributeRuleDefinition(
            name: "Few", kind: .constraint, script: "Count(FeatureSetByName($datastore, 'Birds')) < 2",
            errorMessage: "There are two birds already.")
        try await SightingsFile.with(birds: Self.birds([rule, few])) { url in
            let file = try await Sightings(url)
            try await file.add("egret")
            try await file.add("heron")
            let error = await #expect(throws: GeodatabaseError.self) { try await file.add("stork") }
            #expect(error?.details.contains("There are two birds already.") == true)
        }
        try await SightingsFile.with(birds: Self.birds([rule])) { url in
            let file = try await Sightings(url)
            try await file.add("egret")
            let bird = try #require(try await file.bird("egret"))
            let id = try #require(bird.attributes["GlobalID"] as? UUID)
            for eggs in [2, 3] {
                try await file.nests.add(file.nests.makeFeature(attributes: ["Bird": id, "eggs": Int16(eggs)]))
            }
            try await file.change("egret", ["kind": Int32(2)])
            #expect(try await file.bird("2 2") != nil)
        }
    }

    @Test("Rules that only the service runs are left to it")
    func leftToTheService() async throws {
        var served = Self.title
        served.excludesClients = true
        try await SightingsFile.with(birds: Self.birds([served])) { url in
            let file = try await Sightings(url)
            try await file.add("white egret")
            #expect(try await file.bird("white egret") != nil)
        }
    }
}
