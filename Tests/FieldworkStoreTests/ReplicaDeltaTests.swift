import FieldworkGeometry
import FieldworkREST
import Foundation
import TestSupport
import Testing

@testable import FieldworkStore

@Suite("Deltas of replicas", .fewAtATime, .everyStore)
struct ReplicaDeltaTests {
    private let folder: TemporaryFolder
    private let store: any ReplicaStore
    private let area = Envelope(xMin: 0, yMin: -10, xMax: 100, yMax: 10, spatialReference: .webMercator)

    init() async throws {
        folder = try TemporaryFolder()
        store = try await Samples.replicaStore(in: folder)
    }

    private func apply(_ batch: EditBatch) async throws {
        #expect(try await store.apply(batch, to: Samples.name).hasErrors == false)
    }

    private func move(_ objectID: Int64, to x: Double) async throws {
        let place = Point(x: x, y: 0, spatialReference: .webMercator)
        try await apply(Samples.batch(updates: [FeatureEdit(objectID: objectID, geometry: .geometry(place))]))
    }

    @Test("A replica gets what belongs to its area and its condition, as one state")
    func snapshot() async throws {
        try await apply(
            Samples.batch(adds: [Samples.tree("oak", x: 5), Samples.tree("lime", x: 6), Samples.tree("oak", x: 500)]))
        let client = try await store.client("a", area: area, condition: "species = 'oak'")
        #expect(client.trees.values.map(\.x) == [5])
        #expect(client.generation == 1)
        let everything = try await store.client("b")
        #expect(everything.trees.count == 3)
    }

    @Test("Finding what changed takes a look at the changes, not at the whole log")
    func cost() async throws {
        guard StoreKind.current == .geoPackage else { return }
        let connection = try StoreConnection(
            path: folder.url.appending(path: "\(Samples.name.name).gpkg").path, mode: .readOnly)
        var plan = ""
        try connection.run("EXPLAIN QUERY PLAN \(DeltaReader.entriesSQL)", row: { plan += $0.text(3) + "\n" })
        #expect(plan.contains("USING COVERING INDEX fieldwork_changes_since (layer_id=? AND generation>?)"), "\(plan)")
        connection.forgetStatements()
    }

    @Test("Adds, updates and deletes after a generation come once, and nothing for what came and went")
    func delta() async throws {
        try await apply(Samples.batch(adds: [Samples.tree("a"), Samples.tree("b"), Samples.tree("c")]))
        let client = try await store.client("a")
        try await apply(Samples.batch(adds: [Samples.tree("d")]))
        try await apply(Samples.batch(updates: [FeatureEdit(objectID: 4, attributes: [("species", .text("dd"))])]))
        try await apply(Samples.batch(updates: [FeatureEdit(objectID: 2, attributes: [("species", .text("bb"))])]))
        try await apply(Samples.batch(deletes: [.objectID(3)]))
        try await apply(Samples.batch(adds: [Samples.tree("e")]))
        try await apply(Samples.batch(deletes: [.objectID(5)]))
        let document = try await store.delta(for: client)
        let layer = try #require(document.layers[0])
        #expect(layer.adds.map(\.species) == ["dd"])
        #expect(layer.updates.map(\.species) == ["bb"])
        #expect(layer.deletes == [try #require(client.trees.first { $0.value.species == "c" }?.key)])
        #expect(layer.hasGeometryUpdates == false)
        #expect(document.generation == 7)
        #expect(document.hasEnded)
    }

    @Test("A feature that leaves the area is a delete, one that enters it an add, one that moves within an update")
    func area() async throws {
        try await apply(
            Samples.batch(adds: [Samples.tree("in", x: 5), Samples.tree("out", x: 500), Samples.tree("stay", x: 7)]))
        let client = try await store.client("a", area: area)
        #expect(client.trees.count == 2)
        try await move(1, to: 600)
        try await move(2, to: 50)
        try await move(3, to: 8)
        let layer = try #require(try await store.delta(for: client).layers[0])
        #expect(layer.adds.map(\.species) == ["out"])
        #expect(layer.updates.map(\.species) == ["stay"])
        #expect(layer.deletes == [try #require(client.trees.first { $0.value.species == "in" }?.key)])
        #expect(layer.hasGeometryUpdates)
    }

    @Test("What a client hands in outside of its area is among its deletes, and nobody else is told of one")
    func handedInOutside() async throws {
        try await apply(Samples.batch(adds: [Samples.tree("in", x: 5)]))
        var client = try await store.client("a", area: area)
        let other = try await store.client("b", area: area)
        let id = UUID()
        client.trees[id] = FieldClient.Tree(species: "far", note: nil, x: 500)
        let upload = client.upload()
        _ = try await store.apply(upload, to: Samples.name)
        let layer = try #require(try await store.delta(for: client, upload: upload.layers[0]).layers[0])
        #expect(layer.deletes == [id])
        #expect(layer.adds.isEmpty && layer.updates.isEmpty)
        let others = try await store.delta(for: other).layers[0]
        #expect(others?.deletes.isEmpty != false)
        #expect(try await store.currentTrees().keys.contains(id))
    }

    @Test("It is among the deletes of a later download, too, when the answer to the upload was lost")
    func handedInEarlier() async throws {
        try await apply(Samples.batch(adds: [Samples.tree("in", x: 5)]))
        var client = try await store.client("a", area: area)
        let other = try await store.client("b", area: area)
        let id = UUID()
        client.trees[id] = FieldClient.Tree(species: "far", note: nil, x: 500)
        _ = try await store.apply(client.upload(), to: Samples.name)
        let layer = try #require(try await store.delta(for: client).layers[0])
        #expect(layer.deletes == [id])
        #expect(layer.adds.isEmpty && layer.updates.isEmpty)
        #expect(try await store.delta(for: other).layers[0]?.deletes.isEmpty != false)
    }

    @Test("A feature that came into the area with the state that the client has, and left it since, is a delete")
    func leftSince() async throws {
        try await apply(Samples.batch(adds: [Samples.tree("out", x: 500), Samples.tree("in", x: 6)]))
        try await move(1, to: 5)
        let client = try await store.client("a", area: area)
        #expect(client.trees.count == 2)
        try await move(1, to: 600)
        let layer = try #require(try await store.delta(for: client).layers[0])
        #expect(layer.deletes == [try #require(client.trees.first { $0.value.species == "out" }?.key)])
        #expect(layer.adds.isEmpty && layer.updates.isEmpty)
    }

    @Test("What moved out and in again is an update; what was never inside is nothing")
    func thereAndBack() async throws {
        try await apply(Samples.batch(adds: [Samples.tree("in", x: 5), Samples.tree("out", x: 500)]))
        let client = try await store.client("a", area: area)
        try await move(1, to: 600)
        try await move(1, to: 6)
        try await move(2, to: 700)
        let layer = try #require(try await store.delta(for: client).layers[0])
        #expect(layer.updates.map(\.species) == ["in"])
        #expect(layer.adds.isEmpty && layer.deletes.isEmpty)
    }

    @Test("A batch of which nothing succeeded is no generation, and no client hears of it")
    func nothingSucceeded() async throws {
        try await apply(Samples.batch(adds: [Samples.tree("a")]))
        let client = try await store.client("a")
        let generation = try await store.generation(of: Samples.name)
        let missing = FeatureEdit(objectID: 99, attributes: [("species", .text("b"))])
        for rollsBack in [true, false] {
            var batch = Samples.batch(updates: [missing])
            batch.rollsBackOnFailure = rollsBack
            #expect(try await store.apply(batch, to: Samples.name).hasErrors)
        }
        #expect(try await store.generation(of: Samples.name) == generation)
        #expect(try await store.delta(for: client).generation == generation)
    }

    @Test("A row that no longer meets the condition is a delete")
    func condition() async throws {
        try await apply(Samples.batch(adds: [Samples.tree("oak"), Samples.tree("lime")]))
        let client = try await store.client("a", condition: "species = 'oak'")
        try await apply(
            Samples.batch(updates: [
                FeatureEdit(objectID: 1, attributes: [("species", .text("elm"))]),
                FeatureEdit(objectID: 2, attributes: [("species", .text("oak"))]),
            ]))
        let layer = try #require(try await store.delta(for: client).layers[0])
        #expect(layer.deletes == Array(client.trees.keys))
        #expect(layer.adds.count == 1)
    }

    @Test("A delta of more features than one statement takes is whole")
    func many() async throws {
        // The pieces are the same in a database, which takes far longer to be given so many rows one by one.
        guard StoreKind.current == .geoPackage else { return }
        let client = try await store.client("a")
        let trees = (0..<25_001).map { Samples.tree("t\($0)", x: Double($0)) }
        try await apply(Samples.batch(adds: trees))
        let layer = try #require(try await store.delta(for: client).layers[0])
        #expect(Set(layer.adds.compactMap(\.species)).count == 25_001)
    }

    @Test("A replica's name is made unique; the same replica again is the one that is there")
    func names() async throws {
        _ = try await store.client("crew")
        _ = try await store.client("crew")
        #expect(try await store.replicas(of: Samples.name).map(\.definition.name) == ["crew", "crew_0"])
        let known = try #require(try await store.replicas(of: Samples.name).first)
        let again = try await store.registerReplica(known.definition, of: Samples.name, generation: nil)
        #expect(again == known)
        #expect(try await store.replicas(of: Samples.name).count == 2)
    }

    @Test("A replica is kept as it was defined")
    func storage() async throws {
        let definition = ReplicaDefinition(
            id: UUID(), name: "r", owner: "ada", syncModel: .perReplica, target: .server, direction: .download,
            layers: [ReplicaLayer(layerID: 0, option: .useFilter, usesGeometry: true, condition: "stems > 1")],
            geometry: area, outputReference: .wgs84,
            attachments: AttachmentSync(isReturned: true, direction: .bidirectional), created: Samples.moment)
        let created = try await store.registerReplica(definition, of: Samples.name, generation: nil)
        try await store.close()
        let reopened = try await StoreKind.current.replicaStoreAgain(in: folder)
        #expect(try await reopened.replica(definition.id, of: Samples.name) == created)
        #expect(created.definition.geometry?.spatialReference == .webMercator)
    }

    // MARK: Compaction

    private let never = Date(timeIntervalSince1970: 0)
    private let later = Samples.moment.addingTimeInterval(1_000)

    @Test("A feature that is deleted and added again under its global id stays itself, for clients and in its history")
    func addedAgain() async throws {
        let id = UUID()
        func add(_ species: String) async throws {
            try await apply(Samples.batch(adds: [Samples.tree(species, globalID: id)], usesGlobalIDs: true))
        }
        try await add("a")
        var client = try await store.client("a")
        try await apply(Samples.batch(deletes: [.objectID(1)]))
        try await apply(Samples.batch(adds: [Samples.tree("another")]))
        try await add("b")
        #expect(try await store.records(FeatureQuery(globalIDs: [id]), in: Samples.trees).map(\.objectID) == [1])
        let document = try await store.delta(for: client)
        #expect(document.layers[0]?.deletes.isEmpty == true)
        client.take(document)
        #expect(client.trees[id]?.species == "b")
        let history = try await store.history(of: .globalID(id), in: Samples.trees)
        #expect(history.contains { $0.record.attributes["species"] == .text("a") && $0.endedBy == .delete })
    }

    @Test("A feature to which another program gives another object id is not deleted for clients")
    func moved() async throws {
        let id = UUID()
        try await apply(Samples.batch(adds: [Samples.tree("a", globalID: id)], usesGlobalIDs: true))
        var client = try await store.client("a")
        try await store.close()
        try StoreKind.current.change(
            "UPDATE \"Trees\" SET \"OBJECTID\" = 900 WHERE \"OBJECTID\" = 1", in: Samples.name, folder)
        let reopened = try await StoreKind.current.replicaStoreAgain(in: folder)
        let document = try await reopened.delta(for: client)
        #expect(document.layers[0]?.deletes.isEmpty == true && document.layers[0]?.adds.isEmpty == true)
        client.take(document)
        #expect(client.trees[id]?.species == "a")
        try await reopened.close()
    }

    @Test(
        "One that got another object id and other values is an update for the clients of an area")
    func movedAndChanged() async throws {
        let id = UUID()
        try await apply(Samples.batch(adds: [Samples.tree("a", x: 5, globalID: id)], usesGlobalIDs: true))
        var client = try await store.client("a", area: area)
        try await store.close()
        try StoreKind.current.change(
            "UPDATE \"Trees\" SET \"OBJECTID\" = 900, \"species\" = 'b' WHERE \"OBJECTID\" = 1", in: Samples.name,
            folder)
        let reopened = try await StoreKind.current.replicaStoreAgain(in: folder)
        let document = try await reopened.delta(for: client)
        #expect(document.layers[0]?.updates.map(\.species) == ["b"])
        client.take(document)
        #expect(client.trees.mapValues(\.species) == [id: "b"])
        try await reopened.close()
    }

    @Test("Compaction leaves what a live replica has not got")
    func compactionKeeps() async throws {
        try await apply(Samples.batch(adds: [Samples.tree("a")]))
        let client = try await store.client("a")
        try await apply(Samples.batch(adds: [Samples.tree("b")]))
        #expect(try await store.compactLog(of: Samples.name, silentSince: never, olderThan: later) == 1)
        #expect(try await store.logFloors(of: Samples.name)[0] == 1)
        let layer = try #require(try await store.delta(for: client).layers[0])
        #expect(layer.isWhole == false)
        #expect(layer.adds.map(\.species) == ["b"])
        try await store.acknowledge([0: 2], of: client.replicaID, in: Samples.name, at: Samples.moment)
        #expect(try await store.compactLog(of: Samples.name, silentSince: never, olderThan: later) == 1)
    }

    @Test("Of several replicas the slowest decides what compaction leaves")
    func compactionKeepsForTheSlowest() async throws {
        try await apply(Samples.batch(adds: [Samples.tree("a")]))
        let slow = try await store.client("slow")
        try await apply(Samples.batch(adds: [Samples.tree("b")]))
        let quick = try await store.client("quick")
        try await apply(Samples.batch(adds: [Samples.tree("c")]))
        #expect(try await store.compactLog(of: Samples.name, silentSince: never, olderThan: later) == 1)
        #expect(try await store.logFloors(of: Samples.name)[0] == 1)
        for (client, species) in [(slow, ["b", "c"]), (quick, ["c"])] {
            let layer = try #require(try await store.delta(for: client).layers[0])
            #expect(layer.isWhole == false)
            #expect(layer.adds.map(\.species) == species)
        }
    }

    @Test("When the slowest of three replicas has caught up, the next slowest decides", arguments: [false, true])
    func compactionGoesOn(endsTheSlowest: Bool) async throws {
        let slow = try await store.client("slow")
        try await apply(Samples.batch(adds: [Samples.tree("a")]))
        let middle = try await store.client("middle")
        try await apply(Samples.batch(adds: [Samples.tree("b")]))
        _ = try await store.client("quick")
        #expect(try await store.compactLog(of: Samples.name, silentSince: never, olderThan: later) == 0)
        if endsTheSlowest {
            #expect(try await store.retireReplica(slow.replicaID, of: Samples.name))
        } else {
            try await store.acknowledge([0: 2], of: slow.replicaID, in: Samples.name, at: Samples.moment)
        }
        #expect(try await store.compactLog(of: Samples.name, silentSince: never, olderThan: later) == 1)
        #expect(try #require(try await store.delta(for: middle).layers[0]).adds.map(\.species) == ["b"])
    }

    @Test("Young entries stay even when nobody needs them")
    func compactionAge() async throws {
        try await apply(Samples.batch(adds: [Samples.tree("a")]))
        #expect(try await store.compactLog(of: Samples.name, silentSince: never, olderThan: Samples.moment) == 0)
    }

    @Test("A replica that was silent too long expires, gets its rows anew, and hands its edits in all the same")
    func expiry() async throws {
        try await apply(Samples.batch(adds: [Samples.tree("a"), Samples.tree("b")]))
        var client = try await store.client("a")
        try await apply(Samples.batch(deletes: [.objectID(2)]))
        #expect(try await store.compactLog(of: Samples.name, silentSince: later, olderThan: later) > 0)
        #expect(try await store.replica(client.replicaID, of: Samples.name)?.state == .expired)
        let id = try #require(client.trees.first { $0.value.species == "a" }?.key)
        client.trees[id]?.species = "aa"
        let upload = client.upload()
        let result = try await store.apply(upload, to: Samples.name)
        #expect(result.hasErrors == false)
        let document = try await store.delta(for: client, upload: upload.layers[0])
        #expect(document.layers[0]?.isWhole == true)
        client.take(document)
        #expect(client.trees.values.map(\.species) == ["aa"])
        try await store.acknowledge([0: client.generation], of: client.replicaID, in: Samples.name, at: later)
        #expect(try await store.replica(client.replicaID, of: Samples.name)?.state == .live)
    }

    @Test("A retired replica holds nothing back and is told apart from one that never was")
    func retirement() async throws {
        let client = try await store.client("a")
        #expect(try await store.retireReplica(client.replicaID, of: Samples.name))
        #expect(try await store.retireReplica(client.replicaID, of: Samples.name) == false)
        #expect(try await store.replica(client.replicaID, of: Samples.name)?.state == .retired)
        #expect(try await store.replica(UUID(), of: Samples.name) == nil)
        try await apply(Samples.batch(adds: [Samples.tree("a")]))
        #expect(try await store.compactLog(of: Samples.name, silentSince: never, olderThan: later) == 1)
    }

    @Test("An acknowledgement that arrives late holds nothing back")
    func lateAcknowledgement() async throws {
        let client = try await store.client("a")
        for species in ["a", "b", "c"] { try await apply(Samples.batch(adds: [Samples.tree(species)])) }
        for generation in [3, 1] as [Int64] {
            try await store.acknowledge(
                [0: generation], of: client.replicaID, in: Samples.name, at: Samples.moment)
        }
        #expect(try await store.compactLog(of: Samples.name, silentSince: never, olderThan: later) == 3)
        #expect(try await store.logFloors(of: Samples.name)[0] == 3)
    }

    @Test("An acknowledged generation never goes back")
    func acknowledgement() async throws {
        let client = try await store.client("a")
        try await store.acknowledge([0: 9], of: client.replicaID, in: Samples.name, at: Samples.moment)
        try await store.acknowledge([0: 3, 7: 1], of: client.replicaID, in: Samples.name, at: later)
        let replica = try #require(try await store.replica(client.replicaID, of: Samples.name))
        #expect(replica.generations == [0: 9])
        #expect(replica.lastSync == later)
    }
}
