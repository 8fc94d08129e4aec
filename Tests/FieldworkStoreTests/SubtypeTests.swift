import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

@Suite("Subtypes and contingent values at the door", .fewAtATime, .everyStore)
struct SubtypeTests {
    private let folder: TemporaryFolder
    private let store: any FeatureStore
    private static let name = ServiceName(name: "Nests")
    private static let nests = LayerAddress(service: name, layerID: 0)

    private static func range(_ minimum: Int64, _ maximum: Int64) -> DomainDefinition {
        DomainDefinition(
            name: "Buffer \(maximum)", kind: .range(minimum: .integer(minimum), maximum: .integer(maximum)))
    }

    private static func codes(_ name: String, _ codes: [String]) -> DomainDefinition {
        DomainDefinition(name: name, kind: .codedValues(codes.map { .init(code: .text($0), name: $0) }))
    }

    /// Nests of two kinds. Occupied ones want a wide buffer, abandoned ones none at all.
    private static let table = LayerDefinition(
        id: 0, name: "Nests",
        fields: [
            FieldDefinition(name: "OBJECTID", type: .oid, isNullable: false, isEditable: false),
            FieldDefinition(name: "kind", type: .smallInteger),
            FieldDefinition(
                name: "status", type: .string, length: 20, domain: codes("Status", ["old", "new", "gone"])),
            FieldDefinition(name: "buffer", type: .integer, defaultValue: .integer(5), domain: range(0, 1_000)),
            FieldDefinition(name: "seen", type: .date),
        ],
        subtypeField: "Kind",
        subtypes: [
            SubtypeDefinition(
                code: .integer(1), name: "Hawk", defaultValues: ["buffer": .integer(80), "status": .text("new")],
                domains: ["buffer": range(50, 500)]),
            SubtypeDefinition(code: .integer(2), name: "Wren", domains: ["buffer": range(0, 20)]),
        ], defaultSubtypeCode: .integer(2),
        fieldGroups: [
            FieldGroupDefinition(
                name: "Protection", fields: ["status", "buffer"],
                contingencies: [
                    ContingencyDefinition(
                        id: 1, subtypeCode: .integer(1),
                        values: [.code(.text("new")), .range(minimum: .integer(80), maximum: .integer(500))]),
                    ContingencyDefinition(
                        id: 2, subtypeCode: .integer(1), values: [.code(.text("old")), .any]),
                    ContingencyDefinition(id: 3, values: [.code(.text("gone")), .null]),
                    ContingencyDefinition(id: 4, subtypeCode: .integer(2), values: [.any, .any]),
                    ContingencyDefinition(
                        id: 5, subtypeCode: .integer(1), values: [.null, .any], isRetired: true),
                ]),
            FieldGroupDefinition(name: "Hints", isRestrictive: false, fields: ["seen"]),
        ])

    init() async throws {
        folder = try TemporaryFolder()
        store = try await StoreKind.current.make(in: folder)
        try await store.createService(ServiceDefinition(name: Self.name, layers: [Self.table]))
    }

    private func add(_ attributes: KeyValuePairs<String, AttributeValue>) async throws -> EditResult {
        let edits = LayerEdits(layerID: 0, adds: [Orchard.edit(attributes)])
        return try await store.apply(
            EditBatch(layers: [edits], moment: Samples.moment), to: Self.name
        ).layers[0].adds[0]
    }

    private func update(_ attributes: KeyValuePairs<String, AttributeValue>) async throws -> EditError? {
        var edit = Orchard.edit(attributes)
        edit.objectID = 1
        return try await store.apply(
            EditBatch(layers: [LayerEdits(layerID: 0, updates: [edit])], moment: Samples.moment), to: Self.name
        ).layers[0].updates[0].error
    }

    private func values() async throws -> AttributeValues {
        try await store.records(FeatureQuery(), in: Self.nests)[0].attributes
    }

    private static func refused(_ field: String, _ why: String) -> EditError {
        EditError(code: 1000, description: "Field \(field) \(why).")
    }

    @Test("A new feature takes the default subtype and the subtype's defaults before the fields'")
    func defaults() async throws {
        #expect(try await add([:]).isSuccess)
        #expect(try await values()["kind"] == .integer(2))
        #expect(try await values()["buffer"] == .integer(5))
        #expect(try await add(["kind": .text("1")]).isSuccess)
        let hawk = try await store.records(FeatureQuery(objectIDs: [2]), in: Self.nests)[0].attributes
        #expect(hawk["buffer"] == .integer(80))
        #expect(hawk["status"] == .text("new"))
        #expect(hawk["kind"] == .integer(1))
    }

    @Test("A code that is no subtype is refused")
    func unknownSubtype() async throws {
        let error = Self.refused("kind", "takes only the codes of the layer's subtypes")
        #expect(try await add(["kind": .integer(3)]).error == error)
        #expect(try await add(["buffer": .null]).isSuccess)
        #expect(try await update(["kind": .integer(9)]) == error)
        #expect(try await update(["kind": .null]) == nil)
    }

    @Test("Domains are those of the subtype, also of one that an update keeps or changes")
    func domains() async throws {
        #expect(
            try await add(["kind": .integer(1), "status": .text("old"), "buffer": .integer(20)]).error
                == Self.refused("buffer", "is below the range of the domain Buffer 500"))
        #expect(try await add(["kind": .integer(2), "buffer": .integer(15)]).isSuccess)
        #expect(
            try await update(["buffer": .integer(30)])
                == Self.refused("buffer", "is above the range of the domain Buffer 20"))
        // The buffer that is kept doesn't fit the new kind.
        #expect(
            try await update(["kind": .integer(1), "status": .text("old")])
                == Self.refused("buffer", "is below the range of the domain Buffer 500"))
        #expect(
            try await update(["kind": .integer(1), "status": .text("old"), "buffer": .integer(60)]) == nil)
    }

    @Test("A restrictive field group takes only its combinations, judged with the values that an update keeps")
    func contingencies() async throws {
        let error = EditError(
            code: 1000, description: "The values of status, buffer don't go together (field group Protection).")
        #expect(
            try await add(["kind": .integer(1), "status": .text("new"), "buffer": .integer(60)]).error == error)
        #expect(try await add(["kind": .integer(1), "status": .text("new"), "buffer": .integer(100)]).isSuccess)
        #expect(try await update(["buffer": .integer(60)]) == error)
        #expect(try await update(["status": .text("gone")]) == error)
        #expect(try await update(["status": .text("gone"), "buffer": .null]) == nil)
        // A retired combination may be kept but not chosen.
        #expect(try await update(["status": .null, "buffer": .integer(100)]) == error)
        #expect(try await update(["seen": .integer(1_000)]) == nil)
        // Nothing chosen at all is no combination.
        #expect(try await update(["status": .null, "buffer": .null]) == nil)
    }

    @Test(
        "Types give domains to their fields; a value that is no type is an ordinary value with the fields' own domains")
    func types() async throws {
        var table = Self.table
        table.subtypeField = nil
        table.subtypes = []
        table.defaultSubtypeCode = .null
        table.fieldGroups = []
        table.typeIDField = "KIND"
        table.types = [
            FeatureTypeDefinition(id: .integer(1), name: "Hawk", domains: ["Buffer": Self.range(50, 500)]),
            FeatureTypeDefinition(
                id: .integer(2), name: "Wren", domains: ["buffer": DomainDefinition(name: "", kind: .inherited)]),
        ]
        let name = ServiceName(name: "Typed")
        try await store.createService(ServiceDefinition(name: name, layers: [table]))
        func apply(_ edits: LayerEdits) async throws -> [EditError?] {
            let batch = EditBatch(layers: [edits], rollsBackOnFailure: false, moment: Samples.moment)
            let result = try await store.apply(batch, to: name).layers[0]
            return (result.adds + result.updates).map(\.error)
        }
        let below = Self.refused("buffer", "is below the range of the domain Buffer 500")
        let adds = [(1, 20), (1, 60), (2, 20), (7, 20), (7, 2_000)].map { kind, buffer in
            Orchard.edit(["kind": .integer(kind), "buffer": .integer(buffer)])
        }
        #expect(
            try await apply(LayerEdits(layerID: 0, adds: adds)) == [
                below, nil, nil, nil, Self.refused("buffer", "is above the range of the domain Buffer 1000"),
            ])
        let updates = [(1, ("buffer", 20)), (2, ("kind", 1)), (3, ("buffer", 1_000))].map { id, change in
            FeatureEdit(objectID: id, attributes: [(change.0, .integer(change.1))])
        }
        #expect(try await apply(LayerEdits(layerID: 0, updates: updates)) == [below, below, nil])
    }

    @Test("The definition comes back from the file as it was written")
    func storage() async throws {
        try await store.close()
        let again = try await StoreKind.current.again(in: folder)
        let layer = try #require(try await again.service(Self.name).layers.first)
        #expect(layer.subtypes == Self.table.subtypes)
        #expect(layer.subtypeField == "Kind")
        #expect(layer.defaultSubtypeCode == .integer(2))
        #expect(layer.fieldGroups == Self.table.fieldGroups)
        try await again.close()
    }
}
