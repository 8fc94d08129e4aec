import FieldworkREST
import Foundation
import TestSupport
import Testing

@testable import Fieldwork

@Suite("Attachments of pop-ups", .fewAtATime)
struct PopupAttachmentTests {
    private static func withManager(
        _ test: (AttachmentScript, ServiceGeodatabase, PopupManager) async throws -> Void
    ) async throws {
        try await TestService.withTrees(1) { service in
            let script = AttachmentScript(over: service.interceptor)
            let geodatabase = ServiceGeodatabase(
                url: service.url,
                environment: ServiceEnvironment(
                    directory: service.folder.appending(path: "device"), client: script, downloads: script))
            try await geodatabase.load()
            let table = try #require(geodatabase.table(withLayerID: 0))
            let tree = try #require(
                try await table.queryFeatures(using: QueryParameters()).features().first { _ in true })
            try await test(script, geodatabase, PopupManager(popup: Popup(geoElement: tree)))
        }
    }

    private static func photo(_ name: String) -> StagedAttachment {
        StagedAttachment(name: name, contentType: "image/jpeg", keywords: "bark", data: Data("a long photo".utf8))
    }

    @Test("Staged attachments are renamed and made smaller, and kept when the session is finished")
    func session() async throws {
        try await Self.withManager { script, geodatabase, manager in
            let attachments = try #require(manager.attachments)
            #expect(throws: CommonError.self) { try attachments.add(Self.photo("a.jpg")) }
            #expect(manager.startEditing())
            #expect(try attachments.add(Self.photo("a.jpg")) == 0)
            #expect(try attachments.add(Self.photo("b.jpg")) == 1)
            let second = try #require(attachments.staged.last)
            second.name = "c.jpg"
            second.preferredSize = .small
            attachments.scaler = { data, _, edge in data.prefix(edge / 640) }
            #expect(manager.hasEdits && !geodatabase.hasLocalEdits)
            try await manager.finishEditing()
            #expect(geodatabase.hasLocalEdits && !manager.isEditing && attachments.staged.isEmpty)
            _ = try await geodatabase.applyEdits()
            #expect(script.stored.map(\.name) == ["a.jpg", "c.jpg"])
            #expect(script.stored.map(\.bytes.count) == [12, 1])
        }
    }

    @Test("Deletions are staged, and cancelling forgets all that was staged")
    func cancelling() async throws {
        try await Self.withManager { script, geodatabase, manager in
            let attachments = try #require(manager.attachments)
            manager.startEditing()
            try attachments.add(Self.photo("a.jpg"))
            try await manager.finishEditing()
            _ = try await geodatabase.applyEdits()
            try await attachments.fetch()
            let old = try #require(attachments.attachments.first)
            manager.startEditing()
            #expect(try attachments.delete(old))
            try attachments.add(Self.photo("b.jpg"))
            #expect(attachments.attachments.isEmpty)
            manager.cancelEditing()
            #expect(attachments.attachments.map(\.name) == ["a.jpg"])
            #expect(attachments.staged.isEmpty && !geodatabase.hasLocalEdits)
            manager.startEditing()
            try attachments.delete(old)
            try await manager.finishEditing()
            _ = try await geodatabase.applyEdits()
            #expect(script.stored.isEmpty)
        }
    }

    @Test("A name that can't be kept leaves the session open and the attachment staged")
    func failure() async throws {
        try await Self.withManager { script, geodatabase, manager in
            let attachments = try #require(manager.attachments)
            manager.startEditing()
            try attachments.add(Self.photo("a/b.jpg"))
            await #expect(throws: GeodatabaseError.self) { try await manager.finishEditing() }
            #expect(manager.isEditing && attachments.staged.count == 1 && !geodatabase.hasLocalEdits)
            attachments.staged.first?.name = "b.jpg"
            try await manager.finishEditing()
            #expect(!manager.isEditing && geodatabase.hasLocalEdits)
        }
    }

    @Test("An element shows the attachments with its keywords, and loading one gives a file with its bytes")
    func element() async throws {
        try await Self.withManager { script, geodatabase, manager in
            let tree = try #require(manager.popup.geoElement as? ArcGISFeature)
            try await tree.addAttachment(
                named: "a.jpg", contentType: "image/jpeg", keywords: "bark", data: Data("a".utf8))
            try await tree.addAttachment(named: "b.pdf", contentType: "application/pdf", data: Data("b".utf8))
            let json = try JSONParser.parse(#"{"type":"attachments","attachmentKeywords":["bark"]}"#)
            let element = AttachmentsPopupElement(json, feature: tree)
            let shown = try await element.attachments
            #expect(shown.map(\.name) == ["a.jpg"])
            #expect(shown.map(\.kind) == [.image])
            #expect(shown.map(\.isLocal) == [true])
            let all = try await AttachmentsPopupElement(["type": "attachments"], feature: tree).attachments
            #expect(all.map(\.kind) == [.image, .document])
            let document = try #require(all.last)
            #expect(document.fileURL == nil && document.loadStatus == .notLoaded)
            try await document.load()
            #expect(document.loadStatus == .loaded)
            #expect(try Data(contentsOf: try #require(document.fileURL)) == Data("b".utf8))
        }
    }
}
