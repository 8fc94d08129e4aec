/// Layers in memory as a data source: for features that are there anyway, and for trying expressions out.
public struct ArcadeMemorySource: ArcadeDataSource {
    /// A relationship of a layer: the values of two fields are equal.
    public struct Relationship: Sendable {
        /// What it is called.
        public var name: String
        /// The field of the layer where it begins.
        public var field: String
        /// The field of the layer at its other end, and the place of that layer.
        public var otherField: String, other: Int

        /// By its name, its fields and the place of the other layer.
        public init(name: String, field: String, otherField: String, other: Int) {
            self.name = name
            self.field = field
            self.otherField = otherField
            self.other = other
        }
    }

    /// A layer and its features.
    public struct Layer: Sendable {
        let layer: ArcadeLayer
        let features: [ArcadeFeature]

        /// The features get the layer as theirs.
        public init(_ layer: ArcadeLayer, features: [ArcadeFeature]) {
            self.layer = layer
            self.features = features.map {
                ArcadeFeature(schema: $0.schema, values: $0.values, geometry: $0.geometry, layer: layer)
            }
        }
    }

    private let layers: [Layer]
    private let relationships: [Relationship]
    private let answers: MemoryAnswers

    /// By layers, of which the first is that of the feature.
    public init(layers: [Layer], relationships: [Relationship] = [], now: Double = 0, zone: ArcadeZone = .utc) {
        self.layers = layers
        self.relationships = relationships
        answers = MemoryAnswers(evaluation: SQLEvaluation(now: now, zone: zone))
    }

    /// The features that a question selects of others: for sources that can answer a part of it only.
    package static func features(
        _ query: ArcadeFeatureQuery, of base: [ArcadeFeature], now: Double, zone: ArcadeZone
    ) throws -> [ArcadeFeature] {
        try MemoryAnswers(evaluation: SQLEvaluation(now: now, zone: zone)).features(query, of: base) {}
    }

    /// The first layer.
    public func layerOfFeature() -> ArcadeLayer? { layers.first?.layer }

    /// By its name, whatever the collection.
    public func layer(named name: String, in collection: ArcadeLayerCollection) -> ArcadeLayer? {
        layers.first { $0.layer.name.lowercased() == name.lowercased() }?.layer
    }

    /// By its id, whatever the collection.
    public func layer(id: String, in collection: ArcadeLayerCollection) -> ArcadeLayer? {
        layers.first { $0.layer.id == id }?.layer
    }

    /// The layer at the other end of a relationship.
    public func layer(relatedBy relationship: String, to layer: ArcadeLayer) -> ArcadeLayer? {
        relationships.first { $0.name.lowercased() == relationship.lowercased() }
            .flatMap { layers.indices.contains($0.other) ? layers[$0.other].layer : nil }
    }

    /// Some of the features that a question selects.
    public func features(_ query: ArcadeFeatureQuery, offset: Int, count: Int) throws -> [ArcadeFeature] {
        Array(try selected(query).dropFirst(offset).prefix(count))
    }

    /// How many features a question selects.
    public func count(_ query: ArcadeFeatureQuery) throws -> Int { try selected(query).count }

    private func selected(_ query: ArcadeFeatureQuery) throws -> [ArcadeFeature] {
        var base = layers.first { $0.layer == query.layer }?.features ?? []
        if case .related(_, let name, let feature) = query.base {
            guard let relationship = relationships.first(where: { $0.name.lowercased() == name.lowercased() }) else {
                return []
            }
            let wanted = feature.value(of: relationship.field)
            base = base.filter { $0.value(of: relationship.otherField) == wanted && wanted != .null }
        }
        return try answers.features(query, of: base) {}
    }
}
