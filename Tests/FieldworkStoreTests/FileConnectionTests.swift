import FieldworkGeometry
import FieldworkREST
import Foundation
import TestSupport
import Testing

@testable import FieldworkStore

/// The files of a folder share their connections.
@Suite("Connections of many files", .fewAtATime)
struct FileConnectionTests {
    private let folder: TemporaryFolder
    private let store: GeoPackageStore
    private static let names = (0..<6).map { ServiceName(name: "S\($0)") }

    init() async throws {
        folder = try TemporaryFolder()
        store = try await GeoPackageStore.open(at: folder.url, connections: 3)
        for name in Self.names {
            var definition = Samples.service
            definition.name = name
            try await store.createService(definition)
        }
    }

    private func add(_ species: String, to name: ServiceName) async throws {
        let result = try await store.apply(Samples.batch(adds: [Samples.tree(species, x: 1, y: 2)]), to: name)
        #expect(!result.hasErrors)
    }

    private func count(_ name: ServiceName) async throws -> Int {
        try await store.count(FeatureQuery(), in: LayerAddress(service: name, layerID: 0))
    }

    /// Uses other files until the connections of the first one were closed for them.
    private func crowdOut() async throws {
        for name in Self.names.dropFirst() {
            try await add("Acer", to: name)
            _ = try await count(name)
        }
    }

    private func hasLog(_ name: ServiceName) -> Bool {
        FileManager.default.fileExists(atPath: folder.url.appending(path: "\(name.name).gpkg-wal").path)
    }

    @Test("More files than connections are all read and written, many at a time, and no more connections are open")
    func sharing() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for name in Self.names {
                for _ in 0..<3 {
                    group.addTask {
                        for _ in 0..<20 {
                            try await add("Tilia", to: name)
                            _ = try await count(name)
                            #expect((1...3).contains(store.budget.open))
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        for name in Self.names {
            #expect(try await count(name) == 60)
            #expect(try await store.data(of: name).check() == [])
        }
        try await store.close()
        #expect(store.budget.open == 0)
    }

    @Test("A file whose connections were closed for others is whole without a log, and goes on where it was")
    func atRest() async throws {
        let name = Self.names[0]
        try await add("Tilia", to: name)
        #expect(try await count(name) == 1 && hasLog(name))
        try await crowdOut()
        #expect(!hasLog(name))
        let copy = folder.url.appending(path: "copy.db")
        try FileManager.default.copyItem(at: folder.url.appending(path: "\(name.name).gpkg"), to: copy)
        let connection = try StoreConnection(path: copy.path, mode: .readOnly)
        #expect(try connection.integer("SELECT count(*) FROM Trees") == 1)
        try await add("Tilia", to: name)
        #expect(try await count(name) == 2)
        try await store.close()
    }

    @Test("The connection that was unused for the longest time is closed")
    func longestUnused() async throws {
        for index in [0, 1, 2, 0, 3] { try await add("Tilia", to: Self.names[index]) }
        #expect(hasLog(Self.names[0]) && !hasLog(Self.names[1]) && hasLog(Self.names[2]) && hasLog(Self.names[3]))
        try await store.close()
    }

    @Test("What another program did to a file while no connection was open holds for the next edit")
    func changedMeanwhile() async throws {
        let name = Self.names[0]
        try await add("Tilia", to: name)
        try await crowdOut()
        let other = try await GeoPackageStore.open(at: folder.url)
        var definition = try await other.data(of: name).definition
        definition.layers[0].fields.append(FieldDefinition(name: "girth", type: .double))
        try await other.updateService(definition, allowing: .addsFields)
        try await other.close()
        let tree = Samples.tree("Tilia", x: 1, y: 2, [(name: "girth", value: .real(1.5))])
        let result = try await store.apply(Samples.batch(adds: [tree]), to: name)
        #expect(!result.hasErrors)
        let file = folder.url.appending(path: "\(name.name).gpkg").path
        let connection = try StoreConnection(path: file, mode: .readOnly)
        #expect(try connection.text("SELECT girth FROM Trees WHERE OBJECTID = 2") == "1.5")
        try await store.close()
    }

    @Test("A file that was put in the place of one without open connections is what is read and written")
    func replacedMeanwhile() async throws {
        let name = Self.names[0]
        let place = folder.url.appending(path: "\(name.name).gpkg")
        let backup = folder.url.appending(path: "backup.db")
        try await add("Tilia", to: name)
        try await crowdOut()
        try FileManager.default.copyItem(at: place, to: backup)
        try await add("Quercus", to: name)
        try await crowdOut()
        #expect(rename(backup.path, place.path) == 0)
        #expect(try await count(name) == 1)
        try await add("Fagus", to: name)
        #expect(try await count(name) == 2)
        try await store.close()
    }

    /// A device's file, say, is being written from it meanwhile.
    @Test("A read that is the last to close a file leaves a backup that was copied over the file as it is")
    func lastOfAll() async throws {
        let name = Self.names[0]
        let place = folder.url.appending(path: "\(name.name).gpkg")
        try await add("Tilia", to: name)
        try await crowdOut()
        let backup = try Data(contentsOf: place)
        try await add("Quercus", to: name)
        try await crowdOut()
        do {
            let reading = try await store.file(name).source.open(.readOnly)
            try await add("Fagus", to: name)
            try await crowdOut()
            #expect(hasLog(name))
            let copying = try FileHandle(forWritingTo: place)
            try copying.truncate(atOffset: 0)
            try copying.write(contentsOf: backup)
            try copying.close()
            withExtendedLifetime(reading) {}
        }
        #expect(try Data(contentsOf: place) == backup)
        #expect(hasLog(name))
        try await store.close()
    }

    @Test("A connection that can't be made ready gives its place back")
    func unreadable() async throws {
        let name = Self.names[0]
        let place = folder.url.appending(path: "\(name.name).gpkg")
        let file = try await store.file(name)
        try await crowdOut()
        let open = store.budget.open
        let kept = place.appendingPathExtension("kept")
        try FileManager.default.moveItem(at: place, to: kept)
        for _ in 0..<10 { await #expect(throws: StoreError.self) { try await file.count(FeatureQuery(), in: 0) } }
        #expect(store.budget.open <= open)
        try FileManager.default.moveItem(at: kept, to: place)
        try await store.close()
        #expect(store.budget.open == 0)
    }
}
