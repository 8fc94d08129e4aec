import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

@Suite("Definitions in a GeoPackage store", .fewAtATime)
struct StoreDefinitionTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// A value for each type, as a client sends it and as it comes back.
    private static let samples: [FieldType: AttributeValue] = [
        .smallInteger: .integer(-32_768), .integer: .integer(2_147_483_647), .bigInteger: .integer(.max),
        .single: .real(0.5), .double: .real(1e300), .string: .text("Zürich ✓"), .date: .integer(-62_167_219_200_000),
        .dateOnly: .text("2024-02-29"), .timeOnly: .text("23:59:59"),
        .timestampOffset: .text("2003-01-25T17:00:00-05:00"),
        .guid: .text("{E9F2AC4F-3C5B-4E6A-9C38-6E9E8E2D9A01}"), .blob: .data(Data([0, 1, 255])),
        .raster: .data(Data([7])), .xml: .text("<a/>"),
    ]

    @Test("Every type of field keeps its values and comes back null when it is null")
    func everyFieldType() async throws {
        var fields = [FieldDefinition(name: "FID", type: .oid, isNullable: false)]
        for type in FieldType.allCases where type != .oid {
            fields.append(FieldDefinition(name: "f_\(fields.count)", type: type))
        }
        let globalID = try #require(fields.first { $0.type == .globalID }?.name)
        let layer = LayerDefinition(
            id: 12, name: "Everything", fields: fields, objectIDField: "FID", globalIDField: globalID)
        let name = ServiceName(folder: "All types", name: "Fields")
        let store = try await GeoPackageStore.open(at: folder.url)
        try await store.createService(ServiceDefinition(name: name, layers: [layer]))
        let attributes = fields.compactMap { field in
            Self.samples[field.type].map { (name: field.name, value: $0) }
        }
        let edits = LayerEdits(layerID: 12, adds: [FeatureEdit(attributes: attributes), FeatureEdit()])
        let result = try await store.apply(EditBatch(layers: [edits], moment: Samples.moment), to: name)
        #expect(result.hasErrors == false)
        let records = try await store.records(FeatureQuery(), in: LayerAddress(service: name, layerID: 12))
        #expect(records.count == 2)
        for field in fields where field.type != .oid && field.type != .globalID && field.type != .geometry {
            #expect(records.first?.attributes[field.name] == Self.samples[field.type], "\(field.type)")
            #expect(records.last?.attributes[field.name] == .null, "\(field.type)")
        }
        #expect(try await store.check() == [])
    }

    @Test("A definition comes back as it was given, after the store was opened anew too")
    func roundTrip() async throws {
        let store = try await Samples.store(in: folder)
        #expect(try await store.service(Samples.name) == Samples.service)
        try await store.close()
        let again = try await GeoPackageStore.open(at: folder.url)
        #expect(try await again.serviceNames() == [Samples.name])
        #expect(try await again.service(Samples.name) == Samples.service)
    }

    @Test("Looks, rights and domains of a service can be replaced, its columns can't")
    func update() async throws {
        let store = try await Samples.store(in: folder)
        var definition = Samples.service
        definition.description = "New words"
        definition.layers[0].capabilities = [.query]
        definition.layers[0].fields[2].domain = nil
        try await store.updateService(definition)
        #expect(try await store.service(Samples.name) == definition)
        let free = try await store.apply(
            Samples.batch(adds: [Samples.tree("Acer", [("condition", .text("splendid"))])]), to: Samples.name)
        #expect(free.hasErrors == false, "the domain is gone")
        definition.layers[0].fields.removeLast()
        await #expect(throws: StoreError.self) { try await store.updateService(definition) }
    }

    @Test("A service is there once, and gone with its file when it is deleted")
    func createAndDelete() async throws {
        let store = try await Samples.store(in: folder)
        await #expect(throws: StoreError.self) { try await store.createService(Samples.service) }
        try await store.deleteService(Samples.name)
        #expect(try await store.serviceNames() == [])
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == [])
        await #expect(throws: StoreError.self) { try await store.service(Samples.name) }
        try await store.createService(Samples.service)
        #expect(try await store.count(FeatureQuery(), in: Samples.trees) == 0)
    }

    static let badNames = [
        "", ".", "..", "a/b", "../a", "a\\b", ".hidden", "a\u{0}", " a", String(repeating: "x", count: 121),
    ]

    @Test("A name that would lead out of the folder is no name", arguments: badNames)
    func names(name: String) async throws {
        let store = try await GeoPackageStore.open(at: folder.url)
        for bad in [ServiceName(name: name), ServiceName(folder: name, name: "fine")] {
            var definition = Samples.service
            definition.name = bad
            await #expect(throws: StoreError.self) { try await store.createService(definition) }
            await #expect(throws: StoreError.self) { try await store.service(bad) }
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == [])
    }

    @Test("A definition that no file can hold is refused and leaves nothing behind")
    func badDefinitions() async throws {
        let store = try await GeoPackageStore.open(at: folder.url)
        var definitions = [ServiceDefinition](repeating: Samples.service, count: 5)
        definitions[0].layers[1].id = 0
        definitions[1].layers[0].fields.append(FieldDefinition(name: "SPECIES", type: .string))
        definitions[2].layers[0].objectIDField = "species"
        definitions[3].layers[0].spatialReference = nil
        definitions[4].layers[0].fields += (0...Limits.fieldsPerLayer).map {
            FieldDefinition(name: "f\($0)", type: .string)
        }
        for definition in definitions {
            await #expect(throws: StoreError.self) { try await store.createService(definition) }
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == [])
    }

    @Test("Layers of one name, and of names that GeoPackage keeps to itself, get tables all the same")
    func tableNames() async throws {
        let store = try await GeoPackageStore.open(at: folder.url)
        let names = ["Trees", "trees", "gpkg_contents", "rtree_x", "a\"b; DROP TABLE x", ""]
        let layers = names.enumerated().map { id, name in
            var layer = Samples.treeLayer
            layer.id = id
            layer.name = name
            return layer
        }
        try await store.createService(ServiceDefinition(name: Samples.name, layers: layers))
        for id in names.indices {
            let result = try await store.apply(
                Samples.batch(adds: [Samples.tree("x", x: 1, y: 1)], layerID: id), to: Samples.name)
            #expect(result.hasErrors == false)
            let filter = SpatialFilter(geometry: Envelope(xMin: 0, yMin: 0, xMax: 2, yMax: 2))
            let address = LayerAddress(service: Samples.name, layerID: id)
            #expect(try await store.objectIDs(FeatureQuery(spatialFilter: filter), in: address) == [1])
        }
        #expect(try await store.check() == [])
    }

    @Test("A file that is no GeoPackage of ours is refused")
    func notAGeoPackage() async throws {
        let url = folder.url.appending(path: "Broken.gpkg")
        try Data("no database at all, but long enough to be read as one".utf8).write(to: url)
        let store = try await GeoPackageStore.open(at: folder.url)
        await #expect(throws: StoreError.self) { try await store.service(ServiceName(name: "Broken")) }
        await #expect(throws: StoreError.self) { try await store.attach(file: url, as: ServiceName(name: "Other")) }
    }
}
