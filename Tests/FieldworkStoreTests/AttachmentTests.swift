import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

@Suite("Attachments", .fewAtATime, .everyStore)
struct AttachmentTests {
    private let folder: TemporaryFolder
    private let store: any AttachmentStore

    init() async throws {
        folder = try TemporaryFolder()
        store = try #require(try await StoreKind.current.make(in: folder) as? any AttachmentStore)
        var service = Samples.service
        service.layers[0].hasAttachments = true
        try await store.createService(service)
        _ = try await store.apply(
            Samples.batch(adds: [Samples.tree("Acer"), Samples.tree("Ulmus", x: 5)]), to: Samples.name)
    }

    // MARK: Helpers

    @discardableResult
    private func edit(
        _ attachments: AttachmentEdits, deletes: [FeatureIdentifier] = [], rollsBack: Bool = true,
        usesGlobalIDs: Bool = false, editor: String? = "ada"
    ) async throws -> AttachmentEditResults {
        var batch = Samples.batch(
            deletes: deletes, usesGlobalIDs: usesGlobalIDs, rollsBackOnFailure: rollsBack, editor: editor)
        batch.layers[0].attachments = attachments
        return try #require(try await store.apply(batch, to: Samples.name).layers.first).attachments
    }

    private func add(
        _ name: String = "bark.jpg", to objectID: Int64 = 1, _ content: [UInt8] = Array("photo".utf8),
        globalID: UUID? = nil, keywords: String? = nil
    ) -> AttachmentEdit {
        AttachmentEdit(
            globalID: globalID, parent: .objectID(objectID), name: name, keywords: keywords,
            content: AttachmentContent(bytes: content))
    }

    private func list(_ query: AttachmentQuery = AttachmentQuery()) async throws -> [AttachmentInfo] {
        try await store.attachments(query, in: Samples.trees).attachments
    }

    private func bytes(_ id: Int64, of objectID: Int64? = nil, range: Range<Int>? = nil) async throws -> [UInt8]? {
        guard
            let found = try await store.attachmentContent(.id(id), of: objectID, range: range, in: Samples.trees)
        else { return nil }
        return try await all(found.pieces)
    }

    private func all(_ pieces: EncodedFeatures) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        for try await piece in pieces { bytes += piece }
        return bytes
    }

    /// What another program finds.
    private func look(_ sql: String) throws -> String? {
        try StoreKind.current.look(sql, in: Samples.name, folder)
    }

    // MARK: Adding and reading

    @Test("An attachment is read back with its bytes and all that is known of it, and its feature says who edited")
    func addAndRead() async throws {
        let content = (0..<700_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let added = try #require(
            try await edit(AttachmentEdits(adds: [add(to: 2, content, keywords: "bark, north")]), editor: "grace").adds
                .first)
        #expect(added.error == nil)
        let info = try #require(try await list().first)
        #expect(info.id == added.objectID && info.globalID == added.globalID && info.globalID != nil)
        #expect(info.parentObjectID == 2)
        let tree = try #require(try await store.records(FeatureQuery(objectIDs: [2]), in: Samples.trees).first)
        #expect(info.parentGlobalID == tree.globalID)
        #expect(tree.attributes["Editor"] == .text("grace"))
        #expect(info.name == "bark.jpg" && info.contentType == "image/jpeg" && info.size == 700_000)
        #expect(info.keywords == "bark, north")
        #expect(try await bytes(info.id) == content)
        #expect(try await bytes(info.id, of: 2, range: 299_999..<300_004) == Array(content[299_999..<300_004]))
        #expect(try await bytes(info.id, of: 1) == nil, "it is no attachment of another feature")
        #expect(try await store.check() == [])
    }

    @Test("The same photo twice is stored once, also when it comes as a file")
    func storedOnce() async throws {
        let content = [UInt8](repeating: 7, count: 50_000)
        let file = folder.url.appending(path: "photo")
        try Data(content).write(to: file)
        var fromFile = add("again.png", to: 2)
        fromFile.content = AttachmentContent(path: file.path, size: content.count)
        let results = try await edit(AttachmentEdits(adds: [add("one.jpg", content), fromFile]))
        #expect(results.adds.allSatisfy { $0.isSuccess })
        for info in try await list() { #expect(try await bytes(info.id) == content) }
        #expect(try await list().map(\.contentType) == ["image/jpeg", "image/png"])
        #expect(try look("SELECT count(*) FROM fieldwork_media") == "1")
        #expect(try look("SELECT uses FROM fieldwork_media_uses") == "2")
        #expect(try await store.check() == [])
    }

    @Test("An empty file can be attached")
    func empty() async throws {
        let added = try await edit(AttachmentEdits(adds: [add("empty.txt", [])])).adds[0]
        #expect(try await bytes(try #require(added.objectID)) == [])
        #expect(try await store.check() == [])
    }

    // MARK: Refusals

    @Test("Names, types, sizes and parents that may not be are refused, each by itself")
    func refusals() async throws {
        var noParent = add()
        noParent.parent = nil
        var tooLarge = add()
        tooLarge.content = AttachmentContent(
            path: "/dev/zero", size: FieldworkREST.Limits.attachmentBytes + 1, sha256: "00")
        var longKeywords = add()
        longKeywords.keywords = String(repeating: "k", count: FieldworkREST.Limits.attachmentKeywordsLength + 1)
        let refused = [
            add("virus.exe"), add("page.html"), add("drawing.svg"), add("noending"), add(" "), add(to: 99), noParent,
            tooLarge, longKeywords, AttachmentEdit(parent: .objectID(1), name: "a.png"),
        ]
        let results = try await edit(AttachmentEdits(adds: refused + [add("fine.png")]), rollsBack: false)
        #expect(results.adds.map(\.isSuccess) == Array(repeating: false, count: refused.count) + [true])
        #expect(try await list().map(\.name) == ["fine.png"])
        #expect(try look("SELECT count(*) FROM fieldwork_media") == "1")
        #expect(try await store.check() == [])
    }

    @Test("A layer that has no attachments takes none")
    func layerWithout() async throws {
        var batch = Samples.batch(layerID: 1)
        batch.layers[0].attachments.adds = [add()]
        let result = try await store.apply(batch, to: Samples.name)
        #expect(result.layers[0].attachments.adds[0].error?.description.contains("no attachments") == true)
    }

    @Test("A content that is not what was announced is refused and nothing of it stays")
    func wrongContent() async throws {
        let file = folder.url.appending(path: "photo")
        try Data([1, 2, 3]).write(to: file)
        var wrongHash = add()
        wrongHash.content = AttachmentContent(path: file.path, size: 3, sha256: String(repeating: "0", count: 64))
        var tooShort = add()
        tooShort.content = AttachmentContent(path: file.path, size: 4)
        var tooLong = add()
        tooLong.content = AttachmentContent(path: file.path, size: 2)
        var missing = add()
        missing.content = AttachmentContent(path: file.path + ".gone", size: 3)
        let results = try await edit(
            AttachmentEdits(adds: [wrongHash, tooShort, tooLong, missing, add()]), rollsBack: false)
        #expect(results.adds.map(\.isSuccess) == [false, false, false, false, true])
        #expect(try look("SELECT count(*) FROM fieldwork_media") == "1")
        #expect(try await store.check() == [])
    }

    @Test("A photo stays what it was when the content that replaces it is another than was announced")
    func wrongReplacement() async throws {
        let file = folder.url.appending(path: "photo")
        try Data([1, 2, 3]).write(to: file)
        let added = try await edit(AttachmentEdits(adds: [add()]), rollsBack: false)
        let id = try #require(added.adds.first?.objectID)
        let before = try await list()
        var replacement = add()
        replacement.id = id
        replacement.globalID = nil
        replacement.content = AttachmentContent(path: file.path, size: 3, sha256: String(repeating: "f", count: 64))
        let results = try await edit(AttachmentEdits(updates: [replacement]), rollsBack: false)
        #expect(results.updates.map(\.isSuccess) == [false])
        #expect(try await list() == before)
        #expect(try await store.check() == [])
    }

    @Test("One failed attachment undoes the batch, the feature and the contents with it")
    func rollback() async throws {
        var batch = Samples.batch(adds: [Samples.tree("Tilia")])
        batch.layers[0].attachments.adds = [add("a.png"), add("b.exe")]
        let result = try #require(try await store.apply(batch, to: Samples.name).layers.first)
        #expect(result.adds.first?.error == .rolledBack)
        #expect(result.attachments.adds.first?.error == .rolledBack)
        #expect(result.attachments.adds.first?.objectID == nil)
        #expect(try await list() == [])
        #expect(try await store.count(FeatureQuery(), in: Samples.trees) == 2)
        #expect(try look("SELECT count(*) FROM fieldwork_media") == "0")
        #expect(try await store.attachmentChanges(after: 0, in: Samples.trees, limit: 10) == [])
        #expect(try await store.check() == [])
    }

    // MARK: Global ids

    @Test("An attachment sent twice is there once, and the second answer names it")
    func sentTwice() async throws {
        let id = UUID()
        let first = try await edit(AttachmentEdits(adds: [add(globalID: id)]), usesGlobalIDs: true).adds[0]
        #expect(first.globalID == id)
        let second = try await edit(AttachmentEdits(adds: [add(globalID: id)]), usesGlobalIDs: true).adds[0]
        #expect(second.error?.code == 1016 && second.objectID == first.objectID)
        #expect(try await list().count == 1)
    }

    @Test("A feature and its attachment come in one batch, by global ids")
    func withParent() async throws {
        let (tree, photo) = (UUID(), UUID())
        var batch = Samples.batch(adds: [Samples.tree("Tilia", globalID: tree)], usesGlobalIDs: true)
        var edit = add(globalID: photo)
        edit.parent = .globalID(tree)
        batch.layers[0].attachments.adds = [edit]
        let result = try #require(try await store.apply(batch, to: Samples.name).layers.first)
        #expect(result.attachments.adds[0].isSuccess)
        #expect(try await list().first?.parentGlobalID == tree)
        #expect(try await list().first?.globalID == photo)
    }

    // MARK: Updates, deletes, history

    @Test("What an update or delete replaces stays in the history with its bytes")
    func history() async throws {
        let (old, new) = (Array("old".utf8), Array("new content".utf8))
        let id = try #require(try await edit(AttachmentEdits(adds: [add("a.png", old)])).adds[0].objectID)
        let update = AttachmentEdit(id: id, name: "b.txt", content: AttachmentContent(bytes: new))
        #expect(try await edit(AttachmentEdits(updates: [update])).updates[0].isSuccess)
        let info = try #require(try await list().first)
        #expect(info.name == "b.txt" && info.contentType == "text/plain" && info.size == 11)
        #expect(try await bytes(id) == new)
        #expect(
            try await edit(AttachmentEdits(deletes: [AttachmentDelete(.id(id))]), editor: "grace").deletes[0].isSuccess)
        #expect(try await list() == [])
        #expect(try await bytes(id) == nil)
        let versions = try await store.attachmentHistory(of: 1, in: Samples.trees)
        #expect(versions.map(\.endedBy) == [.delete, .update])
        #expect(versions.map(\.info.name) == ["b.txt", "a.png"])
        #expect(versions.map(\.editor) == ["grace", "ada"])
        for (version, content) in zip(versions, [new, old]) {
            let pieces = try await store.attachmentContent(ofVersion: version.version, in: Samples.trees)
            #expect(try await all(try #require(pieces)) == content)
        }
        #expect(try await store.check() == [])
    }

    @Test("Changes of attachments are in a log of their own, by generation")
    func changes() async throws {
        let id = try #require(try await edit(AttachmentEdits(adds: [add()])).adds[0].objectID)
        try await edit(AttachmentEdits(updates: [AttachmentEdit(id: id, keywords: "bark")]))
        try await edit(
            AttachmentEdits(updates: [AttachmentEdit(id: id, content: AttachmentContent(bytes: [1]))]))
        try await edit(AttachmentEdits(deletes: [AttachmentDelete(.id(id))]))
        let changes = try await store.attachmentChanges(after: 1, in: Samples.trees, limit: 10)
        #expect(changes.map(\.operation) == [.add, .update, .update, .delete])
        #expect(changes.map(\.generation) == [2, 3, 4, 5])
        #expect(changes.map(\.changesContent) == [true, false, true, false])
        #expect(Set(changes.map(\.globalID)).count == 1 && changes[0].globalID != nil)
        #expect(changes.allSatisfy { $0.id == id && $0.parentObjectID == 1 })
        #expect(try await store.attachmentChanges(after: 4, in: Samples.trees, limit: 10).map(\.operation) == [.delete])
        #expect(try await store.attachmentChanges(after: 1, in: Samples.trees, limit: 2).count == 2)
    }

    @Test("Attachments go with their feature and stay in the history")
    func deletedFeature() async throws {
        try await edit(AttachmentEdits(adds: [add("a.png"), add("b.png"), add("c.png", to: 2)]))
        try await edit(AttachmentEdits(), deletes: [.objectID(1)])
        #expect(try await list().map(\.name) == ["c.png"])
        let versions = try await store.attachmentHistory(of: 1, in: Samples.trees)
        #expect(Set(versions.map(\.info.name)) == ["a.png", "b.png"])
        #expect(versions.allSatisfy { $0.toGeneration == 3 && $0.endedBy == .delete })
        #expect(try await store.check() == [])
    }

    @Test("A restored feature has the attachments that went with it, and not those deleted before")
    func restoredFeature() async throws {
        let adds = try await edit(AttachmentEdits(adds: [add("a.png"), add("b.png"), add("c.png")])).adds
        let tree = try #require(
            try await store.records(FeatureQuery(objectIDs: [1]), in: Samples.trees).first?.globalID)
        try await edit(AttachmentEdits(deletes: [AttachmentDelete(.id(try #require(adds[1].objectID)))]))
        for _ in 0..<2 {
            try await edit(AttachmentEdits(), deletes: [.objectID(1)])
            var batch = Samples.batch(updates: [FeatureEdit(objectID: 2, attributes: [("stems", .integer(2))])])
            batch.layers[0].restores = [tree]
            _ = try await store.apply(batch, to: Samples.name)
            let back = try await list()
            #expect(back.map(\.name) == ["a.png", "c.png"])
            #expect(back.map(\.id) == [adds[0].objectID, adds[2].objectID])
            #expect(back.map(\.globalID) == [adds[0].globalID, adds[2].globalID])
            #expect(try await bytes(back[0].id) == Array("photo".utf8))
        }
        #expect(try await store.check() == [])
    }

    @Test("An update or delete that names another feature is refused")
    func otherParent() async throws {
        let id = try #require(try await edit(AttachmentEdits(adds: [add()])).adds[0].objectID)
        let results = try await edit(
            AttachmentEdits(
                updates: [AttachmentEdit(id: id, parent: .objectID(2), keywords: "x"), AttachmentEdit(id: 99)],
                deletes: [AttachmentDelete(.id(id), parent: .objectID(2)), AttachmentDelete(.globalID(UUID()))]),
            rollsBack: false)
        #expect((results.updates + results.deletes).allSatisfy { !$0.isSuccess })
        #expect(try await list().map(\.keywords) == [""])
    }

    // MARK: Queries

    @Test("Attachments are found by feature, condition, type, size, keyword, in order and by pages")
    func queries() async throws {
        try await edit(
            AttachmentEdits(adds: [
                add("a.jpg", to: 1, [1], keywords: "bark,North"), add("b.png", to: 1, [1, 2], keywords: "leaf"),
                add("c.pdf", to: 2, [1, 2, 3]), add("d.mp4", to: 2, [1, 2, 3, 4], keywords: "northern"),
            ]))
        func names(_ query: AttachmentQuery) async throws -> [String] { try await list(query).map(\.name) }
        func condition(_ text: String) throws -> SQLExpression {
            try SQLParser.parse(where: text).bound(to: AttachmentFields.definition)
        }
        #expect(try await names(AttachmentQuery()) == ["a.jpg", "b.png", "c.pdf", "d.mp4"])
        #expect(try await names(AttachmentQuery(features: FeatureQuery(objectIDs: [2]))) == ["c.pdf", "d.mp4"])
        let acer = FeatureQuery(condition: try SQLParser.parse(where: "species = 'Acer'"))
        #expect(try await names(AttachmentQuery(features: acer)) == ["a.jpg", "b.png"])
        let large = try condition("ATT_NAME LIKE '%.p%' AND DATA_SIZE > 2")
        #expect(try await names(AttachmentQuery(condition: large)) == ["c.pdf"])
        #expect(try await names(AttachmentQuery(contentTypes: ["image", "video/mp4"])) == ["a.jpg", "b.png", "d.mp4"])
        #expect(try await names(AttachmentQuery(sizes: 2...3)) == ["b.png", "c.pdf"])
        #expect(try await names(AttachmentQuery(keywords: ["north", "leaf"])) == ["a.jpg", "b.png"])
        let bySize = [FeatureQuery.OrderTerm(expression: .field("DATA_SIZE"), isDescending: true)]
        #expect(try await names(AttachmentQuery(order: bySize, offset: 1, limit: 2)) == ["c.pdf", "b.png"])
        let page = try await store.attachments(AttachmentQuery(limit: 4), in: Samples.trees)
        #expect(page.attachments.count == 4 && !page.hasMore)
        #expect(try await store.attachments(AttachmentQuery(limit: 3), in: Samples.trees).hasMore)
        let counts = try await store.attachmentCounts(AttachmentQuery(contentTypes: ["image"]), in: Samples.trees)
        #expect(counts.map(\.parentObjectID) == [1] && counts.map(\.count) == [2])
    }

    @Test("A file whose service gets attachments later takes them")
    func later() async throws {
        var service = try await store.service(Samples.name)
        service.layers[1].hasAttachments = true
        try await store.updateService(service)
        _ = try await store.apply(Samples.batch(adds: [FeatureEdit()], layerID: 1), to: Samples.name)
        var batch = Samples.batch(layerID: 1)
        batch.layers[0].attachments.adds = [add()]
        #expect(try await store.apply(batch, to: Samples.name).layers[0].attachments.adds[0].isSuccess)
        #expect(try await store.attachments(AttachmentQuery(), in: Samples.visits).attachments.count == 1)
        #expect(try await store.check() == [])
    }
}
