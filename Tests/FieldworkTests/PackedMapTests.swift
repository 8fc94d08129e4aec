import FieldworkGeometry
import FieldworkServer
import FieldworkTiles
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Fieldwork

@Suite("Map packages in one file", .fewAtATime)
struct PackedMapTests {
    /// A package without updates, and a place for its file.
    private static func with(_ test: (OfflineMapService, URL) async throws -> Void) async throws {
        try await OfflineMapService.with { online in
            let result = try await online.take("package") { $0.updateMode = .noUpdates }
            result.mobileMapPackage.close()
            try await test(online, online.service.folder.appending(path: "package.zip"))
        }
    }

    private static func packed(_ online: OfflineMapService, _ file: URL) async throws {
        let package = MobileMapPackage(fileURL: online.folder)
        defer { package.close() }
        try await package.pack(to: file)
    }

    @Test("A package becomes one file and a folder again, with what was edited in it, and works on another device")
    func whole() async throws {
        try await Self.with { online, file in
            let package = MobileMapPackage(fileURL: online.folder)
            try await package.load()
            let map = try #require(package.maps.first)
            try await map.load()
            let table = try map.damages()
            try await table.add(
                table.makeFeature(attributes: ["primcause": "Offline"], geometry: OfflineService.place(3)))
            let parts = Mutex<[Double]>([])
            // The geodatabase is open: what lies in its log belongs to it.
            try await package.pack(to: file) { part in parts.withLock { $0.append(part) } }
            package.close()
            let shares = parts.withLock { $0 }
            #expect(shares.last == 1 && shares == shares.sorted())
            try await online.service.running.stop()

            let other = online.service.folder.appending(path: "other", directoryHint: .isDirectory)
            #expect(try await MobileMapPackage.isDirectReadSupported(fileURL: file))
            try await MobileMapPackage.unpack(fileURL: file, outputDirectoryURL: other)
            #expect(try await MobileMapPackage.isDirectReadSupported(fileURL: other))
            #expect(try MobileMapPackage.damage(fileURL: other).isEmpty)
            let copy = MobileMapPackage(fileURL: other)
            try await copy.load()
            defer { copy.close() }
            let found = QueryParameters()
            found.whereClause = "primcause = 'Offline'"
            #expect(try await copy.geodatabases[0].damages.queryFeatureCount(using: found) == 1)
            let offline = try #require(copy.maps.first)
            try await offline.load()
            let streets = try #require(offline.basemap?.baseLayers.first as? ArcGISVectorTiledLayer)
            try await streets.load()
            #expect(try await streets.style() != nil)
            let left = try FileManager.default.contentsOfDirectory(atPath: online.service.folder.path)
            #expect(!left.contains { $0.contains(".making") })
        }
    }

    @Test(
        "One file is read where it lies: features, photos, tiles and style, and nothing is written to it or beside it")
    func inPlace() async throws {
        try await Self.with { online, file in
            let package = MobileMapPackage(fileURL: online.folder)
            try await package.load()
            let table = try package.geodatabases[0].damages
            let feature = table.makeFeature(attributes: ["primcause": "Offline"], geometry: OfflineService.place(3))
            try await table.add(feature)
            try await package.pack(to: file)
            package.close()
            try await online.service.running.stop()
            try FileManager.default.removeItem(at: online.folder)
            let before = try Data(contentsOf: file)
            let beside = try FileManager.default.contentsOfDirectory(atPath: online.service.folder.path).sorted()

            let one = MobileMapPackage(fileURL: file)
            try await one.load()
            defer { one.close() }
            #expect(one.isOneFile && one.size == Int64(before.count) && !one.hasLocalEdits)
            let map = try #require(one.maps.first)
            try await map.load()
            let damages = try map.damages()
            try await damages.load()
            #expect(damages.numberOfFeatures > 1)
            let found = QueryParameters()
            found.whereClause = "primcause = 'Offline'"
            #expect(try await damages.queryFeatureCount(using: found) == 1)
            let read = try #require(try await damages.queryFeatures(using: found).features().makeIterator().next())
            #expect(read.geometry != nil)
            let streets = try #require(map.basemap?.baseLayers.first as? ArcGISVectorTiledLayer)
            try await streets.load()
            #expect(try await streets.style() != nil && streets.loadStatus == .loaded)
            #expect(try MobileMapPackage.damage(fileURL: file).isEmpty)

            // It takes no edits, and says what to do.
            #expect(!damages.isEditable)
            do {
                try await damages.add(damages.makeFeature(attributes: [:], geometry: OfflineService.place(4)))
                Issue.record("an edit was taken")
            } catch GeodatabaseError.tableNotEditable(let details) {
                #expect(details.contains("unpack it"))
            }
            #expect(throws: GeodatabaseError.self) { try one.geodatabases[0].beginTransaction() }
            do {
                try await OfflineMapSyncTask(map: map).load()
                Issue.record("it was synchronised")
            } catch CommonError.propertyNotSupported(let details) {
                #expect(details.contains("unpack it"))
            }
            await #expect(throws: CommonError.self) { try await one.pack(to: online.folder) }
            #expect(try Data(contentsOf: file) == before)
            #expect(try FileManager.default.contentsOfDirectory(atPath: online.service.folder.path).sorted() == beside)
        }
    }

    @Test("One file with a changed byte is found damaged by a check, and one that is cut off is not opened")
    func damagedInPlace() async throws {
        try await Self.with { online, file in
            try await Self.packed(online, file)
            let whole = try Data(contentsOf: file)
            let bad = online.service.folder.appending(path: "bad.zip")
            var generator = SeededGenerator(seed: 27)
            let archive = try ZipArchive(PackageFile(path: file.path))
            for (name, entry) in archive.entries {
                var changed = whole
                changed[try archive.start(of: entry) + Int.random(in: 0..<entry.size, using: &generator)] ^= 1
                try changed.write(to: bad)
                let damage = (try? MobileMapPackage.damage(fileURL: bad)) ?? ["no package"]
                // What the package says of itself has a checksum in the archive alone, which reading it does not look at.
                if ![MapPackageIndex.fileName, MapPackageIndex.mapName].contains(name) {
                    #expect(!damage.isEmpty, "\(name)")
                }
            }
            for length in [0, 10, whole.count / 2, whole.count - 1] {
                try whole.prefix(length).write(to: bad)
                await #expect(throws: CommonError.self, "\(length) bytes") {
                    try await MobileMapPackage(fileURL: bad).load()
                }
            }
        }
    }

    @Test("A zip file whose files are compressed is not read where it lies, and says how to pack it")
    func compressed() async throws {
        try await Self.with { online, file in
            let arguments = ["python3", "-c", Self.compressing, online.folder.path, file.path]
            try #require(ChildProcess.run("/usr/bin/env", arguments).status == 0)
            #expect(try await !MobileMapPackage.isDirectReadSupported(fileURL: file))
            do {
                try await MobileMapPackage(fileURL: file).load()
                Issue.record("it was opened")
            } catch CommonError.file(let details) {
                #expect(details.contains("is compressed"))
            }
        }
    }

    private static let compressing = """
        import os, sys, zipfile
        with zipfile.ZipFile(sys.argv[2], "w", zipfile.ZIP_DEFLATED) as archive:
            for name in os.listdir(sys.argv[1]):
                archive.write(os.path.join(sys.argv[1], name), name)
        """

    @Test("A package that is synchronised is not copied: two devices would have one name")
    func synchronised() async throws {
        try await OfflineMapService.with { online in
            let package = try await online.take("package").mobileMapPackage
            defer { package.close() }
            let file = online.service.folder.appending(path: "package.zip")
            do {
                try await package.pack(to: file)
                Issue.record("it was packed")
            } catch CommonError.propertyNotSupported(let details) {
                #expect(details.contains("second device"))
            }
            #expect(!FileManager.default.fileExists(atPath: file.path))
        }
    }

    @Test("What is there already is not replaced")
    func places() async throws {
        try await Self.with { online, file in
            try await Self.packed(online, file)
            let before = try Data(contentsOf: file)
            do {
                try await Self.packed(online, file)
                Issue.record("the file was replaced")
            } catch CommonError.exists {}
            #expect(try Data(contentsOf: file) == before)
            do {
                try await MobileMapPackage.unpack(fileURL: file, outputDirectoryURL: online.folder)
                Issue.record("the folder was replaced")
            } catch CommonError.exists {}
        }
    }

    @Test("A file that is cut off, changed or something else gives an error and no folder")
    func damaged() async throws {
        try await Self.with { online, file in
            try await Self.packed(online, file)
            let whole = try Data(contentsOf: file)
            let (bad, folder) = (
                online.service.folder.appending(path: "bad.zip"), online.service.folder.appending(path: "bad")
            )
            func unpacks(_ bytes: Data) async throws -> Bool {
                try bytes.write(to: bad)
                do {
                    try await MobileMapPackage.unpack(fileURL: bad, outputDirectoryURL: folder)
                } catch is CommonError {
                    #expect(!FileManager.default.fileExists(atPath: folder.path))
                    #expect(!FileManager.default.fileExists(atPath: folder.path + ".making"))
                    return false
                }
                try FileManager.default.removeItem(at: folder)
                return true
            }
            #expect(try await unpacks(whole))
            for length in [0, 10, whole.count / 2, whole.count - 1] {
                #expect(try await !unpacks(whole.prefix(length)), "\(length) bytes")
            }
            // Every file but the geodatabase is sealed, and all have the zip file's checksums: a changed byte of a file is noticed.
            var generator = SeededGenerator(seed: 26)
            let archive = try ZipArchive(PackageFile(path: file.path))
            for (name, entry) in archive.entries {
                var changed = whole
                changed[try archive.start(of: entry) + Int.random(in: 0..<entry.size, using: &generator)] ^= 1
                #expect(try await !unpacks(changed), "\(name)")
            }
            #expect(try await !unpacks(Data("PK something else".utf8)))
        }
    }

    @Test("Names that lead out of the folder, and files that lie over each other, are refused")
    func hostile() async throws {
        try await Self.with { online, _ in
            let (bad, folder) = (
                online.service.folder.appending(path: "bad.zip"), online.service.folder.appending(path: "bad")
            )
            for name in ["../stray", "/stray", "a/b", ".hidden"] {
                let writer = try ZipWriter(bad)
                for (own, text) in [("package.json", "{}"), ("map.json", "{}"), (name, "x")] {
                    try writer.add(Array(text.utf8), as: own)
                }
                try writer.finish()
                do {
                    try await MobileMapPackage.unpack(fileURL: bad, outputDirectoryURL: folder)
                    Issue.record("\(name) was unpacked")
                } catch CommonError.invalidArgument {}
            }
            #expect(!FileManager.default.fileExists(atPath: online.service.folder.appending(path: "stray").path))
        }
    }

    @Test("A task that is cancelled leaves nothing")
    func cancelled() async throws {
        try await Self.with { online, file in
            let task = Task {
                let package = MobileMapPackage(fileURL: online.folder)
                defer { package.close() }
                try await package.load()
                try await package.pack(to: file) { _ in withUnsafeCurrentTask { $0?.cancel() } }
            }
            await #expect(throws: CancellationError.self) { try await task.value }
            let left = try FileManager.default.contentsOfDirectory(atPath: online.service.folder.path)
            #expect(!left.contains { $0.hasPrefix("package.zip") })
        }
    }
}
