import FieldworkREST
import Foundation
import TestSupport
import Testing

@testable import FieldworkStore

/// A file that is edited while other programs are at work in it or put another in its place.
@Suite("Other programs at the log", .fewAtATime)
struct LogContentionTests {
    private let folder: TemporaryFolder
    private let file: URL

    init() async throws {
        folder = try TemporaryFolder()
        file = folder.url.appending(path: "Trees.gpkg")
        let store = try await Samples.store(in: folder)
        _ = try await store.apply(Samples.batch(adds: [Samples.tree("Acer", x: 1, y: 2)]), to: Samples.name)
        try await store.close()
    }

    @Test(
        "Edits are acknowledged, each once, while another program moves the log into the file all the time",
        arguments: ["PASSIVE", "TRUNCATE"])
    func checkpoints(mode: String) async throws {
        let stop = folder.url.appending(path: "stop").path
        let script = """
            import sqlite3,sys,os,time
            c=sqlite3.connect(sys.argv[1],timeout=20)
            while not os.path.exists(sys.argv[2]):
                c.execute("PRAGMA wal_checkpoint(\(mode))").fetchall()
                time.sleep(0.002)
            """
        let opened = try await GeoPackageFile.open(at: file)
        let other = try ChildProcess(
            try #require(ShellTool.path("python3")), ["-c", script, file.path, stop])
        var failures: [String] = []
        for round in 0..<100 {
            do {
                let result = try await opened.apply(Samples.batch(adds: [Samples.tree("Tilia \(round)", x: 5, y: 6)]))
                if result.hasErrors { failures.append("\(round): \(result)") }
            } catch {
                failures.append("\(round): \(error)")
            }
        }
        try Data().write(to: URL(filePath: stop))
        #expect(await other.ended() == 0)
        #expect(failures == [])
        #expect(try await opened.count(FeatureQuery(), in: 0) == 101)
        #expect(opened.watch.loss == nil)
        await opened.close()
        #expect(await FileCheck(file).findings() == [])
    }

    @Test("A file that was copied over an open one is opened when it has been left alone for the time of the limit")
    func settled() throws {
        let watch = FileWatch(file)
        let written = Date(timeIntervalSince1970: 1_700_000_000)
        try FileManager.default.setAttributes([.modificationDate: written], ofItemAtPath: file.path)
        let limit = Double(Limits.replacedSettledSeconds)
        #expect(!watch.isSettled(file.path, at: written))
        #expect(!watch.isSettled(file.path, at: written.addingTimeInterval(limit - 1)))
        #expect(watch.isSettled(file.path, at: written.addingTimeInterval(limit)))
        // A clock that was put back does not keep the service waiting.
        #expect(watch.isSettled(file.path, at: written.addingTimeInterval(-60)))
        // Another file, which appeared as a whole.
        let other = folder.url.appending(path: "other.gpkg")
        try FileManager.default.copyItem(at: file, to: other)
        #expect(watch.isSettled(other.path, at: .now))
    }

    @Test("What a killed publish left is abandoned after the time of the limit without a write, and not before")
    func leftovers() throws {
        let making = folder.url.appending(path: ".Trees.0A1B.making", directoryHint: .isDirectory)
        let inside = making.appending(path: "rows.gpkg")
        try FileManager.default.createDirectory(at: making, withIntermediateDirectories: true)
        try Data("rows".utf8).write(to: inside)
        let kept = folder.url.appending(path: "Trees.gpkg.replaced-20260716T101112Z")
        try Data("kept".utf8).write(to: kept)
        let written = Date(timeIntervalSince1970: 1_700_000_000)
        for path in [inside.path, making.path, kept.path] {
            try FileManager.default.setAttributes([.modificationDate: written], ofItemAtPath: path)
        }
        let found = try Leftover.all(in: folder.url)
        #expect(found.map(\.url.lastPathComponent) == [".Trees.0A1B.making", kept.lastPathComponent])
        let unfinished = try #require(found.first)
        #expect(!unfinished.isAbandoned(at: written.addingTimeInterval(Limits.leftoverSeconds)))
        #expect(unfinished.isAbandoned(at: written.addingTimeInterval(Limits.leftoverSeconds + 1)))
        // What was replaced holds what is nowhere else.
        let replaced = try #require(found.last)
        #expect(!replaced.isAbandoned(at: .distantFuture))
        try unfinished.remove()
        #expect(try Leftover.all(in: folder.url).count == 1)
    }
}
