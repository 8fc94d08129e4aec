public import FieldworkGeometry

/// A layer or table that scripts can read features of.
public final class ArcadeLayer: Sendable, Hashable {
    /// By what its source knows it.
    public let id: String
    /// What it is called.
    public let name: String
    /// Its fields.
    public let schema: ArcadeSchema
    /// The reference of its geometries.
    public let spatialReference: SpatialReference?
    /// The address of its service; empty when it has none.
    public let url: String

    /// By what its source knows it.
    public init(
        id: String, name: String, schema: ArcadeSchema, spatialReference: SpatialReference? = nil, url: String = ""
    ) {
        self.id = id
        self.name = name
        self.schema = schema
        self.spatialReference = spatialReference
        self.url = url
    }

    /// Whether both are the same layer of a source.
    public static func == (one: ArcadeLayer, other: ArcadeLayer) -> Bool {
        one === other || (one.id == other.id && one.url == other.url && one.name == other.name)
    }

    /// Equal layers give equal hashes.
    public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

/// Layers that a script can pick from by name.
public enum ArcadeLayerCollection: Sendable, Hashable {
    /// `$map`: the layers and tables of the map.
    case map
    /// `$datastore`: the layers and tables of the feature's service.
    case datastore
    /// The layers of a portal's item.
    case portal(String)
}

/// Answers what scripts ask of layers. Its functions are called on the thread that evaluates; they may wait.
///
/// Every one gets the whole question, with its conditions, so that a source which has an index or a database asks
/// that and never loads all features. Errors that are `ArcadeError` reach the reader as they are.
public protocol ArcadeDataSource: Sendable {
    /// The layer of the feature that a script stands with; nil when it has none.
    func layerOfFeature() throws -> ArcadeLayer?
    /// A layer by its title or name.
    func layer(named name: String, in collection: ArcadeLayerCollection) throws -> ArcadeLayer?
    /// A layer by its id.
    func layer(id: String, in collection: ArcadeLayerCollection) throws -> ArcadeLayer?
    /// The layer at the other end of a relationship of a layer.
    func layer(relatedBy relationship: String, to layer: ArcadeLayer) throws -> ArcadeLayer?
    /// Some of the features that a question selects, in its order; by object id when it has none.
    func features(_ query: ArcadeFeatureQuery, offset: Int, count: Int) throws -> [ArcadeFeature]
    /// How many features a question selects.
    func count(_ query: ArcadeFeatureQuery) throws -> Int
    /// A statistic of an expression over the features that a question selects. nil when the source can't say it: then
    /// the features are read.
    func statistic(
        _ statistic: ArcadeStatistic, of expression: SQLExpression, _ query: ArcadeFeatureQuery
    ) throws -> ArcadeValue?
    /// Groups with their statistics; nil when the source can't say it: then the features are read.
    func groups(_ grouping: ArcadeGrouping, _ query: ArcadeFeatureQuery) throws -> [[ArcadeValue]]?
    /// The files that belong to a feature; nil where the source can't tell.
    func attachments(of feature: ArcadeFeature) throws -> [ArcadeAttachment]?
}

extension ArcadeDataSource {
    /// Statistics are read from the features.
    public func statistic(
        _ statistic: ArcadeStatistic, of expression: SQLExpression, _ query: ArcadeFeatureQuery
    ) throws -> ArcadeValue? { nil }

    /// Groups are made of the features.
    public func groups(_ grouping: ArcadeGrouping, _ query: ArcadeFeatureQuery) throws -> [[ArcadeValue]]? { nil }

    /// Attachments can't be told.
    public func attachments(of feature: ArcadeFeature) throws -> [ArcadeAttachment]? { nil }
}
