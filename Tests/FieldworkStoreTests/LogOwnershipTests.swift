import FieldworkREST
import Foundation
import TestSupport
import Testing

@testable import FieldworkStore

/// A file and the log beside it: which belongs to which.
@Suite("The log and its file", .fewAtATime)
struct LogOwnershipTests {
    private let folder: TemporaryFolder
    private let file: URL

    init() async throws {
        folder = try TemporaryFolder()
        file = folder.url.appending(path: "Trees.gpkg")
        let store = try await Samples.store(in: folder)
        _ = try await store.apply(Samples.batch(adds: [Samples.tree("Acer", x: 1, y: 2)]), to: Samples.name)
        try await store.close()
    }

    /// Copies file and log as a killed process would leave them.
    private func copy(to name: String) throws -> URL {
        let target = folder.url.appending(path: name)
        for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: file.path + suffix) {
            try FileManager.default.copyItem(atPath: file.path + suffix, toPath: target.path + suffix)
        }
        return target
    }

    private func edit(_ opened: GeoPackageFile, _ species: String, times: Int = 1) async throws {
        for _ in 0..<times {
            let result = try await opened.apply(Samples.batch(adds: [Samples.tree(species, x: 5, y: 6)]))
            #expect(!result.hasErrors)
        }
    }

    @Test("A log is its file's own after every commit and in the midst of being moved into the file")
    func own() async throws {
        let opened = try await GeoPackageFile.open(at: file)
        for round in 0..<30 {
            try await edit(opened, "Tilia \(round)")
            if round % 7 == 3 { opened.writer.movePages() }
            #expect(LogOwnership.look(file.path) == .own, "round \(round)")
            if round % 10 == 5 { try await opened.checkpoint() }
        }
        await opened.close()
        #expect(LogOwnership.look(file.path) == .none)
    }

    @Test("An older state of the file does not own the log that was begun after a later one")
    func foreign() async throws {
        let backup = try copy(to: "backup.gpkg")
        let opened = try await GeoPackageFile.open(at: file)
        try await edit(opened, "Tilia")
        try await opened.checkpoint()
        try await edit(opened, "Ulmus", times: 3)
        let crashed = try copy(to: "crashed.gpkg")
        #expect(LogOwnership.look(crashed.path) == .own)
        try FileManager.default.removeItem(at: crashed)
        try FileManager.default.copyItem(at: backup, to: crashed)
        let newest = try await opened.generation()
        #expect(LogOwnership.look(crashed.path) == .foreign(generation: newest))
        await opened.close()

        let restored = try await GeoPackageFile.open(at: crashed)
        #expect(restored.notice?.contains("crashed.gpkg-wal.set-aside-") == true)
        #expect(try await restored.count(FeatureQuery(), in: 0) == 1)
        let timeline = try await restored.timeline()
        let restoration = try #require(timeline.restorations.first)
        #expect(timeline.restorations.count == 1 && restoration.from == 1)
        #expect(timeline.generation == Limits.restorationStep && timeline.loss(of: 4)?.from == 1)
        #expect(timeline.loss(of: 1) == nil && timeline.loss(of: timeline.generation) == nil)
        #expect(timeline.loss(of: timeline.generation + 1) != nil)
        #expect(try await restored.check().isEmpty)
        await restored.close()
    }

    @Test("A log that another program began is taken for the file's own")
    func otherProgram() async throws {
        let backup = try copy(to: "other.gpkg")
        _ = try ShellTool.run(
            "python3",
            [
                "-c",
                "import sqlite3,os,sys; c=sqlite3.connect(sys.argv[1]); c.execute('PRAGMA journal_mode=WAL'); c.execute(\"UPDATE gpkg_contents SET description='x'\"); c.commit(); os._exit(0)",
                backup.path,
            ])
        #expect(LogOwnership.look(backup.path) == .own)
    }

    @Test("A file that can't be read without its log speaks against nothing: its log stays beside it")
    func inTheMidstOfACheckpoint() async throws {
        let opened = try await GeoPackageFile.open(at: file)
        try await edit(opened, "Tilia")
        try await opened.checkpoint()
        try await edit(opened, "Ulmus")
        // As the power may leave it while the log is moved: the log has all pages, the file one of two states or neither.
        for page in 1...4 {
            let crashed = try copy(to: "crashed\(page).gpkg")
            let handle = try FileHandle(forWritingTo: crashed)
            try handle.seek(toOffset: UInt64((page - 1) * 4_096 + (page == 1 ? 100 : 0)))
            try handle.write(contentsOf: Data(count: 1_000))
            try handle.close()
            let verdict = LogOwnership.look(crashed.path)
            #expect(verdict == .own || verdict == .unreadable, "page \(page): \(verdict)")
        }
        await opened.close()
    }

    @Test("Every state in which the power can leave a file while its log is moved into it owns the log")
    func everyPage() async throws {
        let opened = try await GeoPackageFile.open(at: file)
        try await edit(opened, "Tilia", times: 3)
        try await opened.checkpoint()
        try await edit(opened, "Ulmus", times: 30)
        let before = try copy(to: "before.gpkg")
        opened.writer.movePages()
        let after = try Data(contentsOf: file)
        await opened.close()
        let old = try Data(contentsOf: before)
        // Pages are moved in the order of their numbers; the disk may have written any of them.
        for page in stride(from: 0, to: after.count, by: 4_096) {
            for isAlone in [true, false] {
                let crashed = folder.url.appending(path: "p\(page)-\(isAlone).gpkg")
                var bytes = old
                if bytes.count < after.count { bytes.append(Data(count: after.count - bytes.count)) }
                let range = isAlone ? page..<page + 4_096 : 0..<page + 4_096
                bytes.replaceSubrange(range, with: after[range])
                try bytes.write(to: crashed)
                try FileManager.default.copyItem(atPath: before.path + "-wal", toPath: crashed.path + "-wal")
                let verdict = LogOwnership.look(crashed.path)
                #expect(verdict == .own || verdict == .unreadable, "page \(page): \(verdict)")
                let survivor = try await GeoPackageFile.open(at: crashed)
                #expect(survivor.notice == nil)
                #expect(try await survivor.count(FeatureQuery(), in: 0) == 34)
                await survivor.close()
                try FileManager.default.removeItem(at: crashed)
            }
        }
    }

    @Test("A log that is taken away from under an open file is noticed before an edit is acknowledged")
    func logTakenAway() async throws {
        let opened = try await GeoPackageFile.open(at: file)
        try await edit(opened, "Tilia")
        try LogSetAside.move(besideFile: file.path)
        await #expect(throws: StoreError.self) { try await edit(opened, "Ulmus") }
        #expect(opened.watch.loss == .replaced)
        await opened.close()
    }

    @Test("Other programs that open and close a file leave it the one that was opened")
    func otherPrograms() async throws {
        let opened = try await GeoPackageFile.open(at: file)
        for round in 0..<4 {
            let script = """
                import sqlite3,sys; c=sqlite3.connect(sys.argv[1])
                c.execute("UPDATE gpkg_contents SET description='x\(round)'"); c.commit()
                c.execute("PRAGMA wal_checkpoint(TRUNCATE)"); c.close()
                """
            _ = try ShellTool.run("python3", ["-c", script, file.path])
            #expect(try await opened.count(FeatureQuery(), in: 0) == 1 + round)
            try await edit(opened, "Tilia \(round)")
        }
        #expect(opened.watch.loss == nil)
        await opened.close()
        #expect(LogOwnership.look(file.path) == .none)
    }

    private func logBytes() throws -> Int {
        try FileManager.default.attributesOfItem(atPath: file.path + "-wal")[.size] as? Int ?? 0
    }

    @Test("The log of a file that is edited all the time is moved into it, and begins anew once its readers are done")
    func logStaysShort() async throws {
        let opened = try await GeoPackageFile.open(at: file)
        let note = String(repeating: "x", count: 4_000_000)
        let most = 3 * Limits.logPages * 4_200
        for round in 0..<20 { try await opened.keepNote("\(round) \(note)", as: "test") }
        let short = try logBytes()
        #expect(short < most)
        let reader = try StoreConnection(path: file.path, mode: .readOnly)
        try reader.begin("BEGIN")
        _ = try reader.integer("SELECT count(*) FROM Trees")
        for round in 0..<20 { try await opened.keepNote("\(round) \(note)", as: "test") }
        let long = try logBytes()
        try reader.rollBack()
        reader.forgetStatements()
        for round in 0..<20 { try await opened.keepNote("\(round) \(note)", as: "test") }
        // The first of them may still have been written behind the others; the rest are not.
        #expect(try logBytes() - long < (long - short) / 2)
        await opened.close()
    }

    @Test("A file of an earlier version gets its stamp when it is opened, and keeps what it has")
    func earlierVersion() async throws {
        let old = try StoreConnection(path: file.path, mode: .readWrite)
        try old.execute("DROP TRIGGER fieldwork_stamp")
        for column in ["stamp", "base", "mark"] {
            try old.execute("ALTER TABLE fieldwork_state DROP COLUMN \(column)")
        }
        old.forgetStatements()
        let opened = try await GeoPackageFile.open(at: file)
        try await edit(opened, "Tilia")
        #expect(try await opened.count(FeatureQuery(), in: 0) == 2)
        #expect(LogOwnership.look(file.path) == .own)
        #expect(WrittenLog(besideFile: file.path)?.last?.generation == 2)
        await opened.close()
    }

    @Test("A page is the state's only when it reads as that to the last byte", arguments: [0, 1, 3, 5, 8, 20])
    func pages(cut: Int) {
        #expect(StateRow(page: [UInt8](repeating: 13, count: cut)) == nil)
        #expect(StateRow(page: [13, 0, 0, 0, 1, 255, 255, 0] + [UInt8](repeating: 255, count: cut)) == nil)
    }

    // MARK: Damage

    @Test("The doctor names a missing trigger and what was edited without it, and writes nothing")
    func missingTriggers() async throws {
        let connection = try StoreConnection(path: file.path, mode: .readWrite)
        for name in ["insert", "update", "delete"] { try connection.execute("DROP TRIGGER fieldwork_0_\(name)") }
        try connection.execute("DELETE FROM Trees")
        connection.forgetStatements()
        try connection.checkpoint()
        let before = try Data(contentsOf: file)
        let findings = await FileCheck(file).findings()
        #expect(findings.contains { $0.contains("fieldwork_0_insert is missing") })
        #expect(findings.contains { $0.contains("is gone, and the change log does not say so") })
        #expect(try Data(contentsOf: file) == before)
    }

    @Test("The doctor is not deceived by a trigger of the right name that records nothing")
    func emptyTrigger() async throws {
        #expect(await FileCheck(file).findings() == [])
        let connection = try StoreConnection(path: file.path, mode: .readWrite)
        try connection.execute("DROP TRIGGER fieldwork_0_update")
        try connection.execute("CREATE TRIGGER fieldwork_0_update AFTER UPDATE ON Trees BEGIN SELECT 1; END")
        connection.forgetStatements()
        try connection.checkpoint()
        let findings = await FileCheck(file).findings()
        #expect(findings.contains { $0.contains("fieldwork_0_update is not the one that records edits") })
    }

    @Test("What can't be read is a finding that says what it is")
    func unreadable() async throws {
        let junk = folder.url.appending(path: "Junk.gpkg")
        try Data("no database at all, but long enough to be looked at".utf8).write(to: junk)
        #expect(await !FileCheck(junk).findings().isEmpty)
        let link = folder.url.appending(path: "Link.gpkg")
        try FileManager.default.createSymbolicLink(
            at: link, withDestinationURL: folder.url.appending(path: "moved.gpkg"))
        #expect(await FileCheck(link).findings().first?.contains("where there is no file") == true)
        #expect(await FileCheck(folder.url.appending(path: "none.gpkg")).findings() == ["There is no such file."])
        let store = try await GeoPackageStore.open(at: folder.url)
        let services = Set(try await store.check().map { $0.prefix { $0 != ":" } })
        #expect(services.contains("Junk") && !services.contains("Trees"))
        try await store.close()
    }

    // MARK: Extents

    @Test("The extent that the file tells holds every feature, also after edits outside of it")
    func extents() async throws {
        func told() throws -> [Double] {
            let connection = try StoreConnection(path: file.path, mode: .readOnly)
            defer { connection.forgetStatements() }
            var numbers: [Double] = []
            try connection.run(
                "SELECT min_x, min_y, max_x, max_y FROM gpkg_contents WHERE table_name = 'Trees'",
                row: { row in numbers = (0..<4).map { row.double($0) } })
            return numbers
        }
        #expect(try told() == [1, 2, 1, 2])
        let opened = try await GeoPackageFile.open(at: file)
        _ = try await opened.apply(Samples.batch(adds: [Samples.tree("Acer", x: -10, y: 300)]))
        #expect(try told() == [-10, 2, 1, 300])
        // What a crew hands in as well.
        var tree = Samples.tree("Tilia", x: 500, y: -40)
        tree.globalID = UUID()
        let upload = ReplicaLayerUpload(layerID: 0, baseGeneration: nil, adds: [tree])
        let result = try await opened.apply(
            ReplicaUpload(id: UUID(), replicaID: UUID(), layers: [upload], moment: Samples.moment))
        #expect(!result.hasErrors)
        #expect(try told() == [-10, -40, 500, 300])
        await opened.close()
    }
}
