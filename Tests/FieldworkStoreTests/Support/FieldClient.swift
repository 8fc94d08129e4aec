import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation

/// A client of the trees layer that works offline: what it has, what it changed, and the generation that it has seen.
struct FieldClient {
    struct Tree: Equatable {
        var species: String?
        var note: String?
        var x: Double
    }

    static let noteField = #"note "x"; DROP"#

    var replicaID: UUID
    var generation: Int64
    var editor: String
    /// As the service last gave them.
    private(set) var known: [UUID: Tree] = [:]
    /// As the client sees them.
    var trees: [UUID: Tree] = [:]
    /// Sends each changed feature whole, as clients of the plain protocol may.
    var sendsAll = false

    init(replicaID: UUID, generation: Int64, editor: String, features: [FeatureSet.Feature]) {
        self.replicaID = replicaID
        self.generation = generation
        self.editor = editor
        for feature in features { take(feature) }
        trees = known
    }

    private mutating func take(_ feature: FeatureSet.Feature) {
        guard let id = feature.globalID else { return }
        known[id] = Tree(
            species: feature.species, note: feature.attributes[Self.noteField]?.textValue,
            x: (feature.geometry as? Point)?.x ?? .nan)
    }

    /// What the client has changed since the service last gave it something.
    var edits: ReplicaLayerUpload {
        var upload = ReplicaLayerUpload(layerID: 0, baseGeneration: generation)
        for id in trees.keys.sorted(by: { $0.uuidString < $1.uuidString }) {
            guard let tree = trees[id] else { continue }
            var edit = FeatureEdit(globalID: id)
            let old = known[id]
            if sendsAll || tree.species != old?.species {
                edit.attributes.append(("species", tree.species.map { .text($0) } ?? .null))
            }
            if sendsAll || tree.note != old?.note {
                edit.attributes.append((Self.noteField, tree.note.map { .text($0) } ?? .null))
            }
            if sendsAll || tree.x != old?.x {
                edit.geometry = .geometry(Point(x: tree.x, y: 0, spatialReference: .webMercator))
            }
            if old == nil {
                upload.adds.append(edit)
            } else if tree != old {
                upload.updates.append(edit)
            }
        }
        upload.deletes = known.keys.filter { trees[$0] == nil }.sorted { $0.uuidString < $1.uuidString }
        return upload
    }

    func upload(id: UUID? = UUID(), rule: ConflictRule = .lastInWins) -> ReplicaUpload {
        ReplicaUpload(
            id: id, replicaID: replicaID, layers: [edits], editor: editor, moment: Samples.moment, rule: rule)
    }

    /// Takes in what the service answered.
    mutating func take(_ document: ChangeRecorder) {
        guard let layer = document.layers[0] else { return }
        known = trees
        if layer.isWhole { known = [:] }
        for feature in layer.all + layer.adds + layer.updates { take(feature) }
        for id in layer.deletes { known[id] = nil }
        trees = known
        generation = document.generation
    }
}

extension ReplicaStore {
    /// Gives a client a replica of the trees, of an area if one is named.
    func client(_ name: String, area: Envelope? = nil, condition: String? = nil) async throws -> FieldClient {
        let definition = ReplicaDefinition(
            id: UUID(), name: name,
            layers: [ReplicaLayer(layerID: 0, usesGeometry: area != nil, condition: condition)],
            geometry: area, created: Samples.moment)
        let (replica, document) = try await createReplica(definition, of: Samples.name, into: ChangeRecorder())
        return FieldClient(
            replicaID: replica.definition.id, generation: document.generation, editor: name,
            features: document.layers[0]?.all ?? [])
    }

    /// One whole synchronisation of a client.
    @discardableResult
    func synchronize(_ client: inout FieldClient, rule: ConflictRule = .lastInWins) async throws -> ReplicaUploadResult
    {
        let upload = client.upload(rule: rule)
        let result = try await apply(upload, to: Samples.name)
        client.take(try await delta(for: client, upload: upload.layers[0]))
        return result
    }

    func delta(for client: FieldClient, upload: ReplicaLayerUpload? = nil) async throws -> ChangeRecorder {
        guard let replica = try await replica(client.replicaID, of: Samples.name) else {
            throw StoreError(.invalidQuery, "no replica")
        }
        let rows = try replica.definition.rows(in: try await service(Samples.name))
        var layer = ChangeRequest.Layer(layerID: 0, since: client.generation, upload: upload)
        layer.replicaID = client.replicaID
        return try await extract(
            ChangeRequest(layers: [layer], rows: rows), from: Samples.name, into: ChangeRecorder())
    }

    /// The trees as the service has them.
    func currentTrees() async throws -> [UUID: FieldClient.Tree] {
        var trees: [UUID: FieldClient.Tree] = [:]
        for record in try await records(FeatureQuery(), in: Samples.trees) {
            guard let id = record.globalID else { continue }
            trees[id] = FieldClient.Tree(
                species: record.attributes["species"]?.textValue,
                note: record.attributes[FieldClient.noteField]?.textValue,
                x: (record.geometry as? Point)?.x ?? .nan)
        }
        return trees
    }
}
