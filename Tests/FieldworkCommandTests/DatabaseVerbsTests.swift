import ArgumentParser
import FieldworkPostGIS
import FieldworkREST
import FieldworkStore
import Foundation
import TemporaryPostgres
import TestSupport
import Testing

@testable import FieldworkCommand

@Suite(
    "Verbs on a database", .fewAtATime, .enabled(if: TemporaryPostgres.isInstalled, "PostgreSQL 15 is not installed."))
struct DatabaseVerbsTests {
    private func publish(_ text: String, at address: String) async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "fieldwork-verbs-\(UUID().uuidString).csv")
        try text.write(to: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(at: file) }
        let command = try PublishCommand.parse([
            file.path, "--service", "City/Trees", "--x", "lon", "--y", "lat", "--store", address,
        ])
        try await command.run()
    }

    @Test("A database is prepared, a table published in it, and a second one of the name refused")
    func story() async throws {
        let address = try await TemporaryPostgres.shared.value.storeAddress()
        try await StoreCommand.Initialize.parse(["--store", address]).run()
        try await publish("name,lon,lat,dbh\nAcer,8.5,47.4,31.5\nTilia,8.6,47.5,12\n", at: address)
        await #expect(throws: (any Error).self) { try await publish("name,lon,lat\nSalix,8,47\n", at: address) }
        let store = try await PostgresStore.open(address)
        let name = ServiceName(folder: "City", name: "Trees")
        #expect(try await store.serviceNames() == [name])
        let records = try await store.records(FeatureQuery(), in: LayerAddress(service: name, layerID: 0))
        #expect(records.map { $0.attributes["name"] } == [.text("Acer"), .text("Tilia")])
        #expect(records.map(\.objectID) == [1, 2])
        #expect(records.allSatisfy { $0.globalID != nil && $0.geometry != nil })
        try await store.close()
    }

    @Test("An unpublished service is not served and keeps its name and its features until it is restored")
    func unpublishing() async throws {
        let address = try await TemporaryPostgres.shared.value.storeAddress()
        try await publish("name,lon,lat\nAcer,8.5,47.4\n", at: address)
        // A server that has it open.
        let store = try await PostgresStore.open(address)
        let name = ServiceName(folder: "City", name: "Trees")
        _ = try await store.service(name)
        try await UnpublishCommand.parse(["City/Trees", "--store", address]).run()
        #expect(try await store.serviceNames() == [])
        await #expect(throws: StoreError.self) { try await store.service(name) }
        await #expect(throws: (any Error).self) { try await publish("name,lon,lat\nSalix,8,47\n", at: address) }
        await #expect(throws: (any Error).self) {
            try await UnpublishCommand.parse(["City/Trees", "--store", address]).run()
        }
        try await UnpublishCommand.parse(["City/Trees", "--restore", "--store", address]).run()
        #expect(try await store.service(name).layers.count == 1)
        #expect(try await store.count(FeatureQuery(), in: LayerAddress(service: name, layerID: 0)) == 1)
        await #expect(throws: (any Error).self) {
            try await UnpublishCommand.parse(["City/Trees", "--restore", "--store", address]).run()
        }
        try await store.close()
    }

    @Test("Services are checked, copied to a folder, and refused where something else has their name")
    func copying() async throws {
        let address = try await TemporaryPostgres.shared.value.storeAddress()
        try await publish("name,lon,lat\nAcer,8.5,47.4\nTilia,8.6,47.5\n", at: address)
        try await StoreCommand.Check.parse(["--store", address]).run()
        let folder = FileManager.default.temporaryDirectory.appending(path: "fieldwork-copy-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try await StoreCommand.Copy.parse([address, folder.path]).run()
        try await StoreCommand.Copy.parse([address, folder.path]).run()
        let trees = LayerAddress(service: ServiceName(folder: "City", name: "Trees"), layerID: 0)
        let files = try await GeoPackageStore.open(at: folder)
        #expect(try await files.count(FeatureQuery(), in: trees) == 2)
        #expect(try await files.check() == [])
        let edit = LayerEdits(layerID: 0, deletes: .features([.objectID(1)]))
        _ = try await files.apply(EditBatch(layers: [edit], moment: .now), to: trees.service)
        try await files.close()
        await #expect(throws: (any Error).self) { try await StoreCommand.Copy.parse([address, folder.path]).run() }
        await #expect(throws: (any Error).self) {
            try await StoreCommand.Copy.parse([folder.path + "-nowhere", address]).run()
        }
    }

    @Test("A layer is put into parts while a server has it open, copied from them, and its definition is changed")
    func partitions() async throws {
        let address = try await TemporaryPostgres.shared.value.storeAddress()
        try await publish("name,lon,lat\nAcer,8.5,47.4\nTilia,8.6,47.5\n", at: address)
        let trees = LayerAddress(service: ServiceName(folder: "City", name: "Trees"), layerID: 0)
        let server = try await PostgresStore.open(address)
        #expect(try await server.count(FeatureQuery(), in: trees) == 2)
        for _ in 0..<2 {
            try await StoreCommand.Partition.parse(["City/Trees", "--parts", "4", "--store", address]).run()
        }
        #expect(try await server.parts(of: trees) == 4)
        let records = try await server.records(FeatureQuery(), in: trees)
        #expect(records.map { $0.attributes["name"] } == [.text("Acer"), .text("Tilia")])
        let edit = LayerEdits(layerID: 0, adds: [FeatureEdit(attributes: [("name", .text("Salix"))])])
        #expect(try await !server.apply(EditBatch(layers: [edit], moment: .now), to: trees.service).hasErrors)
        try await StoreCommand.Check.parse(["--store", address]).run()

        let folder = FileManager.default.temporaryDirectory.appending(path: "fieldwork-parts-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try await StoreCommand.Copy.parse([address, folder.path]).run()
        let files = try await GeoPackageStore.open(at: folder)
        #expect(try await files.count(FeatureQuery(), in: trees) == 3)
        try await files.close()

        let document = folder.appending(path: "definition.json")
        try Data(#"{"serviceDescription": "In parts"}"#.utf8).write(to: document)
        let change = ["City/Trees", "--merge", "--file", document.path, "--store", address]
        try await ServiceCommand.Edit.parse(change).run()
        #expect(try await server.service(trees.service).serviceDescription == "In parts")
        try await server.close()
        await #expect(throws: (any Error).self) {
            try await StoreCommand.Partition.parse(["City/Nothing", "--parts", "4", "--store", address]).run()
        }
        for parts in ["0", "257", "many"] {
            #expect(throws: (any Error).self) {
                try StoreCommand.Partition.parse(["City/Trees", "--parts", parts, "--store", address])
            }
        }
    }

    @Test("What is no address of a database is refused before anything is done")
    func addresses() {
        #expect(throws: (any Error).self) { try ServeCommand.parse(["--store", "mysql://localhost/field"]) }
        #expect(throws: (any Error).self) { try StoreCommand.Initialize.parse([]) }
        #expect(throws: (any Error).self) {
            try PublishCommand.parse([
                "a.gpkg", "--service", "A", "--in-place", "--store", "postgres://localhost/field",
            ])
        }
    }
}
