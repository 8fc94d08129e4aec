import FieldworkREST
import Foundation
import TestSupport
import Testing

@testable import Fieldwork

@Suite("Attachments", .fewAtATime)
struct AttachmentTests {
    private static let photo = Data("a photo".utf8)

    /// A device over a service of one tree whose attachments are scripted.
    private static func withTree(
        keepsGlobalIDs: Bool = true,
        _ test: (TestService, AttachmentScript, ServiceGeodatabase, ArcGISFeature) async throws -> Void
    ) async throws {
        try await TestService.withTrees(1) { service in
            let script = AttachmentScript(over: service.interceptor, keepsGlobalIDs: keepsGlobalIDs)
            let geodatabase = try await load(service, script)
            let table = try #require(geodatabase.table(withLayerID: 0))
            try await test(service, script, geodatabase, try await tree(table))
        }
    }

    private static func load(_ service: TestService, _ script: AttachmentScript) async throws -> ServiceGeodatabase {
        let environment = ServiceEnvironment(
            directory: service.folder.appending(path: "device"), client: script, downloads: script)
        let geodatabase = ServiceGeodatabase(url: service.url, environment: environment)
        try await geodatabase.load()
        return geodatabase
    }

    private static func tree(_ table: ServiceFeatureTable) async throws -> ArcGISFeature {
        let found = try await table.queryFeatures(using: QueryParameters()).features().first { _ in true }
        return try #require(found as? ArcGISFeature)
    }

    private static func contents(_ service: TestService) -> [String] {
        let folders = FileManager.default.enumerator(
            at: service.folder.appending(path: "device"), includingPropertiesForKeys: nil)
        let files = folders?.compactMap { $0 as? URL } ?? []
        return files.filter { $0.deletingLastPathComponent().lastPathComponent == "attachments" }.map(\.path)
    }

    private static func attachmentResults(_ results: [FeatureTableEditResult]) -> [Fieldwork.EditResult] {
        results.flatMap(\.editResults).flatMap(\.attachmentResults)
    }

    @Test("An attachment is on this device until the edits are applied, then in the service, with the same bytes")
    func adding() async throws {
        try await Self.withTree { service, script, geodatabase, tree in
            #expect(tree.canEditAttachments)
            let added = try await tree.addAttachment(named: "a.jpg", contentType: "image/jpeg", data: Self.photo)
            #expect(added.id < 0)
            #expect(added.hasFetchedData)
            #expect(added.size == Self.photo.count)
            #expect(geodatabase.hasLocalEdits)
            #expect(script.stored.isEmpty)
            #expect(try await tree.attachments.map(\.name) == ["a.jpg"])
            let results = try await geodatabase.applyEdits()
            let result = try #require(Self.attachmentResults(results).first)
            #expect(result.error == nil)
            #expect(result.editOperation == .add)
            #expect(result.objectID == script.stored.first?.id)
            #expect(result.globalID == script.stored.first?.globalID)
            #expect(script.stored.map(\.bytes) == [Self.photo])
            #expect(script.sent.filter { $0 != "attachments" } == ["applyEdits"])
            #expect(!geodatabase.hasLocalEdits)
            #expect(Self.contents(service).isEmpty)
            let there = try #require(try await tree.fetchAttachments().first)
            #expect(there.id > 0)
            #expect(!there.hasFetchedData)
            #expect(try await there.data == Self.photo)
            #expect(there.hasFetchedData)
            // The object that was handed out before still leads to the bytes.
            #expect(try await added.fetchData() == Self.photo)
        }
    }

    @Test("A new feature and its attachments are applied together, features first")
    func newFeature() async throws {
        try await Self.withTree { service, script, geodatabase, _ in
            let table = try #require(geodatabase.table(withLayerID: 0))
            let tree = try #require(
                table.makeFeature(attributes: ["Kind": "park"], geometry: TreeService.place) as? ArcGISFeature)
            #expect(!tree.canEditAttachments)
            await #expect(throws: GeodatabaseError.self) {
                try await tree.addAttachment(named: "a.jpg", contentType: "image/jpeg", data: Self.photo)
            }
            try await table.add(tree)
            try await tree.addAttachment(named: "a.jpg", contentType: "image/jpeg", data: Self.photo)
            try await tree.addAttachment(named: "b.txt", contentType: "text/plain", data: Data("b".utf8))
            let results = try await geodatabase.applyEdits()
            let own = try #require(results.first?.editResults.first)
            #expect(own.editOperation == .add)
            #expect(own.attachmentResults.map { $0.error == nil } == [true, true])
            let globalID = try #require(tree.attributeValue(forKey: "GlobalID") as? UUID)
            #expect(script.stored.map(\.parent) == Array(repeating: GUID.normalForm(globalID), count: 2))
            #expect(script.stored.map(\.name) == ["a.jpg", "b.txt"])
            #expect(try await service.rows().count == 2)
            #expect(!geodatabase.hasLocalEdits)
        }
    }

    @Test("When the answer is lost the attachment is in the service once", arguments: [true, false])
    func lostAnswer(keepsGlobalIDs: Bool) async throws {
        try await Self.withTree(keepsGlobalIDs: keepsGlobalIDs) { service, script, geodatabase, tree in
            let operation = keepsGlobalIDs ? "applyEdits" : "addAttachment"
            try await tree.addAttachment(named: "a.jpg", contentType: "image/jpeg", data: Self.photo)
            script.loseAnswer(of: operation)
            await #expect(throws: Fieldwork.ServiceError.self) { try await geodatabase.applyEdits() }
            #expect(script.stored.count == 1)
            #expect(geodatabase.hasLocalEdits)
            #expect(try await tree.attachments.count == 1)
            let results = try await geodatabase.applyEdits()
            #expect(Self.attachmentResults(results).map(\.objectID) == script.stored.map(\.id))
            #expect(script.stored.count == 1)
            #expect(script.sent.count { $0 == operation } == 1)
            #expect(!geodatabase.hasLocalEdits)
        }
    }

    @Test("What did not arrive is sent again", arguments: [true, false])
    func unreachable(keepsGlobalIDs: Bool) async throws {
        try await Self.withTree(keepsGlobalIDs: keepsGlobalIDs) { service, script, geodatabase, tree in
            try await tree.addAttachment(named: "a.jpg", contentType: "image/jpeg", data: Self.photo)
            script.loseAnswer(of: keepsGlobalIDs ? "applyEdits" : "addAttachment")
            await #expect(throws: Fieldwork.ServiceError.self) { try await geodatabase.applyEdits() }
            // Changed after it was sent: what arrived is replaced.
            let own = try #require(try await tree.attachments.first { $0.isLocal })
            try await tree.updateAttachment(own, name: "b.jpg", contentType: "image/jpeg", data: Data("b".utf8))
            _ = try await geodatabase.applyEdits()
            #expect(script.stored.map(\.name) == ["b.jpg"])
            #expect(script.stored.map(\.bytes) == [Data("b".utf8)])
            #expect(!geodatabase.hasLocalEdits)
        }
    }

    @Test("Attachments are replaced and deleted in the service when the edits are applied", arguments: [true, false])
    func replacingAndDeleting(keepsGlobalIDs: Bool) async throws {
        try await Self.withTree(keepsGlobalIDs: keepsGlobalIDs) { service, script, geodatabase, tree in
            for name in ["a.jpg", "b.jpg"] {
                try await tree.addAttachment(named: name, contentType: "image/jpeg", data: Self.photo)
            }
            _ = try await geodatabase.applyEdits()
            let there = try await tree.attachments
            try await tree.updateAttachment(there[0], name: "c.png", contentType: "image/png", data: Data("c".utf8))
            #expect(try await there[0].data == Data("c".utf8))
            try await tree.deleteAttachment(there[1])
            #expect(try await tree.attachments.map(\.name) == ["c.png"])
            #expect(script.stored.map(\.name) == ["a.jpg", "b.jpg"])
            let results = try await geodatabase.applyEdits()
            #expect(Set(Self.attachmentResults(results).map(\.editOperation)) == [.update, .delete])
            #expect(script.stored.map(\.name) == ["c.png"])
            #expect(script.stored.map(\.bytes) == [Data("c".utf8)])
            #expect(!geodatabase.hasLocalEdits)
        }
    }

    @Test("A deletion whose answer was lost counts as done")
    func lostDeletion() async throws {
        try await Self.withTree { service, script, geodatabase, tree in
            try await tree.addAttachment(named: "a.jpg", contentType: "image/jpeg", data: Self.photo)
            _ = try await geodatabase.applyEdits()
            try await tree.deleteAttachments(try await tree.attachments)
            script.loseAnswer(of: "applyEdits")
            await #expect(throws: Fieldwork.ServiceError.self) { try await geodatabase.applyEdits() }
            let results = try await geodatabase.applyEdits()
            #expect(Self.attachmentResults(results).map { $0.error == nil } == [true])
            #expect(script.stored.isEmpty)
            #expect(!geodatabase.hasLocalEdits)
        }
    }

    @Test("A refused attachment says why and stays, and the others arrive")
    func refusal() async throws {
        try await Self.withTree { service, script, geodatabase, tree in
            script.refuse("a.exe")
            try await tree.addAttachment(named: "a.exe", contentType: "application/x-exe", data: Self.photo)
            try await tree.addAttachment(named: "b.jpg", contentType: "image/jpeg", data: Self.photo)
            let results = Self.attachmentResults(try await geodatabase.applyEdits())
            #expect(results.count { $0.didCompleteWithErrors } == 1)
            let error = try #require(results.first { $0.didCompleteWithErrors }?.error as? Fieldwork.ServiceError)
            #expect(error.details.contains("not allowed"))
            #expect(script.stored.map(\.name) == ["b.jpg"])
            #expect(geodatabase.hasLocalEdits)
            #expect(try await tree.attachments.map(\.name).sorted() == ["a.exe", "b.jpg"])
            script.refuse(nil)
            _ = try await geodatabase.applyEdits()
            #expect(script.stored.map(\.name) == ["b.jpg", "a.exe"])
            #expect(!geodatabase.hasLocalEdits)
        }
    }

    @Test("Features that arrived are reported even when the attachments fail on the way")
    func halfWay() async throws {
        try await Self.withTree { service, script, geodatabase, tree in
            tree.setAttributeValue("moved", forKey: "Notes")
            try await tree.table?.update(tree)
            try await tree.addAttachment(named: "a.jpg", contentType: "image/jpeg", data: Self.photo)
            script.loseAnswer(of: "applyEdits")
            let results = try await geodatabase.applyEdits()
            let own = try #require(results.first?.editResults.first)
            #expect(!own.didCompleteWithErrors)
            #expect(own.attachmentResults.map(\.didCompleteWithErrors) == [true])
            #expect(try await service.rows().first?.attributes["Notes"] == .text("moved"))
            #expect(geodatabase.hasLocalEdits)
            let table = try #require(geodatabase.table(withLayerID: 0))
            #expect(try await table.updatedFeaturesCount() == 1)
            _ = try await geodatabase.applyEdits()
            #expect(script.stored.count == 1)
            #expect(!geodatabase.hasLocalEdits)
        }
    }

    @Test("Undoing forgets staged attachments and their bytes")
    func undoing() async throws {
        try await Self.withTree { service, script, geodatabase, tree in
            try await tree.addAttachment(named: "a.jpg", contentType: "image/jpeg", data: Self.photo)
            _ = try await geodatabase.applyEdits()
            let old = try #require(try await tree.attachments.first)
            try await tree.deleteAttachment(old)
            let new = try await tree.addAttachment(named: "b.jpg", contentType: "image/jpeg", data: Self.photo)
            #expect(Self.contents(service).count == 1)
            try await geodatabase.undoLocalEdits()
            #expect(!geodatabase.hasLocalEdits)
            #expect(Self.contents(service).isEmpty)
            #expect(try await tree.attachments.map(\.name) == ["a.jpg"])
            await #expect(throws: GeodatabaseError.self) { try await tree.deleteAttachment(new) }
        }
    }

    @Test("A staged attachment that is deleted again leaves nothing behind")
    func cancellingOut() async throws {
        try await Self.withTree { service, script, geodatabase, tree in
            let added = try await tree.addAttachment(named: "a.jpg", contentType: "image/jpeg", data: Self.photo)
            try await tree.deleteAttachment(added)
            #expect(!geodatabase.hasLocalEdits)
            #expect(Self.contents(service).isEmpty)
            #expect(try await geodatabase.applyEdits().isEmpty)
            #expect(script.sent.isEmpty)
        }
    }

    @Test("Staged attachments are there again after the app was ended, and orphaned bytes are gone")
    func restart() async throws {
        try await TestService.withTrees(1) { service in
            let script = AttachmentScript(over: service.interceptor)
            do {
                let geodatabase = try await Self.load(service, script)
                let tree = try await Self.tree(try #require(geodatabase.table(withLayerID: 0)))
                try await tree.addAttachment(named: "a.jpg", contentType: "image/jpeg", data: Self.photo)
                let file = try #require(Self.contents(service).first)
                try Data().write(to: URL(filePath: file).deletingLastPathComponent().appending(path: "orphan.part"))
            }
            let geodatabase = try await Self.load(service, script)
            #expect(geodatabase.hasLocalEdits)
            #expect(Self.contents(service).count == 1)
            let tree = try await Self.tree(try #require(geodatabase.table(withLayerID: 0)))
            let staged = try #require(try await tree.attachments.first)
            #expect(try await staged.data == Self.photo)
            _ = try await geodatabase.applyEdits()
            #expect(script.stored.map(\.bytes) == [Self.photo])
        }
    }

    @Test("A feature that is deleted takes its staged attachments along when the service is told of its delete")
    func deletedFeature() async throws {
        try await Self.withTree { service, script, geodatabase, tree in
            try await tree.addAttachment(named: "a.jpg", contentType: "image/jpeg", data: Self.photo)
            try await tree.table?.delete(tree)
            // Until then the feature may come back with them.
            #expect(Self.contents(service).count == 1)
            _ = try await geodatabase.applyEdits()
            #expect(script.stored.isEmpty && Self.contents(service).isEmpty)
            #expect(try await service.rows().isEmpty)
            #expect(!geodatabase.hasLocalEdits)
        }
    }

    @Test("Tables without attachments, and names that are ways, are refused")
    func refusals() async throws {
        try await Self.withTree { service, script, geodatabase, tree in
            for name in ["", "..", "a/b.jpg", "a\\b.jpg", "a\n.jpg", String(repeating: "a", count: 256)] {
                await #expect(throws: GeodatabaseError.self) {
                    try await tree.addAttachment(named: name, contentType: "image/jpeg", data: Self.photo)
                }
            }
            let species = try #require(geodatabase.table(withLayerID: 2))
            let maple = try await Self.tree(species)
            #expect(!species.hasAttachments)
            #expect(!maple.canEditAttachments)
            await #expect(throws: GeodatabaseError.self) { try await maple.attachments }
            #expect(Self.contents(service).isEmpty)
        }
    }
}
