import FieldworkGeometry
import FieldworkREST
import Foundation
import TestSupport
import Testing

@testable import Fieldwork

@Suite("Features of others", .fewAtATime)
struct OwnershipTests {
    /// Reports that only who made them may change.
    private static var definition: ServiceDefinition {
        var damage = DamageService.damage
        damage.ownershipAccess = OwnershipAccess(allowsOthersToUpdate: false, allowsOthersToDelete: false)
        return ServiceDefinition(name: DamageService.name, spatialReference: .webMercator, layers: [damage])
    }

    @Test("Who has not signed in may change what is still on this device, and nothing that the service has")
    func ownership() async throws {
        let add = FeatureEdit(
            attributes: [("primcause", .text("theirs"))], geometry: .geometry(DamageService.place))
        try await TestService.with(Self.definition, rows: [LayerEdits(layerID: 0, adds: [add])]) { service in
            let table = try #require(try await service.geodatabase().table(withLayerID: 0))
            let theirs = try #require(
                try await table.queryFeatures(using: QueryParameters()).features().first { _ in true })
            #expect(table.isEditable && table.canAdd)
            #expect(!table.canUpdate(theirs) && !table.canDelete(theirs) && !table.canEditGeometry(of: theirs))
            theirs.setAttributeValue("mine", forKey: "primcause")
            await #expect(throws: GeodatabaseError.self) { try await table.update(theirs) }
            await #expect(throws: GeodatabaseError.self) { try await table.delete(theirs) }
            #expect(try await !table.hasLocalEdits())

            let mine = table.makeFeature(attributes: ["primcause": "mine"], geometry: DamageService.place)
            #expect(table.canUpdate(mine))
            try await table.add(mine)
            #expect(table.canUpdate(mine) && table.canDelete(mine))
            mine.setAttributeValue("still mine", forKey: "primcause")
            try await table.update(mine)
            _ = try await table.applyEdits()
            #expect(!table.canUpdate(mine), "the service does not know whose it is")
            #expect(
                try await service.rows().map { $0.attributes["primcause"] } == [.text("theirs"), .text("still mine")])
        }
    }
}
