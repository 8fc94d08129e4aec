import Foundation
import Testing

@testable import Fieldwork

@Suite("A journal of edits") struct EditJournalTests {
    private static func withFile<Result>(_ body: (URL) throws -> Result) throws -> Result {
        let folder = FileManager.default.temporaryDirectory.appending(path: "fieldwork-journal-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        return try body(folder.appending(path: "edits.jsonl"))
    }

    private static func entry(
        _ title: String, of feature: FeatureReference = FeatureReference(layer: 0, key: .global(UUID())),
        session: String? = nil, undoes: UUID? = nil, progress: EditJournal.Entry.Progress = .onDevice
    ) -> EditJournal.Entry {
        EditJournal.Entry(
            id: UUID(), kind: .update, session: session, feature: feature, objectID: 7, title: title, detail: "Changed",
            date: Date(timeIntervalSince1970: 1_700_000_000),
            before: FeatureSnapshot(attributes: ["a": .text("<b>"), "n": .null], geometry: Data("{}".utf8)),
            after: FeatureSnapshot(attributes: ["a": .real(2.5), "d": .date(.distantPast)], geometry: nil),
            progress: progress, undoes: undoes)
    }

    @Test("What was written is there at the next start")
    func whatWasWrittenIsThereAtTheNextStart() throws {
        try Self.withFile { file in
            let first = Self.entry("first", session: "s1")
            let second = Self.entry("second")
            let journal = try EditJournal(fileURL: file)
            try journal.append(first)
            try journal.append(second)
            try journal.setProgress(.refused("no"), of: [first.id])
            try journal.setUndone(second.id)
            let again = try EditJournal(fileURL: file)
            #expect(again.entries == journal.entries)
            #expect(again.entry(id: first.id)?.progress == .refused("no"))
            #expect(again.entry(session: "s1")?.id == first.id)
            #expect(again.last?.id == first.id)
        }
    }

    @Test("A line cut off by a crash loses nothing else")
    func aLineCutOffByACrashLosesNothingElse() throws {
        try Self.withFile { file in
            let journal = try EditJournal(fileURL: file)
            try journal.append(Self.entry("whole"))
            let handle = try FileHandle(forWritingTo: file)
            try handle.seekToEnd()
            try handle.write(contentsOf: Data("{\"entry\":{\"_0\":{\"id\":\"".utf8))
            try handle.close()
            let again = try EditJournal(fileURL: file)
            #expect(again.entries.map(\.title) == ["whole"])
            try again.append(Self.entry("after"))
            #expect(try EditJournal(fileURL: file).entries.map(\.title) == ["whole", "after"])
        }
    }

    @Test("A line of a later version stays as it is, and so do the contents that it may name")
    func laterVersion() throws {
        try Self.withFile { file in
            let line = #"{"weather":{"_0":"rain"}}"#
            let content = try EditJournal(fileURL: file).keptFiles.keep(.data(Data("a photo".utf8))).id
            try Data("\(line)\n".utf8).write(to: file)
            for _ in 0..<2 {
                let journal = try EditJournal(fileURL: file)
                try journal.append(Self.entry("edit"))
                #expect(FileManager.default.fileExists(atPath: journal.keptFiles.url(of: content).path))
            }
            #expect(try String(contentsOf: file, encoding: .utf8).hasPrefix(line + "\n"))
            #expect(try EditJournal(fileURL: file).entries.count == 2)
        }
    }

    @Test("A file that can't be read is not written over")
    func unreadable() throws {
        try Self.withFile { file in
            try FileManager.default.createDirectory(at: file, withIntermediateDirectories: true)
            #expect(throws: (any Error).self) { try EditJournal(fileURL: file) }
            #expect(EditJournal.unsettledCount(in: file) == nil)
        }
    }

    @Test("A feature that came back under another id is found")
    func aFeatureThatCameBackUnderAnotherIdIsFound() throws {
        try Self.withFile { file in
            let old = FeatureReference(layer: 0, key: .object(-1))
            let new = FeatureReference(layer: 0, key: .object(12))
            let journal = try EditJournal(fileURL: file)
            try journal.setAlias(old, now: new)
            #expect(journal.current(old) == new)
            #expect(journal.current(new) == new)
            // Deleted and brought back once more.
            let newest = FeatureReference(layer: 0, key: .object(13))
            try journal.setAlias(new, now: newest)
            #expect(journal.current(old) == newest)
        }
    }

    @Test("An undo is not taken back by the next undo")
    func anUndoIsNotTakenBackByTheNextUndo() throws {
        try Self.withFile { file in
            let journal = try EditJournal(fileURL: file)
            let edit = Self.entry("edit")
            try journal.append(edit)
            try journal.append(Self.entry("counter", undoes: edit.id))
            try journal.setUndone(edit.id)
            #expect(journal.last == nil)
        }
    }

    @Test("An address leads to its feature after the feature got another id several times")
    func severalIds() throws {
        try Self.withFile { file in
            let references = (0..<5).map { FeatureReference(layer: 0, key: .object(Int64($0))) }
            let journal = try EditJournal(fileURL: file)
            try journal.append(Self.entry("edit", of: references[1]))
            for (old, new) in zip(references, references.dropFirst()) { try journal.setAlias(old, now: new) }
            #expect(journal.current(references[0]) == references[4])
            // No edit is left of the ids between: they lead on all the same.
            let later = try EditJournal(fileURL: file)
            #expect(later.current(references[0]) == references[4] && later.current(references[1]) == references[4])
        }
    }

    @Test("An edit that a dropped transaction had taken back can be taken back again")
    func droppedUndo() throws {
        try Self.withFile { file in
            let journal = try EditJournal(fileURL: file)
            let edit = Self.entry("edit")
            try journal.append(edit)
            try journal.noteBegin(UUID())
            try journal.append(Self.entry("counter", undoes: edit.id))
            try journal.setUndone(edit.id)
            try journal.noteEnd(isKept: false)
            #expect(journal.entries.map(\.title) == ["edit"])
            #expect(journal.entry(id: edit.id)?.isUndone == false && journal.last?.id == edit.id)
        }
    }

    @Test("After a restart, too, an edit that a dropped transaction had taken back can be taken back")
    func droppedUndoAtTheNextStart() throws {
        try Self.withFile { file in
            let first = Self.entry("first")
            let second = Self.entry("second")
            do {
                let journal = try EditJournal(fileURL: file)
                for edit in [first, second] { try journal.append(edit) }
                try journal.noteBegin(UUID())
                for edit in [second, first] {
                    try journal.append(Self.entry("counter", undoes: edit.id))
                    try journal.setUndone(edit.id)
                }
                try journal.noteEnd(isKept: false)
            }
            let again = try EditJournal(fileURL: file)
            #expect(again.entries.map(\.title) == ["first", "second"])
            #expect(again.entries.allSatisfy { !$0.isUndone } && again.last?.id == second.id)
        }
    }

    @Test("An open transaction is unfinished at the next start")
    func unfinished() throws {
        try Self.withFile { file in
            let transaction = UUID()
            let journal = try EditJournal(fileURL: file)
            try journal.noteBegin(transaction)
            #expect(!journal.isTransactionUnfinished)
            let next = try EditJournal(fileURL: file)
            #expect(next.openTransaction == transaction)
            #expect(next.isTransactionUnfinished)
            try next.noteEnd(isKept: true)
            #expect(try EditJournal(fileURL: file).openTransaction == nil)
        }
    }

    /// Writes a journal with five edits too many, as an earlier process left it.
    private static func tooMany(_ progress: EditJournal.Entry.Progress, in file: URL) throws {
        struct Line: Encodable {
            struct Box: Encodable {
                let _0: EditJournal.Entry
            }
            let entry: Box
        }
        var lines = Data()
        for index in 0..<(Limits.journalEntries + 5) {
            let entry = entry("\(index)", progress: index == 0 ? .onDevice : progress)
            lines += try JSONEncoder().encode(Line(entry: .init(_0: entry))) + [10]
        }
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try lines.write(to: file)
    }

    @Test("Only the latest entries are kept")
    func onlyTheLatestEntriesAreKept() throws {
        try Self.withFile { file in
            try Self.tooMany(.onServer(.distantPast), in: file)
            let journal = try EditJournal(fileURL: file)
            #expect(journal.entries.count == Limits.journalEntries)
            #expect(journal.entries.last?.title == "\(Limits.journalEntries + 4)")
            #expect(journal.entries.first?.title == "0", "what isn't sent stays, however old")
        }
    }

    @Test(
        "What no service has is kept above the limit", arguments: [EditJournal.Entry.Progress.onDevice, .refused("no")])
    func whatNoServerHasIsKeptAboveTheLimit(progress: EditJournal.Entry.Progress) throws {
        try Self.withFile { file in
            try Self.tooMany(progress, in: file)
            #expect(try EditJournal(fileURL: file).entries.count == Limits.journalEntries + 5)
        }
    }

    @Test("Values keep their kind")
    func valuesKeepTheirKind() throws {
        let values: [FeatureSnapshot.Value] = [
            .null, .integer(.max), .real(-0.1), .text("日本 <&>"), .guid(UUID()), .bytes(Data([0, 255])),
            .date(Date(timeIntervalSince1970: 1.5)),
        ]
        #expect(try JSONDecoder().decode([FeatureSnapshot.Value].self, from: JSONEncoder().encode(values)) == values)
        #expect(FeatureSnapshot.Value(Int16(3)) == FeatureSnapshot.Value(Int64(3)))
        #expect(FeatureSnapshot.Value.integer(70_000).value(for: .int16) == nil)
        #expect(FeatureSnapshot.Value.integer(7).value(for: .int16) is Int16)
    }
}
