import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

@testable import Fieldwork

/// A feature whose add was lost on its way may have been edited under both of its ids: that of this device, and that of the
/// service. The simulator found what was lost of that.
@Suite("Edits of one feature under two ids", .fewAtATime)
struct LateAddTests {
    private static let globalID = UUID()
    private static let layer = DamageService.damage

    /// The feature as the service has it.
    private static var row: FeatureRecord {
        FeatureRecord(
            objectID: 8, globalID: globalID,
            attributes: ["objectid": .integer(8), "typdamage": .text("Minor"), "numoccup": .integer(1)],
            geometry: DamageService.place)
    }

    /// An add that is under way and was changed since, and edits of the same feature under its id in the service.
    private static func with(
        _ test: (LocalStore, _ sent: [LocalEdit], _ content: UUID) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "joined-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try await LocalStore.open(in: folder, definition: DamageService.definition)
        var new = row
        new.attributes["objectid"] = nil
        let added = try await store.add([new], to: layer, isCached: false)
        let sent = try await store.beginAttempt(store.edits()).edits
        try await store.update(
            [
                .init(
                    objectID: added[0].objectID, base: added[0], attributes: [("typdamage", .text("Major"))],
                    geometry: .unchanged)
            ], in: layer)
        try await store.update(
            [.init(objectID: 8, base: row, attributes: [("numoccup", .integer(7))], geometry: .unchanged)], in: layer)
        let kept = try store.attachmentFiles.keep(.data(Data("a photo".utf8)))
        var photo = Fieldwork.AttachmentEdit(id: 0, globalID: UUID(), operation: .add)
        (photo.name, photo.content, photo.size) = ("photo.jpg", kept.id, kept.size)
        try await store.stage(photo, of: row, in: layer)
        try #require(store.edits().count == 2)
        try await test(store, sent, kept.id)
        // What is on disk says the same.
        let again = try await LocalStore.open(in: folder, definition: DamageService.definition)
        #expect(again.edits().map(\.key) == store.edits().map(\.key))
        let contents = { (edits: [LocalEdit]) in edits.map { $0.attachments.map(\.content) } }
        #expect(contents(again.edits()) == contents(store.edits()))
    }

    @Test("When the add has arrived they are one edit, with the values and the photo of both")
    func arrived() async throws {
        try await Self.with { store, sent, content in
            try await store.settle(sent.map { ($0, .applied(Self.row)) })
            let edit = try #require(store.edits().first)
            #expect(store.edits().count == 1 && edit.key.objectID == 8 && edit.operation == .update)
            #expect(edit.current?.attributes["typdamage"] == .text("Major"))
            #expect(edit.current?.attributes["numoccup"] == .integer(7))
            #expect(edit.attachments.map(\.content) == [content])
            #expect(FileManager.default.fileExists(atPath: store.attachmentFiles.url(of: content).path))
        }
    }

    @Test("A delete under the service's id stands")
    func deleted() async throws {
        try await Self.with { store, sent, content in
            try await store.delete([Self.row], in: Self.layer)
            try await store.settle(sent.map { ($0, .applied(Self.row)) })
            #expect(store.edits().map(\.operation) == [.delete])
            #expect(store.edits().map(\.key.objectID) == [8])
            // Until the delete is sent the feature may come back, with its photo.
            let photo = store.attachmentFiles.url(of: content)
            #expect(FileManager.default.fileExists(atPath: photo.path))
            let deletes = try await store.beginAttempt(store.edits()).edits
            try await store.settle(deletes.map { ($0, .applied(nil)) })
            #expect(store.edits().isEmpty && !FileManager.default.fileExists(atPath: photo.path))
        }
    }

    @Test("As long as nobody knows that the add arrived, the feature is seen once, with what was edited last")
    func seenOnce() async throws {
        try await TestService.with { service in
            let geodatabase = try await service.geodatabase()
            let table = try #require(geodatabase.table(withLayerID: 0))
            try await table.add(
                table.makeFeature(attributes: ["typdamage": "Minor"], geometry: DamageService.place))
            service.interceptor.fail("applyEdits", .losesAnswer)
            await #expect(throws: Fieldwork.ServiceError.self) { try await geodatabase.applyEdits() }
            // A query that was asked before the feature was added here shows it under the service's id.
            let row = try #require(try await service.rows().first)
            let local = try #require(geodatabase.session?.local)
            let change = LocalStore.Update(
                objectID: row.objectID, base: row, attributes: [("typdamage", .text("Major"))], geometry: .unchanged)
            try await local.update([change], in: Self.layer)
            try #require(local.edits().count == 2)
            let seen = try await table.queryFeatures(using: QueryParameters(), queryFeatureFields: .loadAll).features()
            #expect(seen.map { $0.attributes["typdamage"] as? String } == ["Major"])
            #expect(try await table.queryFeatureCount(using: QueryParameters()) == 1)
            _ = try await geodatabase.applyEdits()
            #expect(!geodatabase.hasLocalEdits)
            #expect(try await service.rows().map { $0.attributes["typdamage"] } == [.text("Major")])
        }
    }

    @Test("An add that arrives late, after the feature was changed and sent again, keeps what was changed")
    func arrivedLate() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "late-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        var new = Self.row
        new.attributes["objectid"] = nil
        var store = try await LocalStore.open(in: folder, definition: DamageService.definition)
        let added = try await store.add([new], to: Self.layer, isCached: false)
        let first = try await store.beginAttempt(store.edits()).edits
        try await store.settle(first.map { ($0, .notSent) })
        try await store.update(
            [
                .init(
                    objectID: added[0].objectID, base: added[0], attributes: [("typdamage", .text("Major"))],
                    geometry: .unchanged)
            ], in: Self.layer)
        let second = try await store.beginAttempt(store.edits()).edits
        // The process ended; then the service has what was sent first, and somebody has changed another field of it.
        store = try await LocalStore.open(in: folder, definition: DamageService.definition)
        var there = Self.row
        there.attributes["numoccup"] = .integer(5)
        try await store.settle(second.map { ($0, .found(there)) })
        let edit = try #require(store.edits().first)
        #expect(store.edits().count == 1 && edit.key.objectID == 8 && edit.operation == .update)
        let changes = LocalEdit.changes(from: edit.base, to: try #require(edit.current), layer: Self.layer)
        #expect(changes.map(\.name) == ["typdamage"] && changes.first?.value == .text("Major"))
        #expect(edit.firstSent == nil)
    }

    @Test("An add that is taken at the second try leaves nothing to send, whatever was sent first")
    func secondTry() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "second-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        var new = Self.row
        new.attributes["objectid"] = nil
        let store = try await LocalStore.open(in: folder, definition: DamageService.definition)
        let added = try await store.add([new], to: Self.layer, isCached: false)
        let first = try await store.beginAttempt(store.edits()).edits
        try await store.settle(first.map { ($0, .notSent) })
        let change = LocalStore.Update(
            objectID: added[0].objectID, base: added[0], attributes: [("typdamage", .text("Major"))],
            geometry: .unchanged)
        try await store.update([change], in: Self.layer)
        let second = try await store.beginAttempt(store.edits()).edits
        try #require(second.first?.firstSent != nil)
        var there = Self.row
        // Somebody has changed it again before this device looked.
        there.attributes["typdamage"] = .text("Destroyed")
        try await store.settle(second.map { ($0, .applied(there)) })
        #expect(store.edits().isEmpty)
    }

    @Test("A new feature that may still arrive leaves a delete behind when it is deleted here")
    func deletedWhileUnderWay() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "under-way-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        var new = Self.row
        new.attributes["objectid"] = nil
        let store = try await LocalStore.open(in: folder, definition: DamageService.definition)
        for isSure in [false, true] {
            let added = try await store.add([new], to: Self.layer, isCached: false)
            let sent = try await store.beginAttempt(store.edits()).edits
            try await store.settle(sent.map { ($0, isSure ? .neverArrives : .notSent) })
            try await store.delete(added, in: Self.layer)
            #expect(store.edits().map(\.operation) == (isSure ? [] : [.delete]))
            try await store.undo(in: nil)
        }
    }
}
