import FieldworkREST
import Foundation
import TestSupport
import Testing

@testable import FieldworkStore

/// The write-ahead log of a file that is edited without a pause.
@Suite("A long log", .fewAtATime)
struct LogMovingTests {
    private let folder: TemporaryFolder
    private let url: URL
    private let file: GeoPackageFile

    private static let page = 4_096
    private static let treesPerBatch = 50

    init() async throws {
        folder = try TemporaryFolder()
        url = folder.url.appending(path: "Trees.gpkg")
        file = try await GeoPackageStore.createFile(at: url, definition: Samples.service)
    }

    /// A batch that makes the log longer by a page for each tree at least.
    private static func batch() -> EditBatch {
        let note = AttributeValue.text(String(repeating: "x", count: 3_900))
        return Samples.batch(
            adds: (0..<treesPerBatch).map { index in
                var tree = Samples.tree("Tilia", x: Double(index), y: 1)
                tree.attributes.append((name: "note \"x\"; DROP", value: note))
                return tree
            })
    }

    private func edit(batches: Int) async throws {
        for _ in 0..<batches { #expect(try await !file.apply(Self.batch()).hasErrors) }
    }

    /// Pages that the log has room for: the most that it ever had.
    private var logPages: Int {
        let size = try? FileManager.default.attributesOfItem(atPath: url.path + "-wal")[.size] as? Int
        return (size ?? 0) / Self.page
    }

    private func check(_ trees: Int) async throws {
        #expect(try await file.count(FeatureQuery(), in: 0) == trees)
        #expect(file.watch.loss == nil)
        await file.close()
        #expect(!FileManager.default.fileExists(atPath: url.path + "-wal"))
        #expect(await FileCheck(url).findings() == [])
        let again = try await GeoPackageFile.open(at: url)
        #expect(try await again.count(FeatureQuery(), in: 0) == trees)
        await again.close()
    }

    @Test("It is moved into the file while edits go on, and begun anew: it never gets longer than the limit")
    func isBegunAnew() async throws {
        let batches = Limits.logPagesMost * 5 / 4 / Self.treesPerBatch
        let clients = 6
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<clients { group.addTask { try await edit(batches: batches / clients) } }
            try await group.waitForAll()
        }
        #expect(logPages < Limits.logPagesMost + Limits.logPages / 2, "\(logPages) pages")
        try await check(batches / clients * clients * Self.treesPerBatch)
    }

    /// Reads one state of the file for as long as something else takes.
    private func read<Result>(during body: () async throws -> Result) async throws -> Result {
        let reader = try file.source.open(.readOnly)
        try reader.begin(reader.dialect.beginReading)
        let trees = try reader.integer("SELECT count(*) FROM Trees")
        let result = try await body()
        #expect(try reader.integer("SELECT count(*) FROM Trees") == trees)
        try reader.rollBack()
        return result
    }

    @Test("What somebody reads stays in it; edits go on meanwhile, and it is begun anew when the reader has ended")
    func isRead() async throws {
        try await edit(batches: 1)
        let batches = Limits.logPages * 3 / 2 / Self.treesPerBatch
        let held = try await read {
            try await edit(batches: batches)
            return logPages
        }
        #expect(held > Limits.logPages)
        try await edit(batches: batches)
        #expect(logPages < held + Limits.logPages, "\(logPages) pages, and \(held) while it was read")
        try await check((2 * batches + 1) * Self.treesPerBatch)
    }

    @Test("The edits go on while it is moved, and only the rest is the writer's; so it is with the next long log")
    func isMovedBeside() async throws {
        try await edit(batches: 20)
        let mover = LogMover(source: file.source)
        let size = { try FileManager.default.attributesOfItem(atPath: url.path)[.size] as? Int ?? 0 }
        for _ in 0..<2 {
            #expect(mover.advice(pages: Limits.logPages - 1) == .goOn, "it is not long")
            let before = try size()
            #expect(mover.advice(pages: Limits.logPages) == .goOn, "the writer does not wait")
            mover.wait()
            #expect(try size() > before, "the mover has moved it, not the writer")
            #expect(mover.advice(pages: Limits.logPages + 1) == .moveRest)
            // The log starts over without the writer's help when no edit came meanwhile.
            try await edit(batches: 20)
        }
        await file.close()
    }

    @Test("At four times the length of a long one the edits wait; a log that is read is not tried with each edit")
    func advice() async throws {
        let mover = LogMover(source: file.source)
        #expect(mover.advice(pages: Limits.logPagesMost) == .moveRest)
        mover.restWasMoved(pages: Limits.logPages, isWhole: false)
        #expect(mover.advice(pages: Limits.logPages + 1) == .goOn)
        mover.wait()
        #expect(mover.advice(pages: Limits.logPages + 2) == .goOn)
        mover.restWasMoved(pages: Limits.logPages, isWhole: true)
        #expect(mover.advice(pages: Limits.logPages + 1) == .moveRest, "few pages")
        await file.close()
    }

    @Test("A file that is closed while its log is moved is whole without it")
    func isClosed() async throws {
        let batches = Limits.logPages * 5 / 4 / Self.treesPerBatch
        try await edit(batches: batches)
        try await check(batches * Self.treesPerBatch)
    }
}
