import FieldworkGeometry
import FieldworkREST
import Foundation

/// A document of changes as values, layer by layer.
struct ChangeRecorder: ChangeSink {
    struct Layer: Sendable {
        var isWhole = false
        var all: [FeatureSet.Feature] = []
        var adds: [FeatureSet.Feature] = []
        var updates: [FeatureSet.Feature] = []
        var deletes: [UUID] = []
        var hasGeometryUpdates = false
    }

    private(set) var generation: Int64 = -1
    private(set) var layers: [Int: Layer] = [:]
    private(set) var hasEnded = false
    private var documents: [[UInt8]] = []
    private var layerID = -1

    mutating func begin(generation: Int64) { self.generation = generation }

    mutating func beginLayer(_ layer: LayerDefinition, delta: LayerDelta?) {
        layerID = layer.id
        layers[layerID] = Layer(
            isWhole: delta == nil, deletes: delta?.deletes.compactMap(\.globalID) ?? [],
            hasGeometryUpdates: delta?.hasGeometryUpdates ?? false)
    }

    mutating func encoder(
        for kind: ChangedFeatures, of layer: LayerDefinition, query: FeatureQuery
    ) throws -> JSONFeatureEncoder? {
        documents.append([])
        return try JSONFeatureEncoder(layer: layer, query: query)
    }

    mutating func features(_ bytes: [UInt8]) { documents[documents.count - 1] += bytes }

    mutating func endFeatures(_ kind: ChangedFeatures) throws {
        let features = try documents.flatMap { try FeatureSetReader.read(json: JSONParser.parse($0)).features }
        documents = []
        switch kind {
        case .all: layers[layerID]?.all = features
        case .adds: layers[layerID]?.adds = features
        case .updates: layers[layerID]?.updates = features
        }
    }

    mutating func endLayer(_ layer: LayerDefinition) {}
    mutating func end() { hasEnded = true }
}

extension FeatureSet.Feature {
    var globalID: UUID? { attributes["GlobalID"]?.textValue.flatMap(GUID.parse) }
    var species: String? { attributes["species"]?.textValue }
}
