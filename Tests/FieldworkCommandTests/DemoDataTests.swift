import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation
import TestSupport
import Testing

@testable import FieldworkCommand

@Suite("Demo data", .fewAtATime)
struct DemoDataTests {
    /// What stands in a service's features, in one number.
    private static func digest(_ demo: any DemoService) -> UInt64 {
        var digest: UInt64 = 0xCBF2_9CE4_8422_2325
        func add(_ text: String) {
            for byte in text.utf8 { digest = (digest ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        }
        for edits in demo.batches() {
            for edit in edits.adds {
                add("\(edits.layerID) \(edit.globalID?.uuidString ?? "")")
                for (name, value) in edit.attributes { add("\(name)=\(value)") }
                if case .geometry(let geometry) = edit.geometry { add("\(geometry.extent)") }
            }
        }
        return digest
    }

    @Test("The demo's definitions are documents without a problem")
    func documents() throws {
        #expect(DemoServices.all.count == 3)
        for demo in DemoServices.all {
            let read = try ServiceDefinition(document: demo.definition.document, name: demo.definition.name)
            #expect(read.document.text == demo.definition.document.text)
        }
    }

    @Test("The same seed gives the same features")
    func deterministic() {
        for (first, second) in zip(
            [DamageAssessmentDemo(), SaveTheBayDemo()] as [any DemoService],
            [DamageAssessmentDemo(), SaveTheBayDemo()] as [any DemoService])
        {
            #expect(Self.digest(first) == Self.digest(second))
        }
        #expect(Self.digest(TreesOfPortlandDemo()) == Self.digest(TreesOfPortlandDemo()))
    }

    @Test("The city has about 60,000 trees, each of a species that is there, in a neighbourhood that is there")
    func city() async {
        let city = await DemoCity.made.value
        #expect((58_000...62_000).contains(city.trees.count))
        func texts(_ edits: [FeatureEdit], _ name: String) -> [String] {
            edits.compactMap { edit in edit.attributes.first { $0.name == name }?.value.textValue }
        }
        let species = Set(texts(city.species, "Code"))
        let neighborhoods = Set(texts(city.neighborhoods, "Name"))
        #expect(texts(city.trees, "SpeciesCode").count == city.trees.count)
        #expect(Set(texts(city.trees, "SpeciesCode")).isSubset(of: species))
        #expect(Set(texts(city.trees, "Neighborhood")).isSubset(of: neighborhoods))
        let trees = Set(city.trees.compactMap(\.globalID).map(GUID.normalForm))
        #expect(trees.count == city.trees.count)
        #expect(Set(texts(city.inspections, "TreeID")).isSubset(of: trees))
        #expect(!city.inspections.isEmpty)
        let conditions = Set(texts(city.trees, "Condition"))
        #expect(conditions == ["Good", "Fair", "Poor", "Dead"])
    }

    @Test("Every tree stands in the neighbourhood that it names")
    func neighborhoods() async throws {
        let city = await DemoCity.made.value
        var extents: [String: Envelope] = [:]
        for edit in city.neighborhoods {
            guard case .geometry(let geometry) = edit.geometry else { continue }
            let name = try #require(edit.attributes.first { $0.name == "Name" }?.value.textValue)
            extents[name] = geometry.extent
        }
        var strays = 0
        for tree in city.trees {
            guard case .geometry(let geometry) = tree.geometry, let point = geometry as? Point,
                let name = tree.attributes.first(where: { $0.name == "Neighborhood" })?.value.textValue,
                let extent = extents[name]
            else {
                strays += 1
                continue
            }
            let isInside =
                extent.xMin <= point.x && point.x <= extent.xMax && extent.yMin <= point.y && point.y <= extent.yMax
            if !isInside { strays += 1 }
        }
        #expect(strays == 0)
    }

    @Test("A folder gets each service once, whole, and edits in it are kept")
    func preparing() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "fieldwork-demo-\(UUID().uuidString)", directoryHint: .isDirectory)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await DemoStore.prepare(at: folder)
        let name = DamageAssessmentDemo.name
        let layer = LayerAddress(service: name, layerID: 0)
        let store = try await GeoPackageStore.open(at: folder)
        #expect(
            try await store.serviceNames().map(\.path) == ["DamageAssessment", "SaveTheBaySync", "TreesOfPortland"])
        #expect(try await store.count(FeatureQuery(), in: layer) == 5_000)
        #expect(try await store.check() == [])
        for name in try await store.serviceNames() {
            for layer in try await store.service(name).layers {
                #expect(layer.maxRecordCount == 2_000)
                #expect(layer.globalIDField == "GlobalID")
                #expect(layer.editFields != nil)
            }
        }
        let bay = try await store.service(SaveTheBayDemo.name)
        #expect(ReplicaAbilities.allowsSync(bay), "The tutorial takes this service offline.")
        #expect(!bay.layers.isEmpty)
        #expect(bay.layers.allSatisfy { $0.capabilities.isSuperset(of: [.query, .create, .update, .delete, .sync]) })
        let replica = try await store.registerReplica(
            ReplicaDefinition(
                id: UUID(), name: "Bay", layers: bay.layers.map { ReplicaLayer(layerID: $0.id) }, created: Date()),
            of: SaveTheBayDemo.name, generation: nil)
        #expect(replica.state == .live)
        let deleted = try await store.apply(
            EditBatch(layers: [LayerEdits(layerID: 0, deletes: .features([.objectID(1)]))], moment: Date()), to: name)
        #expect(!deleted.hasErrors)
        try await store.close()

        try await DemoStore.prepare(at: folder)
        let again = try await GeoPackageStore.open(at: folder)
        #expect(try await again.count(FeatureQuery(), in: layer) == 4_999)
        try await again.close()
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".making") }
        #expect(left.isEmpty)
    }
}

/// The demo's city, made once: that takes seconds, in which one of the few threads that tests share does nothing else.
enum DemoCity {
    static let made = Task { PortlandGrid() }
}
