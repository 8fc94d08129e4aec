import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

@testable import Fieldwork

@Suite("Contingent values and subtypes", .fewAtATime)
struct ContingentValuesTests {
    private static func withHydrants(
        _ test: (TestService, ServiceGeodatabase, ServiceFeatureTable) async throws -> Void
    ) async throws {
        try await TestService.with(HydrantService.definition, rows: []) { service in
            let geodatabase = try await service.geodatabase()
            try await test(service, geodatabase, try #require(geodatabase.table(withLayerID: 0)))
        }
    }

    private static func hydrant(
        _ table: ServiceFeatureTable, kind: Int32 = 2, _ attributes: [String: any Sendable] = [:]
    ) throws -> ArcGISFeature {
        let own = attributes.merging(["kind": kind]) { first, _ in first }
        return try #require(table.makeFeature(attributes: own) as? ArcGISFeature)
    }

    private static func codes(_ values: [ContingentValue]?) -> [String] {
        (values ?? []).compactMap { ($0 as? ContingentCodedValue)?.codedValue.name }
    }

    @Test("Subtypes have codes, domains and defaults, and a feature knows its own")
    func subtypes() async throws {
        try await Self.withHydrants { _, _, table in
            #expect(table.subtypeField == "kind" && table.subtypeFieldName == "kind")
            #expect(table.defaultSubtypeCode as? Int32 == 1)
            #expect(table.featureSubtypes.map(\.name) == ["Pillar", "Underground"])
            let pillar = try #require(table.featureSubtypes.first)
            #expect(pillar.code as? Int32 == 1)
            #expect((pillar.domains["material"] as? CodedValueDomain)?.codedValues.map(\.name) == ["Cast iron"])
            let made = try #require(table.makeFeature(subtype: pillar) as? ArcGISFeature)
            #expect(made.featureSubtype?.name == "Pillar")
            #expect(made.attributeValue(forKey: "diameter") as? Double == 100)
            made.setAttributeValue(Int32(9), forKey: "kind")
            #expect(made.featureSubtype == nil)
        }
    }

    @Test("The groups come from the service, once, and say nothing before they are loaded")
    func loading() async throws {
        try await Self.withHydrants { service, _, table in
            let definition = table.contingentValuesDefinition
            #expect(definition === table.contingentValuesDefinition)
            #expect(definition.fieldGroups.isEmpty)
            let hydrant = try Self.hydrant(table, ["material": "I"])
            #expect(table.contingentValues(with: hydrant, forFieldNamed: "diameter") == nil)
            try await definition.load()
            try await definition.load()
            #expect(service.interceptor.sent.count { $0 == "contingentValues" } <= 1)
            let groups = definition.fieldGroups
            #expect(groups.map(\.name) == ["Pipe", "Advice"])
            #expect(groups.map(\.isRestrictive) == [true, false])
            #expect(groups.first?.contingencies.map(\.id).sorted() == [1, 2, 3])
            let third = try #require(groups.first?.contingencies.first { $0.id == 3 })
            #expect(third.subtype?.name == "Pillar")
            #expect(third.values["diameter"] is ContingentAnyValue)
            #expect((third.values["material"] as? ContingentCodedValue)?.codedValue.name == "Cast iron")
        }
    }

    @Test("What a field may hold depends on the other fields and on the subtype")
    func possibleValues() async throws {
        try await Self.withHydrants { _, _, table in
            try await table.contingentValuesDefinition.load()
            let open = try Self.hydrant(table)
            let materials = try #require(table.contingentValues(with: open, forFieldNamed: "MATERIAL"))
            #expect(Self.codes(materials.contingentValuesByFieldGroup["Pipe"]) == ["Steel", "Plastic"])
            #expect(Self.codes(materials.contingentValuesByFieldGroup["Advice"]) == ["Steel"])
            #expect(Self.codes(materials.contingentValues) == ["Steel", "Plastic"])
            let plastic = try Self.hydrant(table, ["material": "P"])
            let widths = try #require(table.contingentValues(with: plastic, forFieldNamed: "diameter"))
            let range = try #require(widths.contingentValues.first as? ContingentRangeValue)
            #expect(range.minValue as? Double == 20 && range.maxValue as? Double == 80)
            let wide = try Self.hydrant(table, ["diameter": 120.0])
            let fitting = table.contingentValues(with: wide, forFieldNamed: "material")
            #expect(Self.codes(fitting?.contingentValuesByFieldGroup["Pipe"]) == ["Steel"])
            let pillar = try Self.hydrant(table, kind: 1)
            let own = table.contingentValues(with: pillar, forFieldNamed: "material")
            #expect(Self.codes(own?.contingentValuesByFieldGroup["Pipe"]) == ["Cast iron"])
            #expect(table.contingentValues(with: open, forFieldNamed: "kind") == nil)
        }
    }

    @Test("Values that don't go together are errors where the service refuses them, else warnings")
    func violations() async throws {
        try await Self.withHydrants { _, geodatabase, table in
            try await table.contingentValuesDefinition.load()
            #expect(table.validateContingencyConstraints(for: try Self.hydrant(table)).isEmpty)
            let good = try Self.hydrant(table, ["material": "S", "diameter": 150.0])
            #expect(table.validateContingencyConstraints(for: good).isEmpty)
            let bad = try Self.hydrant(table, ["material": "P", "diameter": 81.0])
            let violations = table.validateContingencyConstraints(for: bad)
            #expect(violations.map(\.fieldGroup.name) == ["Pipe", "Advice"])
            #expect(violations.map(\.severity) == [.error, .warning])
            #expect(violations.first?.subtype?.name == "Underground")
            // The device keeps what somebody saved; the service says no, with the same judgement.
            try await table.add([good, bad])
            let results = try await geodatabase.applyEdits().flatMap(\.editResults)
            #expect(results.map(\.didCompleteWithErrors) == [false, true])
            #expect(geodatabase.hasLocalEdits)
        }
    }
}

@Suite("Relationships of many to many", .fewAtATime)
struct ManyToManyTests {
    @Test("Both sides are found over the table between them, with the edits on this device")
    func related() async throws {
        try await TestService.with(HydrantService.definition, rows: []) { service in
            let geodatabase = try await service.geodatabase()
            let tables = try (0...2).map { try #require(geodatabase.table(withLayerID: $0)) }
            let hydrants = ["a", "b"].map { tables[0].makeFeature(attributes: ["comment": $0]) }
            let crews = ["North", "South"].map { tables[1].makeFeature(attributes: ["name": $0]) }
            try await tables[0].add(hydrants)
            try await tables[1].add(crews)
            func duty(_ hydrant: Int, _ crew: Int) async throws {
                try await tables[2].add(
                    tables[2].makeFeature(
                        attributes: [
                            "HydrantID": hydrants[hydrant].attributeValue(forKey: "GlobalID"),
                            "CrewID": crews[crew].attributeValue(forKey: "GlobalID"),
                        ].compactMapValues(\.self)))
            }
            try await duty(0, 0)
            try await duty(0, 1)
            _ = try await geodatabase.applyEdits()
            try await duty(1, 0)
            let info = try #require(tables[0].layerInfo?.relationshipInfos.first)
            #expect(info.relationshipTableID == 2 && info.relationshipTableKeyField == "HydrantID")
            let parameters = RelatedQueryParameters(relationshipInfo: info)
            parameters.addOrderByField(OrderBy(fieldName: "name", sortOrder: .descending))
            let first = try #require(hydrants[0] as? ArcGISFeature)
            let found = try #require(try await tables[0].queryRelatedFeatures(to: first, using: parameters).first)
            #expect(found.features().map { $0.attributeValue(forKey: "name") as? String } == ["South", "North"])
            #expect(found.relatedTable === tables[1])
            let second = try #require(hydrants[1] as? ArcGISFeature)
            #expect(try await tables[0].queryRelatedFeatureCount(for: second) == 1)
            let north = try #require(crews[0] as? ArcGISFeature)
            #expect(try await tables[1].queryRelatedFeatureCount(for: north) == 2)
            parameters.whereClause = "name = 'North'"
            #expect(try await tables[0].queryRelatedFeatureCount(for: first, using: parameters) == 1)
            #expect(throws: CommonError.self) { try first.relate(to: north) }
        }
    }
}
