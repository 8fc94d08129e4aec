import FieldworkGeometry
import FieldworkStore
import Foundation
import TestSupport
import Testing

@testable import Fieldwork

/// Attachments in a geodatabase of this device's own: edits of the file like any other.
@Suite("Attachments in a geodatabase", .fewAtATime)
struct GeodatabaseAttachmentTests {
    private static let photo = Data("a photo".utf8)

    private struct Nests {
        let geodatabase: Geodatabase
        let table: GeodatabaseFeatureTable

        func nest(_ name: String) async throws -> ArcGISFeature? {
            let parameters = QueryParameters()
            parameters.whereClause = "name = '\(name)'"
            return try await table.queryFeatures(using: parameters).features().first { _ in true } as? ArcGISFeature
        }

        func add(_ name: String) async throws -> ArcGISFeature {
            try await table.add(table.makeFeature(attributes: ["name": name]))
            return try #require(try await nest(name))
        }

        /// The attachments of a nest: name and content of each.
        func state(_ name: String) async throws -> [String: Data] {
            var state: [String: Data] = [:]
            for attachment in try await nest(name)?.attachments ?? [] {
                state[attachment.name] = try await attachment.data
            }
            return state
        }
    }

    private static func with(_ body: (URL, Nests) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "fieldwork-nests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = folder.appending(path: "nests.gpkg")
        let geodatabase = try await Geodatabase.createEmpty(fileURL: url)
        let description = TableDescription(name: "Nests", geometryType: nil)
        description.addFieldDescriptions([FieldDescription(name: "name", fieldType: .text)])
        description.hasAttachments = true
        let table = try await geodatabase.makeTable(description: description)
        try await body(url, Nests(geodatabase: geodatabase, table: table))
        geodatabase.close()
    }

    @Test("Attachments are added, replaced and deleted in the file, and are there when it is opened again")
    func there() async throws {
        try await Self.with { url, nests in
            let nest = try await nests.add("one")
            #expect(nest.canEditAttachments)
            let first = try await nest.addAttachment(named: "a.jpg", contentType: "image/jpeg", data: Self.photo)
            try await nest.addAttachment(
                named: "b.txt", contentType: "text/plain", keywords: "note", data: Data("b".utf8))
            #expect(first.hasFetchedData && first.isLocal && first.size == Self.photo.count)
            #expect(nests.geodatabase.hasLocalEdits)
            #expect(try await nests.state("one") == ["a.jpg": Self.photo, "b.txt": Data("b".utf8)])
            #expect(try await nest.attachments.map(\.keywords) == ["", "note"])
            try await nest.updateAttachment(first, name: "c.png", contentType: "image/png", data: Data("c".utf8))
            #expect(first.name == "c.png" && first.contentType == "image/png")
            #expect(try await first.data == Data("c".utf8))
            try await nest.deleteAttachment(try #require(try await nest.attachments.last))
            nests.geodatabase.close()
            let again = Geodatabase(fileURL: url)
            try await again.load()
            let reopened = Nests(geodatabase: again, table: try #require(again.featureTable(named: "Nests")))
            #expect(try await reopened.state("one") == ["c.png": Data("c".utf8)])
            #expect(again.hasLocalEdits)
            again.close()
        }
    }

    @Test("A file goes in piece by piece and comes out the same; a name that leads elsewhere is refused")
    func files() async throws {
        try await Self.with { url, nests in
            let nest = try await nests.add("one")
            let source = url.deletingLastPathComponent().appending(path: "large")
            let bytes = Data((0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
            try bytes.write(to: source)
            let added = try await nest.addAttachment(named: "l.pdf", contentType: "application/pdf", contentsOf: source)
            try FileManager.default.removeItem(at: source)
            #expect(try await added.data == bytes)
            await #expect(throws: GeodatabaseError.self) {
                try await nest.addAttachment(named: "../l", contentType: "", data: bytes)
            }
            await #expect(throws: CommonError.self) {
                try await nest.addAttachment(named: "l.pdf", contentType: "", contentsOf: source)
            }
            #expect(try await nest.attachments.count == 1)
        }
    }

    @Test("A transaction holds attachments with all else: its own are seen, and a rollback takes them back")
    func transactions() async throws {
        try await Self.with { _, nests in
            let nest = try await nests.add("one")
            try nests.geodatabase.beginTransaction()
            try await nest.addAttachment(named: "a.jpg", contentType: "image/jpeg", data: Self.photo)
            #expect(try await nests.state("one") == ["a.jpg": Self.photo])
            try nests.geodatabase.rollbackTransaction()
            #expect(try await nests.state("one").isEmpty)
            try nests.geodatabase.beginTransaction()
            try await nest.addAttachment(named: "a.jpg", contentType: "image/jpeg", data: Self.photo)
            let other = try await nests.add("two")
            try await other.addAttachment(named: "b.jpg", contentType: "image/jpeg", data: Self.photo)
            try nests.geodatabase.commitTransaction()
            #expect(try await nests.state("one") == ["a.jpg": Self.photo])
            // The transaction is one step.
            #expect(try await nests.geodatabase.undo())
            #expect(try await nests.state("one").isEmpty)
            #expect(try await nests.nest("two") == nil)
            #expect(try await nests.geodatabase.redo())
            #expect(try await nests.state("one") == ["a.jpg": Self.photo])
            #expect(try await nests.state("two") == ["b.jpg": Self.photo])
        }
    }

    @Test("Each edit of an attachment is taken back and done again")
    func undo() async throws {
        try await Self.with { _, nests in
            let nest = try await nests.add("one")
            var states = [try await nests.state("one")]
            let first = try await nest.addAttachment(named: "a.jpg", contentType: "image/jpeg", data: Self.photo)
            states.append(try await nests.state("one"))
            try await nest.updateAttachment(first, name: "b.jpg", contentType: "image/jpeg", data: Data("b".utf8))
            states.append(try await nests.state("one"))
            try await nest.deleteAttachment(first)
            states.append(try await nests.state("one"))
            #expect(states.map(\.count) == [0, 1, 1, 0])
            for expected in states.dropLast().reversed() {
                #expect(try await nests.geodatabase.undo())
                #expect(try await nests.state("one") == expected)
            }
            for expected in states.dropFirst() {
                #expect(try await nests.geodatabase.redo())
                #expect(try await nests.state("one") == expected)
            }
        }
    }

    @Test("Attachments go with their feature and come back with it")
    func withFeature() async throws {
        try await Self.with { _, nests in
            let nest = try await nests.add("one")
            try await nest.addAttachment(named: "a.jpg", contentType: "image/jpeg", data: Self.photo)
            let id = try #require(try await nest.attachments.first).id
            try await nests.table.delete(nest)
            #expect(try await nests.geodatabase.undo())
            #expect(try await nests.state("one") == ["a.jpg": Self.photo])
            let back = try #require(try await nests.nest("one"))
            #expect(try await back.attachments.map(\.id) == [id])
            #expect(try await nests.geodatabase.redo())
            #expect(try await nests.nest("one") == nil)
            #expect(try await nests.geodatabase.undo())
            #expect(try await nests.state("one") == ["a.jpg": Self.photo])
        }
    }
}
