import FieldworkREST
import Foundation
import Testing

@testable import FieldworkStore

/// What was read of folders is kept until one of them changes.
@Suite("Listing of a folder")
struct FolderListingTests {
    private let root: TemporaryFolder
    private let inner: URL
    private let listing = FolderListing<[String]>()

    init() throws {
        root = try TemporaryFolder()
        inner = root.url.appending(path: "inner", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: inner, withIntermediateDirectories: true)
    }

    /// Has both folders look as if nothing had changed in them for a while.
    private func settle() throws {
        for folder in [inner, root.url] {
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSinceNow: -10)], ofItemAtPath: folder.path)
        }
    }

    /// The names in both folders.
    private func names(_ count: inout Int) throws -> [String] {
        try listing.value { folders in
            count += 1
            var names: [String] = []
            for folder in [root.url, inner] {
                folders.look(at: folder)
                names += try FileManager.default.contentsOfDirectory(atPath: folder.path)
            }
            return names.sorted()
        }
    }

    private func write(_ name: String, in folder: URL) throws {
        try Data().write(to: folder.appending(path: name))
    }

    @Test("It is read once as long as nothing changes, and again when a folder in it has")
    func changes() throws {
        try write("a", in: root.url)
        try settle()
        var count = 0
        for _ in 0..<3 { #expect(try names(&count) == ["a", "inner"]) }
        #expect(count == 1)
        try write("b", in: inner)
        #expect(try names(&count) == ["a", "b", "inner"])
        try FileManager.default.removeItem(at: root.url.appending(path: "a"))
        #expect(try names(&count) == ["b", "inner"])
        #expect(count == 3)
    }

    @Test("What changed a moment ago may change again within the same tick of the clock, so that it is read each time")
    func fresh() throws {
        try write("a", in: root.url)
        var count = 0
        for _ in 0..<3 { #expect(try names(&count) == ["a", "inner"]) }
        #expect(count == 3)
    }

    @Test("A folder that is not there is looked at again, and its files are there with it")
    func missing() throws {
        let late = root.url.appending(path: "late", directoryHint: .isDirectory)
        let listing = FolderListing<[String]>()
        func names() -> [String] {
            listing.value { folders in
                folders.look(at: late)
                return (try? FileManager.default.contentsOfDirectory(atPath: late.path)) ?? []
            }
        }
        #expect(names() == [])
        try FileManager.default.createDirectory(at: late, withIntermediateDirectories: true)
        try write("a", in: late)
        #expect(names() == ["a"])
    }

    @Test("A store tells of services that come and go in its folder and in folders within")
    func services() async throws {
        let store = try await GeoPackageStore.open(at: root.url)
        try await store.createService(Samples.service)
        try settle()
        let paths = try await store.serviceNames().map(\.path)
        #expect(try await store.serviceNames().map(\.path) == paths)
        let file = try store.url(of: Samples.service.name)
        try FileManager.default.copyItem(at: file, to: inner.appending(path: "Copy.gpkg"))
        #expect(try await store.serviceNames().map(\.path) == (paths + ["inner/Copy"]).sorted())
        try FileManager.default.removeItem(at: inner.appending(path: "Copy.gpkg"))
        #expect(try await store.serviceNames().map(\.path) == paths)
        try await store.close()
    }
}
