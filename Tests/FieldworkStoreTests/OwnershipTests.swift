import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

@Suite("Who may change what", .fewAtATime, .everyStore)
struct OwnershipTests {
    private let folder: TemporaryFolder
    private let store: any FeatureStore

    init() async throws {
        folder = try TemporaryFolder()
        store = try await StoreKind.current.make(in: folder)
    }

    private func create(
        _ access: OwnershipAccess?, realm: String? = nil, allowsGeometryUpdates: Bool = true
    ) async throws {
        var service = Samples.service
        service.layers[0].ownershipAccess = access
        service.layers[0].editFields?.realm = realm
        service.layers[0].allowsGeometryUpdates = allowsGeometryUpdates
        try await store.createService(service)
        _ = try await store.apply(Samples.batch(adds: [Samples.tree("Acer", x: 1, y: 2)]), to: Samples.name)
    }

    private func update(
        by editor: String?, x: Double? = nil, species: String = "Tilia"
    ) async throws -> EditError? {
        var edit = FeatureEdit(objectID: 1, attributes: [("species", .text(species))])
        if let x { edit.geometry = .geometry(Point(x: x, y: 2, spatialReference: .webMercator)) }
        return try await store.apply(Samples.batch(updates: [edit], editor: editor), to: Samples.name)
            .layers[0].updates[0].error
    }

    private func delete(by editor: String?) async throws -> EditError? {
        try await store.apply(Samples.batch(deletes: [.objectID(1)], editor: editor), to: Samples.name)
            .layers[0].deletes[0].error
    }

    private static let change = EditError(code: 1013, description: "Only who created the feature may change it.")
    private static let removal = EditError(code: 1013, description: "Only who created the feature may delete it.")

    @Test("Only the creator changes and deletes, where the layer says so; who has not signed in owns nothing")
    func owners() async throws {
        try await create(OwnershipAccess(allowsOthersToUpdate: false, allowsOthersToDelete: false))
        for other in ["bo", "", nil] as [String?] {
            #expect(try await update(by: other) == Self.change)
            #expect(try await delete(by: other) == Self.removal)
        }
        #expect(try await update(by: "ada") == nil)
        #expect(try await delete(by: "ada") == nil)
        #expect(try await store.count(FeatureQuery(), in: Samples.trees) == 0)
    }

    @Test("Update and delete are told apart, and anonymous from others")
    func flags() async throws {
        try await create(
            OwnershipAccess(allowsOthersToDelete: false, allowsAnonymousToUpdate: false, allowsAnonymousToDelete: true))
        #expect(try await update(by: "bo") == nil)
        #expect(try await update(by: nil) == Self.change)
        #expect(try await delete(by: "bo") == Self.removal)
        #expect(try await delete(by: nil) == nil)
    }

    @Test("The realm follows the name in the fields of who, and the owner is known by both")
    func realm() async throws {
        try await create(OwnershipAccess(allowsOthersToUpdate: false), realm: "example.org")
        let record = try await store.records(FeatureQuery(), in: Samples.trees)[0]
        #expect(record.attributes["Creator"] == .text("ada@example.org"))
        #expect(try await update(by: "ada") == nil)
        #expect(try await update(by: "bo") == Self.change)
        let changed = try await store.records(FeatureQuery(), in: Samples.trees)[0]
        #expect(changed.attributes["Editor"] == .text("ada@example.org"))
    }

    @Test("Where geometries stay as they are, others may send the same one, the owner another one")
    func geometryUpdates() async throws {
        try await create(nil, allowsGeometryUpdates: false)
        let error = EditError(code: 1000, description: "The layer does not allow geometries to be changed.")
        #expect(try await update(by: "bo", x: 9) == error)
        #expect(try await update(by: "bo", x: 1) == nil)
        #expect(try await update(by: "bo") == nil)
        #expect(try await update(by: "ada", x: 9) == nil)
        let record = try await store.records(FeatureQuery(), in: Samples.trees)[0]
        #expect((record.geometry as? Point)?.x == 9)
    }

    @Test("State that comes from a service is taken from whoever made it")
    func cache() async throws {
        try await create(OwnershipAccess(allowsOthersToUpdate: false), allowsGeometryUpdates: false)
        var batch = Samples.batch(
            updates: [FeatureEdit(objectID: 1, attributes: [("species", .text("Tilia"))])], editor: nil, origin: .cache)
        batch.layers[0].updates[0].geometry = .geometry(Point(x: 5, y: 5, spatialReference: .webMercator))
        #expect(try await !store.apply(batch, to: Samples.name).hasErrors)
    }

    @Test("What may be seen of others is a condition on the creator")
    func visibility() async throws {
        try await create(OwnershipAccess(allowsOthersToQuery: false), realm: "example.org")
        _ = try await store.apply(Samples.batch(adds: [Samples.tree("Ulmus")], editor: "bo"), to: Samples.name)
        let layer = try await store.service(Samples.name).layers[0]
        for (editor, ids) in [("ada", [1]), ("bo", [2]), ("cy", []), (nil, [])] as [(String?, [Int64])] {
            let query = FeatureQuery(condition: layer.visibleFeatures(to: editor))
            #expect(try await store.objectIDs(query, in: Samples.trees) == ids)
        }
        var open = layer
        open.ownershipAccess = OwnershipAccess()
        #expect(open.visibleFeatures(to: nil) == nil)
    }
}
