import FieldworkREST
import Foundation
import TestSupport
import Testing

@testable import Fieldwork

/// Requests that arrive when nobody waits for them any more. The simulator found what they brought back.
@Suite("Requests that arrive late", .fewAtATime)
struct LateRequestTests {
    private static func first(_ table: ServiceFeatureTable) async throws -> ArcGISFeature {
        let found = try await table.queryFeatures(using: QueryParameters()).features()
        return try #require(found.first { _ in true } as? ArcGISFeature)
    }

    @Test("A new feature that was deleted here does not come back when its add arrives late", arguments: [false, true])
    func deletedMeanwhile(_ restarts: Bool) async throws {
        try await TestService.with { service in
            var geodatabase = try await service.geodatabase()
            var table = try #require(geodatabase.table(withLayerID: 0))
            try await table.add(table.makeFeature(attributes: ["primcause": "Fire"], geometry: DamageService.place))
            service.interceptor.fail("applyEdits", .delayed)
            await #expect(throws: Fieldwork.ServiceError.self) { try await geodatabase.applyEdits() }
            if restarts {
                geodatabase = try await service.geodatabase()
                table = try #require(geodatabase.table(withLayerID: 0))
            }
            try await table.delete(try await Self.first(table))
            #expect(geodatabase.hasLocalEdits, "it may have arrived")
            let results = try await geodatabase.applyEdits().flatMap(\.editResults)
            #expect(results.map(\.didCompleteWithErrors) == [false])
            #expect(!geodatabase.hasLocalEdits)
            let answers = try await service.interceptor.deliver()
            #expect(answers.count == 1 && answers.allSatisfy { $0.contains("409") }, "\(answers)")
            #expect(try await service.rows().isEmpty)
        }
    }

    @Test("An older value does not come back when its update arrives late")
    func updatedMeanwhile() async throws {
        try await TestService.with(damages: 1) { service in
            let geodatabase = try await service.geodatabase()
            let table = try #require(geodatabase.table(withLayerID: 0))
            let feature = try await Self.first(table)
            for (value, isDelayed) in [("Affected", true), ("Destroyed", false)] {
                feature.setAttributeValue(value, forKey: "typdamage")
                try await table.update(feature)
                if isDelayed {
                    service.interceptor.fail("applyEdits", .delayed)
                    await #expect(throws: Fieldwork.ServiceError.self) { try await geodatabase.applyEdits() }
                } else {
                    _ = try await geodatabase.applyEdits()
                }
            }
            #expect(!geodatabase.hasLocalEdits)
            #expect(try await service.interceptor.deliver().count == 1)
            #expect(try await service.rows().map { $0.attributes["typdamage"] } == [.text("Destroyed")])
        }
    }

    @Test("A deleted feature does not come back with an echo of its add")
    func echo() async throws {
        try await TestService.with { service in
            let geodatabase = try await service.geodatabase()
            let table = try #require(geodatabase.table(withLayerID: 0))
            let feature = table.makeFeature(attributes: ["primcause": "Fire"], geometry: DamageService.place)
            try await table.add(feature)
            service.interceptor.fail("applyEdits", .echoed)
            _ = try await geodatabase.applyEdits()
            try await table.delete(feature)
            _ = try await geodatabase.applyEdits()
            #expect(try await service.rows().isEmpty)
            #expect(try await service.interceptor.deliver().count == 1)
            #expect(try await service.rows().isEmpty)
            #expect(!geodatabase.hasLocalEdits)
        }
    }

    @Test("A device whose files were put back sends under a new name, and nothing is lost or twice")
    func restoredDevice() async throws {
        try await TestService.with { service in
            let geodatabase = try await service.geodatabase()
            let table = try #require(geodatabase.table(withLayerID: 0))
            try await table.add(table.makeFeature(attributes: ["primcause": "First"], geometry: DamageService.place))
            _ = try await geodatabase.applyEdits()
            let folder = service.environment().directory
            let copy = service.environment(device: "copy").directory
            try await table.add(table.makeFeature(attributes: ["primcause": "Kept"], geometry: DamageService.place))
            try FileManager.default.copyItem(at: folder, to: copy)
            // Many turns behind: it does not catch up by counting on.
            let later = ["Fifth", "Fourth", "Second", "Sixth", "Third"]
            for cause in later {
                try await table.add(table.makeFeature(attributes: ["primcause": cause], geometry: DamageService.place))
                _ = try await geodatabase.applyEdits()
            }
            let restored = try await service.geodatabase(device: "copy")
            #expect(restored.localEditsCount == 1)
            // It takes a turn that has passed: what became of its edits is not known until the next time.
            await #expect(throws: Fieldwork.ServiceError.self) { try await restored.applyEdits() }
            #expect(restored.localEditsCount == 1)
            let again = try #require(restored.table(withLayerID: 0))
            try await again.add(again.makeFeature(attributes: ["primcause": "Last"], geometry: DamageService.place))
            _ = try await restored.applyEdits()
            #expect(!restored.hasLocalEdits)
            let causes = try await service.rows().compactMap { $0.attributes["primcause"]?.textValue }
            #expect(causes.sorted() == (["First", "Kept", "Last"] + later).sorted())
        }
    }

    @Test("Turns go on after a restart, also in a file that was made anew for a changed service")
    func turns() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "turns-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        var definition = DamageService.definition
        var turns: [EditTurn] = []
        for round in 0..<3 {
            if round == 2 { definition.layers[0].fields.append(FieldDefinition(name: "reviewer", type: .string)) }
            let store = try await LocalStore.open(in: folder, definition: definition)
            turns.append(try await store.takeTurn())
            #expect(store.edits().isEmpty)
        }
        #expect(turns.map(\.number) == [1, 2, 3])
        #expect(Set(turns.map(\.sender)).count == 1)
    }
}
