import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

@testable import Fieldwork

/// What a device keeps of unsent edits, without a service.
@Suite("Unsent edits on this device", .fewAtATime)
struct LocalStoreTests {
    private static let layer = DamageService.damage

    private static func row(_ objectID: Int64, _ damage: String) -> FeatureRecord {
        FeatureRecord(
            objectID: objectID, globalID: UUID(),
            attributes: [
                "objectid": .integer(objectID), "typdamage": .text(damage), "numoccup": .integer(1),
            ], geometry: DamageService.place)
    }

    private static func with(_ test: (LocalStore) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "local-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try await test(try await LocalStore.open(in: folder, definition: DamageService.definition))
    }

    private static func damages(_ store: LocalStore) async throws -> [String?] {
        try await store.records(FeatureQuery(), in: layer.id).map { $0.attributes["typdamage"]?.textValue }
    }

    private static func change(_ row: FeatureRecord, _ damage: String, _ store: LocalStore) async throws {
        try await store.update(
            [
                .init(
                    objectID: row.objectID, base: row, attributes: [("typdamage", .text(damage))],
                    geometry: .unchanged)
            ], in: layer)
    }

    @Test("A new feature that is deleted is forgotten, unless the service may have it")
    func deletedAdd() async throws {
        for isSent in [false, true] {
            try await Self.with { store in
                var new = Self.row(0, "Minor")
                new.attributes["objectid"] = nil
                let added = try await store.add([new], to: Self.layer, isCached: false)
                if isSent { _ = try await store.beginAttempt(store.edits()) }
                try await store.delete(added, in: Self.layer)
                #expect(store.edits().map(\.operation) == (isSent ? [.delete] : []))
            }
        }
    }

    @Test("Rows of the service take the place of cached ones, and not of those that were edited here")
    func cached() async throws {
        try await Self.with { store in
            let rows = [Self.row(1, "Minor"), Self.row(2, "Minor")]
            try await store.cache(rows, of: Self.layer, clears: true)
            try await Self.change(rows[0], "Major", store)
            let newer = rows.map { $0.applying([("typdamage", .text("Affected"))], .unchanged) }
            for clears in [false, true] {
                try await store.cache(newer, of: Self.layer, clears: clears)
                #expect(try await Self.damages(store) == ["Major", "Affected"])
            }
        }
    }

    @Test("Edits that are forgotten leave the rows as the service had them", arguments: [true, false])
    func forgotten(whole: Bool) async throws {
        try await Self.with { store in
            let rows = [Self.row(1, "Minor"), Self.row(2, "Affected"), Self.row(3, "Major")]
            try await store.cache(rows, of: Self.layer, clears: true)
            try await Self.change(rows[0], "Destroyed", store)
            try await store.delete([rows[1]], in: Self.layer)
            #expect(try await Self.damages(store) == ["Destroyed", "Major"])
            if whole {
                try await store.undo(in: nil)
            } else {
                try await store.undo([1, 2].map { LocalEdit.Key(layerID: Self.layer.id, objectID: $0) })
            }
            #expect(!store.hasEdits)
            #expect(try await Self.damages(store) == ["Minor", "Affected", "Major"])
        }
    }
}
