import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

@testable import Fieldwork

/// Edits that a journal has written down are taken back in the tables, of a file and of a service.
@Suite("Undo by a journal of edits", .fewAtATime)
struct JournalUndoTests {
    private static let photo = Data("a photo".utf8)

    /// A file of birds with a journal beside it.
    private static func withBirds(
        _ test: (Sightings, @Sendable () throws -> EditJournal) async throws -> Void
    ) async throws {
        try await SightingsFile.with { url in
            let file = try await Sightings(url)
            let birds = file.birds
            try await test(file) {
                try EditJournal(
                    fileURL: url.deletingLastPathComponent().appending(path: "edits.jsonl"), tables: [0: birds])
            }
            file.geodatabase.close()
        }
    }

    private static func recordAdd(_ bird: Feature, in journal: EditJournal) throws -> EditJournal.Entry {
        let reference = try #require(FeatureReference(bird, layer: 0))
        return try journal.record(.create, of: bird, as: reference, before: nil, title: "Bird", detail: "New bird")
    }

    /// Changes a bird and writes it down.
    private static func change(
        _ comments: String, _ values: [String: any Sendable] = [:], x: Double? = nil, _ file: Sightings,
        _ journal: EditJournal
    ) async throws -> EditJournal.Entry {
        let bird = try #require(try await file.bird(comments))
        let before = FeatureSnapshot(bird)
        for (name, value) in values { bird.setAttributeValue(value, forKey: name) }
        if let x { bird.geometry = SightingsFile.place(x) }
        try await file.birds.update(bird)
        return try journal.record(
            values.isEmpty ? .move : .update, of: bird, as: try #require(FeatureReference(bird, layer: 0)),
            before: before, title: "Bird", detail: "Changed")
    }

    @Test("An add, a change, a move and a delete are taken back in any order that loses nothing, after a restart too")
    func kinds() async throws {
        try await Self.withBirds { file, open in
            var journal = try open()
            let added = try Self.recordAdd(try await file.add("egret"), in: journal)
            let changed = try await Self.change("egret", ["kind": Int32(2)], file, journal)
            let moved = try await Self.change("egret", x: 50, file, journal)
            #expect(try await file.state() == ["egret": [2, 50]])
            journal = try open()
            // The change first: the move stands.
            try await journal.undo(changed)
            #expect(try await file.state() == ["egret": [1, 50]])
            let bird = try #require(try await file.bird("egret"))
            try await file.birds.delete(bird)
            let deleted = try journal.record(
                .delete, of: bird, as: added.feature, before: FeatureSnapshot(bird), title: "Bird", detail: "Deleted")
            #expect(journal.last?.id == deleted.id)
            let back = try await journal.undo(deleted)
            #expect(back.entry.kind == .create && back.entry.undoes == deleted.id && !back.entry.canUndo)
            #expect(try await file.state() == ["egret": [1, 50]])
            #expect(journal.current(added.feature) == added.feature, "it has its global id again")
            #expect(journal.last?.id == moved.id)
            try await journal.undo(moved)
            try await journal.undo(added)
            #expect(try await file.state().isEmpty)
            #expect(journal.last == nil)
            #expect(try open().entries == journal.entries)
        }
    }

    @Test(
        "What was changed once more since is not overwritten by taking back what was before", arguments: [true, false])
    func changedSince(isMove: Bool) async throws {
        try await Self.withBirds { file, open in
            let journal = try open()
            _ = try Self.recordAdd(try await file.add("egret"), in: journal)
            let first = try await Self.change(
                "egret", isMove ? [:] : ["kind": Int32(2)], x: isMove ? 50 : nil, file, journal)
            _ = try await Self.change(
                "egret", isMove ? [:] : ["kind": Int32(1)], x: isMove ? 70 : nil, file, journal)
            let state = try await file.state()
            let error = await #expect(throws: EditJournalError.self) { try await journal.undo(first) }
            #expect(error == .changedSince(details: "The feature was changed since."))
            #expect(try await file.state() == state)
            #expect(journal.entry(id: first.id)?.canUndo == true)
        }
    }

    @Test("An edit is taken back once, and one whose feature is gone is not")
    func once() async throws {
        try await Self.withBirds { file, open in
            let journal = try open()
            let added = try Self.recordAdd(try await file.add("egret"), in: journal)
            let changed = try await Self.change("egret", ["kind": Int32(2)], file, journal)
            try await file.birds.delete(try #require(try await file.bird("egret")))
            await #expect(throws: EditJournalError.featureNotFound(details: "The feature isn't there any more.")) {
                try await journal.undo(changed)
            }
            try await file.geodatabase.undo()
            try await journal.undo(changed)
            await #expect(throws: EditJournalError.notUndoable(details: "This edit was already taken back.")) {
                try await journal.undo(changed)
            }
            #expect(try await file.state() == ["egret": [1, 0]])
            let other = try EditJournal(
                fileURL: FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString)/edits.jsonl"))
            await #expect(throws: EditJournalError.self) { try await other.undo(added) }
            try FileManager.default.removeItem(at: other.keptFiles.folder.deletingLastPathComponent())
        }
    }

    @Test("A transaction whose process ended is opened again with its edits, and is one with what was kept before")
    func recovered() async throws {
        try await SightingsFile.with { url in
            let fileURL = url.deletingLastPathComponent().appending(path: "edits.jsonl")
            func open() async throws -> (Sightings, EditJournal) {
                let file = try await Sightings(url)
                return (file, try EditJournal(fileURL: fileURL, tables: [0: file.birds]))
            }
            var (file, journal) = try await open()
            _ = try Self.recordAdd(try await file.add("before"), in: journal)
            try journal.beginTransaction(in: [file.geodatabase])
            #expect(throws: GeodatabaseError.self) { try journal.beginTransaction(in: [file.geodatabase]) }
            _ = try Self.recordAdd(try await file.add("egret"), in: journal)
            _ = try await Self.change("before", ["kind": Int32(2)], x: 9, file, journal)
            let gone = try #require(try await file.bird("egret"))
            try await file.birds.delete(gone)
            try journal.record(
                .delete, of: gone, as: try #require(FeatureReference(gone, layer: 0)), before: FeatureSnapshot(gone),
                title: "Bird", detail: "Deleted")
            _ = try Self.recordAdd(try await file.add("heron"), in: journal)
            let state = try await file.state()
            // As the end of the process would leave it.
            try file.geodatabase.rollbackTransaction()
            file.geodatabase.close()
            (file, journal) = try await open()
            #expect(journal.isTransactionUnfinished && journal.transactionCount == 4)
            #expect(try await file.state() == ["before": [1, 0]])
            try await journal.recoverTransaction(in: [file.geodatabase])
            #expect(file.geodatabase.isInTransaction)
            #expect(try await file.state() == state)
            #expect(try await journal.commitTransaction(in: [file.geodatabase]) == 4)
            file.geodatabase.close()
            (file, journal) = try await open()
            #expect(try await file.state() == ["before": [2, 9], "heron": [1, 0]])
            #expect(journal.openTransaction == nil)
            await #expect(throws: GeodatabaseError.self) {
                try await journal.rollbackTransaction(in: [file.geodatabase])
            }
            file.geodatabase.close()
        }
    }

    @Test("A transaction of which a geodatabase has its edits for good is not rolled back")
    func partlyCommitted() async throws {
        try await Self.withBirds { file, open in
            let journal = try open()
            try journal.beginTransaction(in: [file.geodatabase])
            _ = try Self.recordAdd(try await file.add("egret"), in: journal)
            try file.geodatabase.commitTransaction()
            await #expect(
                throws: EditJournalError.partlyCommitted(details: "A part of the transaction is kept already.")
            ) { try await journal.rollbackTransaction(in: [file.geodatabase]) }
            #expect(try await journal.commitTransaction(in: [file.geodatabase]) == 1)
            #expect(try await file.state() == ["egret": [1, 0]])
        }
    }

    @Test("A transaction that is rolled back was never made")
    func rolledBack() async throws {
        try await Self.withBirds { file, open in
            let journal = try open()
            try journal.beginTransaction(in: [file.geodatabase])
            _ = try Self.recordAdd(try await file.add("egret"), in: journal)
            #expect(try await journal.rollbackTransaction(in: [file.geodatabase]) == 1)
            #expect(try await file.state().isEmpty)
            #expect(try journal.entries.isEmpty && open().entries.isEmpty)
        }
    }

    @Test(
        "A deleted feature of a service comes back with its photo, before and after the service was told",
        arguments: [false, true])
    func service(isSent: Bool) async throws {
        try await TestService.withTrees(1) { service in
            let geodatabase = try await service.geodatabase()
            let table = try #require(geodatabase.table(withLayerID: 0))
            let made = try #require(
                try await table.queryFeatures(using: QueryParameters()).features().first { _ in true } as? ArcGISFeature
            )
            try await made.addAttachment(named: "a.jpg", contentType: "image/jpeg", data: Self.photo)
            _ = try await geodatabase.applyEdits()
            let folder = FileManager.default.temporaryDirectory.appending(path: "fieldwork-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: folder) }
            let file = folder.appending(path: "edits.jsonl")
            var journal = try EditJournal(fileURL: file, tables: [3: table])
            let reference = try #require(FeatureReference(made, layer: 3))
            let found = try #require(try await journal.feature(reference) as? ArcGISFeature)
            var photos = EditJournal.AttachmentChanges()
            for attachment in try await found.attachments { photos.deleted.append(await journal.keep(attachment)) }
            #expect(photos.deleted.count == 1)
            try await table.delete(found)
            let entry = try journal.record(
                .delete, of: found, as: reference, before: FeatureSnapshot(found), title: "Damage", detail: "Deleted",
                photos: photos)
            #expect(journal.unsent == [reference: nil])
            if isSent {
                let sent = journal.entries
                _ = try await geodatabase.applyEdits()
                try journal.settle(sent)
                #expect(journal.unsent.isEmpty)
            }
            // A start keeps what an entry names, and nothing else.
            let unnamed = try journal.keptFiles.keep(.data(Self.photo)).id
            journal = try EditJournal(fileURL: file, tables: [3: table])
            #expect(!FileManager.default.fileExists(atPath: journal.keptFiles.url(of: unnamed).path))
            try await journal.undo(entry)
            _ = try await geodatabase.applyEdits()
            #expect(try await table.queryFeatureCount(using: QueryParameters()) == 1)
            let back = try #require(try await journal.feature(reference) as? ArcGISFeature)
            #expect(FeatureSnapshot(back).attributes["Address"] == entry.before?.attributes["Address"])
            let attachments = try await back.attachments
            #expect(attachments.map(\.name) == ["a.jpg"])
            #expect(try await attachments.first?.data == Self.photo)
        }
    }

    @Test("A refused edit is told with its reason, under each name of its feature")
    func refused() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "fieldwork-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let journal = try EditJournal(fileURL: folder.appending(path: "edits.jsonl"))
        func entry(_ objectID: Int64) -> EditJournal.Entry {
            EditJournal.Entry(
                id: UUID(), kind: .update, session: nil, feature: FeatureReference(layer: 0, key: .global(UUID())),
                objectID: objectID, title: "", detail: "", date: Date(), before: nil, after: nil, progress: .onDevice,
                undoes: nil)
        }
        let entries = [entry(1), entry(2), entry(3)]
        try journal.append(entries)
        try journal.settle(
            entries,
            refusals: [entries[0].feature: "no", FeatureReference(layer: 0, key: .object(2)): "never"])
        #expect(journal.unsent == [entries[0].feature: "no", entries[1].feature: "never"])
        guard case .onServer? = journal.entry(id: entries[2].id)?.progress else {
            Issue.record("the third was taken")
            return
        }
    }
}
